//! JSON pointers (RFC 6901), parsed once at the door. Knows nothing of what they point into.

use std::fmt;

/// The longest pointer, in bytes.
pub const MAX_POINTER_BYTES: usize = 256;

/// Why a text is not a pointer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("JSON pointer '{0}' does not start with '/': write e.g. '/payment_id'")]
    Start(String),
    #[error("JSON pointer '{0}' has a '~' without 0 or 1 after it: write '~0' for '~' and '~1' for '/'")]
    Escape(String),
    #[error("a JSON pointer has {bytes} bytes, and at most {MAX_POINTER_BYTES} are allowed: shorten it")]
    TooLong { bytes: usize },
}

/// A path to one value of a JSON document; never the whole document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pointer {
    text: String,
    tokens: Vec<String>,
}

impl Pointer {
    /// Parses e.g. `/order/lines/0/sku`.
    ///
    /// # Errors
    /// When the text does not start with `/`, has a wrong `~` escape or is too long.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_POINTER_BYTES {
            return Err(Error::TooLong { bytes: text.len() });
        }
        let path = text.strip_prefix('/').ok_or_else(|| Error::Start(text.to_owned()))?;
        let tokens: Option<Vec<String>> = path.split('/').map(unescape).collect();
        let tokens = tokens.ok_or_else(|| Error::Escape(text.to_owned()))?;
        Ok(Self { text: text.to_owned(), tokens })
    }

    /// The pointer as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Member names and indices, unescaped; at least one.
    #[must_use]
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn unescape(token: &str) -> Option<String> {
    let mut plain = String::with_capacity(token.len());
    let mut characters = token.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '~' => match characters.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            other => other,
        });
    }
    Some(plain)
}
