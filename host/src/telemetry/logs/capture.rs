//! The layer that keeps this host's lines of level info and above in the [`Tail`], each cut to a
//! bounded length. Knows nothing of who reads them.

use std::collections::BTreeMap;

use serde_json::Value;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;
use wonce_api::live::LogLine;

use super::json::Fields;
use super::tail::{Level, Tail};

/// What stays of a message, in bytes.
const MAX_MESSAGE_BYTES: usize = 2_048;
/// What stays of a field, in bytes.
const MAX_FIELD_BYTES: usize = 512;
/// Fields that a line keeps.
const MAX_FIELDS: usize = 24;

/// See the module.
#[derive(Debug)]
pub(super) struct Capture(pub &'static Tail);

impl<S> Layer<S> for Capture
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        Fields::open(attributes, id, &context);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        Fields::add_later(id, values, &context);
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let level = match *event.metadata().level() {
            tracing::Level::ERROR => Level::Error,
            tracing::Level::WARN => Level::Warn,
            tracing::Level::INFO => Level::Info,
            tracing::Level::DEBUG | tracing::Level::TRACE => return,
        };
        let mut fields = Fields::of(event, &context);
        let message = fields.take("message").map_or_else(String::new, |message| text(&message));
        let kept: BTreeMap<String, String> = fields
            .into_pairs()
            .take(MAX_FIELDS)
            .map(|(name, value)| (name, cut(text(&value), MAX_FIELD_BYTES)))
            .collect();
        self.0.push(
            level,
            LogLine {
                at: jiff::Timestamp::now().to_string(),
                level: level.as_str().to_owned(),
                message: cut(message, MAX_MESSAGE_BYTES),
                fields: kept,
            },
        );
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn cut(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        text.truncate(text.floor_char_boundary(bytes));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::super::json::FlatJson;
    use super::super::tail::Wanted;
    use super::*;

    fn tail() -> &'static Tail {
        Box::leak(Box::new(Tail::of(10, 1 << 20)))
    }

    fn lines(tail: &Tail) -> Vec<LogLine> {
        let wanted = Wanted { level: Level::Info, handler: None };
        tail.after(0, &wanted, 10).lines.iter().map(|line| line.as_ref().clone()).collect()
    }

    #[test]
    fn a_line_is_kept_with_the_fields_of_its_spans_beside_the_one_that_is_written() {
        let tail = tail();
        let written = FlatJson::new(std::io::sink, "host-1".to_owned());
        let subscriber = tracing_subscriber::registry().with(written).with(Capture(tail));
        tracing::subscriber::with_default(subscriber, || {
            let span = tracing::info_span!("invoke", handler = "orders", version = tracing::field::Empty);
            span.record("version", "abc");
            let _inside = span.enter();
            tracing::warn!(attempt = 2_u32, "it failed");
            tracing::debug!("not of interest");
        });
        let kept = lines(tail);
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert_eq!((kept[0].level.as_str(), kept[0].message.as_str()), ("warn", "it failed"));
        let expected = [("attempt", "2"), ("handler", "orders"), ("version", "abc")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(kept[0].fields, BTreeMap::from(expected));
    }

    #[test]
    fn a_long_line_is_cut_at_a_character() {
        let tail = tail();
        let subscriber = tracing_subscriber::registry().with(Capture(tail));
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(key = "ä".repeat(1_000), "{}", "x".repeat(10_000));
        });
        let kept = lines(tail);
        assert_eq!(kept[0].message.len(), MAX_MESSAGE_BYTES + '…'.len_utf8());
        assert_eq!(kept[0].fields["key"].len(), MAX_FIELD_BYTES + '…'.len_utf8());
    }
}
