//! Plain webhooks: any request to a declared source is an event, whose type and id are found by
//! the source's own rules. The body is the payload as it is. Knows nothing of CloudEvents.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use axum::http::{HeaderMap, header};
use wonce_core::event::Event;
use wonce_core::json::{Found, Json};
use wonce_core::name::SourceName;
use wonce_core::payload::Payload;
use wonce_core::pointer::Pointer;

use super::Error;
use super::text::{MAX_EXTENSIONS, checked};

/// Where Standard Webhooks has a message's id: kept always, and the id if no rule says else.
const WEBHOOK_ID: &str = "webhook-id";

/// The rules of one source.
#[derive(Debug, Clone)]
pub struct Webhook {
    pub event_type: TypeRule,
    /// `None`: the `webhook-id` header, if there is one.
    pub id: Option<Place>,
    /// Headers that become extension attributes, in lower case: those that key rules name.
    pub keep_headers: KeptHeaders,
}

/// The headers that any handler's rules name, nothing else of a request is kept. All clones see a
/// change at once, since handlers come and go while sources run.
#[derive(Debug, Clone, Default)]
pub struct KeptHeaders(Arc<RwLock<Arc<BTreeSet<String>>>>);

impl KeptHeaders {
    /// Keeps these from now on; names in lower case.
    pub fn replace(&self, names: BTreeSet<String>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(names);
    }

    fn current(&self) -> Arc<BTreeSet<String>> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Where the type of a source's events comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeRule {
    At(Place),
    /// Always this.
    Literal(String),
}

/// A place in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A header, its name in lower case.
    Header(String),
    /// A string, number or boolean of the JSON payload.
    Pointer(Pointer),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Header(name) => write!(f, "header \"{name}\""),
            Place::Pointer(pointer) => write!(f, "JSON pointer \"{pointer}\""),
        }
    }
}

/// Makes an event of a plain request.
///
/// # Errors
/// When a rule finds nothing, or a kept header cannot be an attribute.
pub fn decode(rules: &Webhook, via: &SourceName, headers: &HeaderMap, body: Vec<u8>) -> Result<Event, Error> {
    let mut event = Event {
        via: via.clone(),
        id: None,
        source: via.to_string(),
        event_type: String::new(),
        subject: None,
        time: None,
        content_type: header_text(headers, header::CONTENT_TYPE.as_str())?,
        data_schema: None,
        traceparent: None,
        extensions: kept(rules, headers)?,
        data: body,
    };
    event.event_type = match &rules.event_type {
        TypeRule::Literal(literal) => literal.clone(),
        TypeRule::At(place) => found(place, "type", headers, &event)?,
    };
    event.id = match &rules.id {
        Some(place) => Some(found(place, "id", headers, &event)?),
        None => event.extension(WEBHOOK_ID).map(str::to_owned),
    };
    Ok(event)
}

fn kept(rules: &Webhook, headers: &HeaderMap) -> Result<Vec<(String, String)>, Error> {
    let mut kept: Vec<(String, String)> = Vec::new();
    let named = rules.keep_headers.current();
    for name in [WEBHOOK_ID].into_iter().chain(named.iter().map(String::as_str)) {
        if kept.iter().any(|(known, _)| known == name) {
            continue;
        }
        if let Some(value) = header_text(headers, name)? {
            kept.push((name.to_owned(), value));
        }
    }
    if kept.len() > MAX_EXTENSIONS {
        return Err(Error::ManyAttributes { limit: MAX_EXTENSIONS });
    }
    Ok(kept)
}

/// An absent header and an empty one say the same; a repeated one says nothing for sure.
fn header_text(headers: &HeaderMap, name: &str) -> Result<Option<String>, Error> {
    let mut values = headers.get_all(name).iter().filter(|value| !value.is_empty());
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.any(|other| other != value) {
        return Err(Error::RepeatedAttribute { name: name.to_owned() });
    }
    match String::from_utf8(value.as_bytes().to_vec()) {
        Ok(text) => checked(name, text).map(Some),
        Err(_) => Err(Error::HeaderNotUtf8 { name: name.to_owned() }),
    }
}

fn found(place: &Place, what: &'static str, headers: &HeaderMap, event: &Event) -> Result<String, Error> {
    let missing = |reason: String| Error::NotThere {
        via: event.via.to_string(),
        what,
        rule: place.to_string(),
        reason,
    };
    match place {
        Place::Header(name) => header_text(headers, name)?.ok_or_else(|| missing(String::new())),
        Place::Pointer(pointer) => {
            let payload = Payload::of(event);
            let document = payload.json().map_err(|e| missing(format!(": the body is not JSON: {e}")))?;
            match document.find(pointer) {
                Found::One(Json::Text(text)) => checked(what, text.to_string()),
                Found::One(Json::Number(literal)) => checked(what, (*literal).to_owned()),
                Found::One(Json::Boolean(boolean)) => Ok(boolean.to_string()),
                Found::One(other @ (Json::Null | Json::Array(_) | Json::Object(_))) => {
                    Err(missing(format!(": it is {}", other.kind())))
                }
                Found::Repeated => Err(missing(": it is there twice".to_owned())),
                Found::Missing => Err(missing(String::new())),
            }
        }
    }
}

#[cfg(test)]
mod tests;
