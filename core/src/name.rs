//! Names and keys that travel between modules, each a type of its own so that they cannot
//! be swapped. Parsed once at the door; plain inside. Knows nothing of where they are stored.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest key or ordering key, in bytes.
pub const MAX_KEY_BYTES: usize = 512;
/// The longest handler, source or sink name, in bytes: a handler's login role
/// (`wonce_<8 hex>_<name>`) must fit in Postgres' 63 bytes.
pub const MAX_NAME_BYTES: usize = 48;

/// Why a text is not a name or a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("it is empty")]
    Empty,
    #[error("it has {bytes} bytes, and at most {limit} are allowed")]
    TooLong { bytes: usize, limit: usize },
    #[error("it holds a NUL character, which Postgres cannot store in text")]
    Nul,
    #[error("names are lower-case ASCII letters, digits, '_' and '-', and start with a letter")]
    NameCharacters,
}

macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident, $check:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Checks the text and wraps it.
            ///
            /// # Errors
            /// When the text is empty, too long or holds characters that are not allowed.
            pub fn parse(text: impl Into<String>) -> Result<Self, Error> {
                let text = text.into();
                $check(&text)?;
                Ok(Self(text))
            }

            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = Error;
            fn try_from(text: String) -> Result<Self, Error> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }
    };
}

text_type!(
    /// A deployed handler.
    HandlerName,
    check_name
);
text_type!(
    /// Where events come from: the `{source}` of `POST /events/{source}`.
    SourceName,
    check_name
);
text_type!(
    /// Where effects go.
    SinkName,
    check_name
);
text_type!(
    /// The idempotency key of a delivery: one effect per (handler, key), for ever.
    Key,
    check_key
);
text_type!(
    /// Deliveries of one handler with the same ordering key are handled one at a time, in intake order.
    OrderingKey,
    check_key
);

fn check_name(text: &str) -> Result<(), Error> {
    check_length(text, MAX_NAME_BYTES)?;
    let mut bytes = text.bytes();
    let starts_well = bytes.next().is_some_and(|b| b.is_ascii_lowercase());
    let goes_on_well = bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-');
    if starts_well && goes_on_well { Ok(()) } else { Err(Error::NameCharacters) }
}

fn check_key(text: &str) -> Result<(), Error> {
    check_length(text, MAX_KEY_BYTES)?;
    if text.contains('\0') { Err(Error::Nul) } else { Ok(()) }
}

fn check_length(text: &str, limit: usize) -> Result<(), Error> {
    match text.len() {
        0 => Err(Error::Empty),
        bytes if bytes > limit => Err(Error::TooLong { bytes, limit }),
        _ => Ok(()),
    }
}
