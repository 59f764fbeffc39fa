//! The rules by which a key, an ordering key, a type or an id is taken from an event. The
//! core parses them; here each that it refuses gets its place and a remedy. Knows no event.

use wonce_core::key::{MAX_SELECTORS, Selector};
use wonce_core::pointer::Pointer;
use wonce_core::route::Pattern;

use super::reader::Reader;
use super::report::Complaint;

const FORMS: &str = "write a JSON pointer such as \"/payment_id\", \"header:webhook-id\", \"attribute:name\", \
                     \"event:id\", \"event:source\", \"event:type\", \"event:subject\" or \"payload-hash\"";

/// A list of selectors under `key`; complains of each that cannot be one.
pub(crate) fn selectors(table: &mut Reader<'_, '_>, key: &str) -> Vec<String> {
    let texts = table.texts(key).unwrap_or_default();
    if texts.len() > MAX_SELECTORS {
        let reason = format!("{} parts are too many", texts.len());
        table.complain(key, reason, format!("name at most {MAX_SELECTORS}"));
    }
    for (index, text) in texts.iter().enumerate() {
        if let Err(complaint) = selector(text) {
            let path = table.path(key).index(index);
            table.walk.complain(&path, complaint);
        }
    }
    texts
}

/// Checks one selector.
fn selector(text: &str) -> Result<String, Complaint> {
    if text.starts_with('/') {
        return pointer(text);
    }
    let known = match Selector::parse(text) {
        Ok(Selector::Header(name) | Selector::Extension(name)) => header_name(&name),
        Ok(Selector::Pointer(_) | Selector::Attribute(_) | Selector::PayloadHash) => true,
        Err(_) => false,
    };
    if known {
        Ok(text.to_owned())
    } else {
        Err(Complaint::new(format!("\"{text}\" selects nothing"), FORMS))
    }
}

/// Checks the place of a webhook's id: a header or a JSON pointer.
pub(crate) fn place(text: &str) -> Result<String, Complaint> {
    match text.strip_prefix("header:") {
        Some(name) if header_name(name) => Ok(text.to_owned()),
        None if text.starts_with('/') => pointer(text),
        Some(_) | None => Err(Complaint::new(
            format!("\"{text}\" is no place of an id"),
            "write \"header:x-delivery-id\" or a JSON pointer such as \"/event/id\"",
        )),
    }
}

/// Checks a JSON pointer (RFC 6901).
pub(crate) fn pointer(text: &str) -> Result<String, Complaint> {
    let remedy = "write \"/\" before each name; '/' and '~' inside a name are \"~1\" and \"~0\"";
    match Pointer::parse(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err(Complaint::new(format!("\"{text}\" is not a JSON pointer, or too long a one"), remedy)),
    }
}

/// Checks a pattern of event types or sources: literal, or with one `*` at the end.
pub(crate) fn pattern(text: &str) -> Result<(), Complaint> {
    if Pattern::parse(text).is_err() || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        let remedy = "write the whole name, or its beginning and one \"*\" at the end, such as \"payment.*\"";
        return Err(Complaint::new(format!("\"{text}\" is not a pattern"), remedy));
    }
    Ok(())
}

pub(crate) fn header_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}
