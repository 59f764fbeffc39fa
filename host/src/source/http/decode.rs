//! Which form a request has, and its events. The headers decide, before the body is read: the
//! form gives the body's limit. Knows nothing of answers.

use axum::http::{HeaderMap, header};
use wonce_core::event::Event;
use wonce_core::name::SourceName;

use super::HttpSettings;
use super::body::Limit;
use crate::source::cloudevents::{binary, json};
use crate::source::text::{MAX_ATTRIBUTE_BYTES, checked, shown};
use crate::source::webhook::{self, Webhook};
use crate::source::{Error, Received, Undecodable};

const STRUCTURED: &str = "application/cloudevents";
const BATCH: &str = "application/cloudevents-batch";
const MAX_EVENT: &str = "http.max_event_bytes";
const MAX_BATCH: &str = "http.max_batch_bytes";
/// What a structured event may have beside its data.
const ENVELOPE_BYTES: usize = 8 * MAX_ATTRIBUTE_BYTES;

/// How a request carries events.
#[derive(Debug)]
pub(super) enum Form<'s> {
    Structured,
    Batch,
    Binary,
    Webhook(&'s Webhook),
}

impl<'s> Form<'s> {
    pub(super) fn of(
        headers: &HeaderMap,
        via: &SourceName,
        settings: &'s HttpSettings,
    ) -> Result<Self, Error> {
        refuse_encoded(headers)?;
        let content_type = headers.get(header::CONTENT_TYPE).map(|v| String::from_utf8_lossy(v.as_bytes()));
        let content_type = content_type.unwrap_or_default();
        let mut parts = content_type.split(';').map(|part| part.trim().to_ascii_lowercase());
        let media_type = parts.next().unwrap_or_default();
        let (family, format) = media_type.split_once('+').unwrap_or((&media_type, ""));
        if family == STRUCTURED || family == BATCH {
            let charset =
                parts.find_map(|p| p.strip_prefix("charset=").map(|c| c.trim_matches('"').to_owned()));
            if format != "json" || charset.is_some_and(|c| c != "utf-8") {
                let found =
                    format!("\"{}\" is a form of CloudEvents that wonce does not take", shown(&content_type));
                return Err(Error::MediaType { found });
            }
            return Ok(if family == BATCH { Form::Batch } else { Form::Structured });
        }
        if binary::is_binary(headers) {
            return Ok(Form::Binary);
        }
        match settings.sources.get(via).or(settings.undeclared.as_ref()) {
            Some(rules) => Ok(Form::Webhook(rules)),
            None => Err(Error::Undeclared { via: via.to_string() }),
        }
    }

    /// The most bytes of the body. JSON and base64 make a structured event longer than its data.
    pub(super) fn limit(&self, settings: &HttpSettings) -> Limit {
        let most = settings.max_event_bytes;
        match self {
            Form::Batch => Limit { bytes: settings.max_batch_bytes, setting: MAX_BATCH },
            Form::Structured => {
                let bytes = most.saturating_add(most / 3).saturating_add(ENVELOPE_BYTES);
                Limit { bytes, setting: MAX_EVENT }
            }
            Form::Binary | Form::Webhook(_) => Limit { bytes: most, setting: MAX_EVENT },
        }
    }

    pub(super) fn decode(
        &self,
        via: &SourceName,
        headers: &HeaderMap,
        body: Vec<u8>,
        settings: &HttpSettings,
    ) -> Result<Received, Undecodable> {
        let mut events = match self {
            Form::Structured => vec![json::decode(via, &body)?],
            Form::Batch => json::decode_batch(via, &body, settings.max_batch_events)?,
            Form::Binary => vec![binary::decode(via, headers, body)?],
            Form::Webhook(rules) => vec![webhook::decode(rules, via, headers, body)?],
        };
        let batch = matches!(self, Form::Batch);
        for (index, event) in events.iter_mut().enumerate() {
            let indexed = |error| Undecodable { index: batch.then_some(index), error };
            check_size(event, settings.max_event_bytes).map_err(indexed)?;
            if event.traceparent.is_none() {
                event.traceparent = traceparent(headers);
            }
        }
        match (batch, events.pop()) {
            (false, Some(event)) => Ok(Received::One(Box::new(event))),
            (_, last) => {
                events.extend(last);
                Ok(Received::Batch(events))
            }
        }
    }
}

fn check_size(event: &Event, limit: usize) -> Result<(), Error> {
    if event.data.len() <= limit {
        return Ok(());
    }
    let bytes = format!("{} bytes", event.data.len());
    Err(Error::TooLarge { what: "the event's data", bytes, limit, setting: MAX_EVENT })
}

/// The request's own trace; one that is no text is nobody's trace.
fn traceparent(headers: &HeaderMap) -> Option<String> {
    let text = headers.get("traceparent")?.to_str().ok()?;
    checked("traceparent", text.to_owned()).ok()
}

fn refuse_encoded(headers: &HeaderMap) -> Result<(), Error> {
    let encoding = headers.get(header::CONTENT_ENCODING).map(|v| String::from_utf8_lossy(v.as_bytes()));
    match encoding {
        Some(found) if !found.is_empty() && !found.eq_ignore_ascii_case("identity") => {
            Err(Error::ContentEncoding { found: shown(&found) })
        }
        Some(_) | None => Ok(()),
    }
}
