//! A strict reader of JSON payloads that keeps what identity needs and `serde_json` loses:
//! the literal text of numbers, and whether a member name appears twice. One pass, bounded
//! depth, nothing copied but escaped strings. Knows nothing of keys or hashes.
//!
//! Not `serde_json::Value`, because with `arbitrary_precision` a payload can forge a number
//! with an object of one magic member, and the last of two equal members silently wins.

use std::borrow::Cow;

use crate::pointer::Pointer;

mod read;

/// Arrays and objects may be nested this deep, as in `serde_json`.
pub const MAX_DEPTH: usize = 127;

/// Why bytes are not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("it is not UTF-8: byte {at} is wrong")]
    Utf8 { at: usize },
    #[error("at byte {at}, {wanted} was expected")]
    Syntax { at: usize, wanted: &'static str },
    #[error("at byte {at}, arrays and objects are nested deeper than {MAX_DEPTH}")]
    TooDeep { at: usize },
}

/// One JSON value. Members are sorted by name (equal names stay in the order received):
/// the order in which they came means nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json<'a> {
    Null,
    Boolean(bool),
    /// The literal text: `1`, `1.0` and `1e0` are three values.
    Number(&'a str),
    Text(Cow<'a, str>),
    Array(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// Whether some object of a document has two members of one name. Readers disagree about
/// what such a document says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Members {
    Unique,
    Repeated,
}

/// A whole payload, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document<'a> {
    pub root: Json<'a>,
    pub members: Members,
}

/// What a pointer leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'d, 'a> {
    One(&'d Json<'a>),
    Missing,
    /// A member on the way appears more than once, so there is no one answer.
    Repeated,
}

impl<'a> Document<'a> {
    /// Reads the bytes as one JSON value.
    ///
    /// # Errors
    /// When they are not JSON, or nested deeper than [`MAX_DEPTH`].
    pub fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let text = std::str::from_utf8(bytes).map_err(|error| Error::Utf8 { at: error.valid_up_to() })?;
        read::document(text)
    }

    /// Follows a pointer from the root.
    #[must_use]
    pub fn find(&self, pointer: &Pointer) -> Found<'_, 'a> {
        let mut here = &self.root;
        for token in pointer.tokens() {
            match here.step(token) {
                Found::One(next) => here = next,
                Found::Missing => return Found::Missing,
                Found::Repeated => return Found::Repeated,
            }
        }
        Found::One(here)
    }
}

impl<'a> Json<'a> {
    /// The word for this kind of value in messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Boolean(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::Text(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }

    fn step(&self, token: &str) -> Found<'_, 'a> {
        match self {
            Json::Object(members) => member(members, token),
            Json::Array(items) => match index(token).and_then(|at| items.get(at)) {
                Some(item) => Found::One(item),
                None => Found::Missing,
            },
            Json::Null | Json::Boolean(_) | Json::Number(_) | Json::Text(_) => Found::Missing,
        }
    }
}

fn member<'d, 'a>(members: &'d [(Cow<'a, str>, Json<'a>)], name: &str) -> Found<'d, 'a> {
    let first = members.partition_point(|(other, _)| other.as_ref() < name);
    let mut same = members[first..].iter().take_while(|(other, _)| other == name);
    match (same.next(), same.next()) {
        (Some((_, value)), None) => Found::One(value),
        (Some(_), Some(_)) => Found::Repeated,
        (None, _) => Found::Missing,
    }
}

/// An array index as RFC 6901 writes it: no sign, no leading zero.
fn index(token: &str) -> Option<usize> {
    let digits = !token.is_empty() && token.bytes().all(|b| b.is_ascii_digit());
    let plain = digits && (token == "0" || !token.starts_with('0'));
    plain.then(|| token.parse().ok()).flatten()
}
