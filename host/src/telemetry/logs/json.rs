//! One log line as one flat JSON object: fixed head, then the fields of the spans from the root
//! inwards, then the event's own; of two equal names the inner one wins. Knows nothing of where
//! the line goes.

use std::fmt::Debug;
use std::io::Write;

use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Field names whose meaning never changes. The first five are in every line.
pub const STABLE_FIELDS: [&str; 14] = [
    "timestamp",
    "level",
    "message",
    "target",
    "host",
    "event_id",
    "key",
    "handler",
    "attempt",
    "source",
    "error_class",
    "duration_ms",
    "version",
    "trace_id",
];
/// Names of the head: a field of the same name gets `field_` in front, so that no line has a
/// name twice.
const HEAD: [&str; 4] = ["timestamp", "level", "target", "host"];

/// A layer that writes each event as one flat JSON line.
#[derive(Debug)]
pub struct FlatJson<W> {
    writer: W,
    host: String,
}

impl<W> FlatJson<W> {
    /// Every line carries `host`.
    pub fn new(writer: W, host: String) -> Self {
        Self { writer, host }
    }
}

impl<S, W> Layer<S> for FlatJson<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        Fields::open(attributes, id, &context);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        Fields::add_later(id, values, &context);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let fields = Fields::of(event, &context);
        let mut line = self.line(event, fields);
        line.push('\n');
        // Nobody is left to tell when the log itself cannot be written; the writer counts it.
        let _ = self.writer.make_writer_for(event.metadata()).write_all(line.as_bytes());
    }
}

impl<W> FlatJson<W> {
    fn line(&self, event: &Event<'_>, mut fields: Fields) -> String {
        let mut line = String::from("{");
        push(&mut line, "timestamp", &Value::from(format!("{:.3}", jiff::Timestamp::now())));
        push(&mut line, "level", &Value::from(event.metadata().level().as_str().to_ascii_lowercase()));
        push(&mut line, "message", &fields.take("message").unwrap_or_else(|| Value::from("")));
        push(&mut line, "target", &Value::from(event.metadata().target()));
        push(&mut line, "host", &Value::from(self.host.as_str()));
        for (name, value) in &fields.0 {
            push(&mut line, name, value);
        }
        line.push('}');
        line
    }
}

fn push(line: &mut String, name: &str, value: &Value) {
    if line.len() > 1 {
        line.push(',');
    }
    line.push_str(&Value::from(name).to_string());
    line.push(':');
    line.push_str(&value.to_string());
}

/// Names and values in the order of their first appearance.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(String, Value)>);

impl Fields {
    /// Keeps a new span's fields with it, once, however many layers want them.
    pub(super) fn open<S>(attributes: &Attributes<'_>, id: &Id, context: &Context<'_, S>)
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let Some(span) = context.span(id) else { return };
        if span.extensions().get::<Fields>().is_none() {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            span.extensions_mut().insert(fields);
        }
    }

    /// Adds what a span learns later.
    pub(super) fn add_later<S>(id: &Id, values: &Record<'_>, context: &Context<'_, S>)
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    /// An event's own fields over those of the spans around it.
    pub(super) fn of<S>(event: &Event<'_>, context: &Context<'_, S>) -> Self
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let mut fields = Fields::default();
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(outer) = span.extensions().get::<Fields>() {
                outer.0.iter().for_each(|(name, value)| fields.set(name, value.clone()));
            }
        }
        event.record(&mut fields);
        fields
    }

    pub(super) fn into_pairs(self) -> impl Iterator<Item = (String, Value)> {
        self.0.into_iter()
    }

    fn set(&mut self, name: &str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        let place = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(place).1)
    }

    fn add(&mut self, field: &Field, value: Value) {
        let name = field.name();
        if HEAD.contains(&name) { self.set(&format!("field_{name}"), value) } else { self.set(name, value) }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field, Value::from(format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, Value::from(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, Value::from(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, Value::from(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, Value::from(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, Value::from(value));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("not poisoned").extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn lines_of(work: impl FnOnce()) -> Vec<Value> {
        let shared = Shared::default();
        let writer = shared.clone();
        let layer = FlatJson::new(move || writer.clone(), "host-1".to_owned());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
        let bytes = shared.0.lock().expect("not poisoned").clone();
        let text = String::from_utf8(bytes).expect("logs are UTF-8");
        text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
    }

    #[test]
    fn fields_of_spans_and_events_are_flat_and_keep_their_types() {
        let lines = lines_of(|| {
            let span = tracing::info_span!("invoke", handler = "orders", key = "k1", attempt = 1_u32);
            let _inside = span.enter();
            tracing::warn!(attempt = 2_u32, duration_ms = 1.5, error_class = %"transient", "it failed");
        });
        let line = &lines[0];
        assert_eq!(line["level"], "warn");
        assert_eq!(line["message"], "it failed");
        assert_eq!(line["host"], "host-1");
        assert_eq!(line["handler"], "orders");
        assert_eq!(line["key"], "k1");
        assert_eq!(line["attempt"], 2, "the inner field wins");
        assert_eq!(line["error_class"], "transient");
        assert_eq!(line["duration_ms"].to_string(), "1.5");
        assert!(line["timestamp"].as_str().is_some_and(|t| t.ends_with('Z')));
    }

    #[test]
    fn a_field_recorded_later_and_a_hostile_text_stay_inside_one_line() {
        let lines = lines_of(|| {
            let span = tracing::info_span!("invoke", version = tracing::field::Empty);
            span.record("version", "abc");
            let _inside = span.enter();
            tracing::info!(key = "a\n\"}{\u{1b}[31m", "hello");
        });
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0]["version"], "abc");
        assert_eq!(lines[0]["key"], "a\n\"}{\u{1b}[31m");
    }

    #[test]
    fn a_field_cannot_take_the_place_of_the_head() {
        let lines = lines_of(|| tracing::info!(level = "fake", host = "fake", "hello"));
        assert_eq!(lines[0]["level"], "info");
        assert_eq!(lines[0]["host"], "host-1");
        assert_eq!(lines[0]["field_host"], "fake");
    }
}
