//! What a text attribute may hold, the same for every way in. Knows nothing of attributes.

use super::Error;

/// The longest text attribute, in bytes; payloads have a limit of their own.
pub(crate) const MAX_ATTRIBUTE_BYTES: usize = 8 << 10;
/// At most this many extension attributes and kept headers.
pub(crate) const MAX_EXTENSIONS: usize = 64;

/// Checks the value of an attribute: CloudEvents allows no control characters, Postgres no NUL,
/// and an empty text says nothing.
pub(crate) fn checked(name: &str, value: String) -> Result<String, Error> {
    if value.is_empty() {
        return Err(Error::EmptyAttribute { name: name.to_owned() });
    }
    if value.len() > MAX_ATTRIBUTE_BYTES {
        return Err(Error::LongAttribute {
            name: shown(name),
            bytes: value.len(),
            limit: MAX_ATTRIBUTE_BYTES,
        });
    }
    match value.chars().find(|c| c.is_control()) {
        Some(character) => Err(Error::ControlCharacter { name: name.to_owned(), code: u32::from(character) }),
        None => Ok(value),
    }
}

/// A sender's own text as an error message may repeat it: short, on one line.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 80;
    let mut short: String =
        text.chars().take(MOST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}
