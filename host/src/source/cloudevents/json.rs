//! The JSON form: one event in an object, or many in an array. The payload of JSON data is the
//! exact slice of the request, never parsed and written again.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use wonce_core::event::Event;
use wonce_core::name::SourceName;

use super::attribute::{string, text_of};
use super::draft::Draft;
use super::{JSON, is_json};
use crate::source::text::shown;
use crate::source::{Error, Undecodable};

const ONE: &str = "a CloudEvent in JSON";
const MANY: &str = "a JSON array of CloudEvents";

/// Decodes one event.
///
/// # Errors
/// When the bytes are not JSON or not a CloudEvent.
pub fn decode(via: &SourceName, body: &[u8]) -> Result<Event, Error> {
    let members: Members<'_> = serde_json::from_slice(body).map_err(|e| not_json(ONE, &e))?;
    event(via, members)
}

/// Decodes a batch; it may be empty.
///
/// # Errors
/// When the bytes are not a JSON array, it is longer than `limit`, or an event in it (named by
/// its index) is not a CloudEvent.
pub fn decode_batch(via: &SourceName, body: &[u8], limit: usize) -> Result<Vec<Event>, Undecodable> {
    let items: Vec<&RawValue> = serde_json::from_slice(body).map_err(|e| not_json(MANY, &e))?;
    if items.len() > limit {
        return Err(Error::TooMany { events: items.len(), limit }.into());
    }
    let events = items.iter().enumerate().map(|(index, item)| {
        decode(via, item.get().as_bytes()).map_err(|error| Undecodable { index: Some(index), error })
    });
    events.collect()
}

fn event(via: &SourceName, members: Members<'_>) -> Result<Event, Error> {
    let mut draft = Draft::default();
    let (mut data, mut data_base64) = (None, None);
    for (name, raw) in members.0 {
        let place = match name.as_str() {
            "data" => &mut data,
            "data_base64" => &mut data_base64,
            _ => {
                if let Some(text) = text_of(&name, raw)? {
                    draft.set(&name, text)?;
                }
                continue;
            }
        };
        if place.replace(raw).is_some() {
            return Err(Error::RepeatedAttribute { name });
        }
    }
    match (data, data_base64.filter(|raw| raw.get() != "null")) {
        (Some(_), Some(_)) => Err(Error::DataTwice),
        (Some(raw), None) => {
            let bytes = data_bytes(raw, draft.content_type())?;
            draft.finish(via, bytes, Some(JSON))
        }
        (None, Some(raw)) => draft.finish(via, base64_bytes(raw)?, None),
        (None, None) => draft.finish(via, Vec::new(), None),
    }
}

/// JSON data is kept as it stands; of another type it is the text of a JSON string, or nothing.
fn data_bytes(raw: &RawValue, content_type: Option<&str>) -> Result<Vec<u8>, Error> {
    match content_type {
        Some(content_type) if !is_json(content_type) => match string(raw.get()) {
            Err(_) if raw.get() == "null" => Ok(Vec::new()),
            Ok(text) => Ok(text.into_bytes()),
            Err(_) => Err(Error::DataNotText { content_type: shown(content_type) }),
        },
        Some(_) | None => Ok(raw.get().as_bytes().to_vec()),
    }
}

fn base64_bytes(raw: &RawValue) -> Result<Vec<u8>, Error> {
    let refused = |reason| Error::DataBase64 { reason };
    let text = string(raw.get()).map_err(refused)?;
    STANDARD.decode(text).map_err(|e| refused(e.to_string()))
}

fn not_json(wanted: &'static str, error: &serde_json::Error) -> Error {
    Error::NotJson { wanted, reason: error.to_string() }
}

/// The members of an object in their order, repeated ones included.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests;
