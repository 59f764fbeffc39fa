//! CloudEvents 1.0: the attributes ([`draft`]), and their two HTTP forms, one JSON document
//! ([`json`]) and headers with a body ([`binary`]). Knows nothing of sources' own rules.

mod attribute;
pub mod binary;
mod draft;
pub mod json;
mod time;

/// What JSON data is without a declared content type.
const JSON: &str = "application/json";

/// Whether a content type is JSON, by its subtype or suffix.
#[must_use]
pub fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    match essence.split_once('/') {
        Some((_, subtype)) => {
            let subtype = subtype.to_ascii_lowercase();
            subtype == "json" || subtype.ends_with("+json")
        }
        None => false,
    }
}
