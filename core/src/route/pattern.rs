//! Patterns of subscriptions: an exact text, or a prefix that ends in `*`. Knows nothing of
//! what is matched.

use std::fmt;

/// Why a text is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("a pattern is empty: write the exact text, or '*' for everything")]
    Empty,
    #[error(
        "pattern '{0}' has a '*' that is not its last character: only a prefix such as 'order.*' is possible"
    )]
    Star(String),
}

/// An exact text or a prefix.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Pattern {
    Exact(String),
    /// Without its star.
    Prefix(String),
}

impl Pattern {
    /// Parses e.g. `order.paid`, `order.*` or `*`.
    ///
    /// # Errors
    /// When the text is empty or has a star elsewhere than at its end.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (pattern, prefix) = match text.strip_suffix('*') {
            Some(prefix) => (Pattern::Prefix(prefix.to_owned()), prefix),
            None => (Pattern::Exact(text.to_owned()), text),
        };
        if text.is_empty() {
            Err(Error::Empty)
        } else if prefix.contains('*') {
            Err(Error::Star(text.to_owned()))
        } else {
            Ok(pattern)
        }
    }

    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        match self {
            Pattern::Exact(exact) => text == exact,
            Pattern::Prefix(prefix) => text.starts_with(prefix),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Exact(exact) => f.write_str(exact),
            Pattern::Prefix(prefix) => write!(f, "{prefix}*"),
        }
    }
}
