//! An attribute's value in JSON: a string; for extensions also a boolean or a 32-bit integer,
//! kept by its literal text; null is the same as absent. Knows nothing of which exist.

use serde_json::value::RawValue;

use crate::source::Error;
use crate::source::text::shown;

const CONTEXT: &[&str] =
    &["specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema"];

/// The text of an attribute, or `None` for null.
///
/// # Errors
/// When the value is of another type, or no text at all (a lone surrogate).
pub(super) fn text_of(name: &str, raw: &RawValue) -> Result<Option<String>, Error> {
    let literal = raw.get();
    let extension = !CONTEXT.contains(&name);
    match literal.as_bytes().first() {
        Some(b'"') => string(literal).map(Some).map_err(|reason| not_json(name, &reason)),
        Some(b'n') => Ok(None),
        Some(b't' | b'f') if extension => Ok(Some(literal.to_owned())),
        Some(b't' | b'f') => Err(wrong(name, "a boolean", "a string")),
        Some(b'{') => Err(wrong(name, "an object", "a string, or move it to the data")),
        Some(b'[') => Err(wrong(name, "an array", "a string, or move it to the data")),
        Some(_) | None if !extension => Err(wrong(name, "a number", "a string")),
        Some(_) | None if literal.parse::<i32>().is_ok() => Ok(Some(literal.to_owned())),
        Some(_) | None => Err(wrong(name, "a number that is no 32-bit integer", "a string")),
    }
}

/// The text of a JSON string.
pub(super) fn string(literal: &str) -> Result<String, String> {
    serde_json::from_str(literal).map_err(|e| e.to_string())
}

fn wrong(name: &str, found: &'static str, wanted: &'static str) -> Error {
    Error::AttributeType { name: shown(name), found, wanted }
}

fn not_json(name: &str, reason: &str) -> Error {
    Error::NotJson {
        wanted: "a CloudEvent in JSON",
        reason: format!("attribute \"{}\": {reason}", shown(name)),
    }
}
