//! The binary form: each attribute is a `ce-` header, the body is the payload. Knows nothing of
//! how requests are read.

use axum::http::{HeaderMap, HeaderValue, header};
use wonce_core::event::Event;
use wonce_core::name::SourceName;

use super::draft::Draft;
use crate::source::Error;

const PREFIX: &str = "ce-";

/// Whether the headers are those of a CloudEvent.
#[must_use]
pub fn is_binary(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| name.as_str().starts_with(PREFIX))
}

/// Decodes one event.
///
/// # Errors
/// When a header cannot be an attribute, or a required one is missing.
pub fn decode(via: &SourceName, headers: &HeaderMap, body: Vec<u8>) -> Result<Event, Error> {
    let mut draft = Draft::default();
    for (header, value) in headers {
        if let Some(name) = header.as_str().strip_prefix(PREFIX) {
            if name == "datacontenttype" {
                return Err(Error::AttributeType {
                    name: "ce-datacontenttype".to_owned(),
                    found: "a header of its own",
                    wanted: "the Content-Type header",
                });
            }
            draft.set(name, text(header.as_str(), value)?)?;
        }
    }
    if let Some(value) = headers.get(header::CONTENT_TYPE).filter(|value| !value.is_empty()) {
        let not_utf8 = |_| Error::HeaderNotUtf8 { name: "content-type".to_owned() };
        let content_type = String::from_utf8(value.as_bytes().to_vec()).map_err(not_utf8)?;
        draft.set("datacontenttype", content_type)?;
    }
    draft.finish(via, body, None)
}

/// A header's value as the binding has it: quotes off, then one round of percent-decoding.
fn text(header: &str, value: &HeaderValue) -> Result<String, Error> {
    let bytes = percent_decoded(&unquoted(value.as_bytes()));
    String::from_utf8(bytes).map_err(|_| Error::HeaderNotUtf8 { name: header.to_owned() })
}

fn unquoted(value: &[u8]) -> Vec<u8> {
    let inner = match value {
        [b'"', inner @ .., b'"'] => inner,
        plain => return plain.to_vec(),
    };
    let mut plain = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter();
    while let Some(byte) = bytes.next() {
        plain.push(if *byte == b'\\' { *bytes.next().unwrap_or(byte) } else { *byte });
    }
    plain
}

/// A `%` that starts no escape stands for itself.
fn percent_decoded(value: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((&first, tail)) = rest.split_first() {
        match tail {
            [high, low, after @ ..] if first == b'%' => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => {
                    decoded.push(high << 4 | low);
                    rest = after;
                    continue;
                }
                (Some(_) | None, Some(_) | None) => decoded.push(first),
            },
            _ => decoded.push(first),
        }
        rest = tail;
    }
    decoded
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests;
