//! The rules by which a key, an ordering key, a type or an id is taken from an event: checked
//! here as text, applied elsewhere. Knows no event.

use super::reader::Reader;
use super::report::Complaint;

const MAX_POINTER_BYTES: usize = 256;
const MAX_SELECTORS: usize = 8;
const ATTRIBUTES: [&str; 4] = ["id", "source", "type", "subject"];
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
pub(crate) fn selector(text: &str) -> Result<String, Complaint> {
    if text.starts_with('/') {
        return pointer(text);
    }
    let known = match text.split_once(':') {
        Some(("header" | "attribute", name)) => header_name(name),
        Some(("event", name)) => ATTRIBUTES.contains(&name),
        Some(_) => false,
        None => text == "payload-hash",
    };
    if known {
        Ok(text.to_owned())
    } else {
        Err(Complaint::new(format!("\"{text}\" selects nothing"), FORMS))
    }
}

/// Checks a JSON pointer (RFC 6901) that is not the whole document.
pub(crate) fn pointer(text: &str) -> Result<String, Complaint> {
    let remedy = "write \"/\" before each name; '/' and '~' inside a name are \"~1\" and \"~0\"";
    let mut rest = text;
    while let Some(at) = rest.find('~') {
        rest = &rest[at + 1..];
        if !rest.starts_with(['0', '1']) {
            return Err(Complaint::new(format!("\"{text}\" has a '~' that is not \"~0\" or \"~1\""), remedy));
        }
    }
    if !text.starts_with('/') || text.len() > MAX_POINTER_BYTES || text.contains('\0') {
        return Err(Complaint::new(format!("\"{text}\" is not a JSON pointer"), remedy));
    }
    Ok(text.to_owned())
}

/// Checks a pattern of event types or sources: literal, or with one `*` at the end.
pub(crate) fn pattern(text: &str) -> Result<(), Complaint> {
    let stem = text.strip_suffix('*').unwrap_or(text);
    if text.is_empty() || stem.contains('*') || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        let remedy = "write the whole name, or its beginning and one \"*\" at the end, such as \"payment.*\"";
        return Err(Complaint::new(format!("\"{text}\" is not a pattern"), remedy));
    }
    Ok(())
}

pub(crate) fn header_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}
