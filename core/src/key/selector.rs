//! One entry of a key rule, parsed from the text a person wrote. Knows nothing of how the
//! values become a key.

use std::fmt;

use super::MAX_SELECTORS;
use crate::event::Event;
use crate::pointer::{self, Pointer};

/// Why a text is not a key rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("the key rule is empty: give it at least one selector, e.g. \"/payment_id\", or leave it out")]
    NoSelectors,
    #[error("the key rule has {count} selectors, and at most {MAX_SELECTORS} are allowed: shorten it")]
    TooMany { count: usize },
    #[error(
        "'{0}' is no selector: write a JSON pointer such as '/payment_id', 'header:webhook-id', \
         'attribute:name', 'event:id', 'event:source', 'event:type', 'event:subject' or 'payload-hash'"
    )]
    Unknown(String),
    #[error("'{0}' names no header or attribute: put its name behind the colon")]
    NoName(String),
    #[error(transparent)]
    Pointer(#[from] pointer::Error),
}

/// Where one part of a key is found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Selector {
    /// A value of the JSON payload.
    Pointer(Pointer),
    /// A kept transport header, by its name in lower case.
    Header(String),
    /// A CloudEvents extension attribute, by its name in lower case.
    Extension(String),
    /// A CloudEvents context attribute.
    Attribute(Attribute),
    /// The payload's own hash: two events with equal payloads are then one.
    PayloadHash,
}

/// The CloudEvents attributes that a rule can name with `event:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attribute {
    Id,
    Source,
    Type,
    Subject,
}

impl Attribute {
    pub const ALL: [Attribute; 4] = [Attribute::Id, Attribute::Source, Attribute::Type, Attribute::Subject];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Attribute::Id => "id",
            Attribute::Source => "source",
            Attribute::Type => "type",
            Attribute::Subject => "subject",
        }
    }

    pub(super) fn of(self, event: &Event) -> Option<&str> {
        match self {
            Attribute::Id => event.id.as_deref(),
            Attribute::Source => Some(&event.source),
            Attribute::Type => Some(&event.event_type),
            Attribute::Subject => event.subject.as_deref(),
        }
    }
}

impl Selector {
    /// Parses one entry of a rule.
    ///
    /// # Errors
    /// When the text is none of the known forms.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.starts_with('/') {
            return Ok(Selector::Pointer(Pointer::parse(text)?));
        }
        if text == "payload-hash" {
            return Ok(Selector::PayloadHash);
        }
        let unknown = || Error::Unknown(text.to_owned());
        let (kind, name) = text.split_once(':').ok_or_else(unknown)?;
        match kind {
            "header" | "attribute" if name.is_empty() => Err(Error::NoName(text.to_owned())),
            "header" => Ok(Selector::Header(name.to_ascii_lowercase())),
            "attribute" => Ok(Selector::Extension(name.to_ascii_lowercase())),
            "event" => {
                let attribute = Attribute::ALL.into_iter().find(|a| a.as_str() == name);
                attribute.map(Selector::Attribute).ok_or_else(unknown)
            }
            _ => Err(unknown()),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Selector::Pointer(pointer) => write!(f, "{pointer}"),
            Selector::Header(name) => write!(f, "header:{name}"),
            Selector::Extension(name) => write!(f, "attribute:{name}"),
            Selector::Attribute(attribute) => write!(f, "event:{}", attribute.as_str()),
            Selector::PayloadHash => f.write_str("payload-hash"),
        }
    }
}
