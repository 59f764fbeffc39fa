//! The statements of one version that the guard has let through: a handler sends the same few
//! texts for every event, and reading one costs more than the rest of its call. Knows nothing of
//! what the guard looks for; a refused text is never kept.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use wonce_core::statement::{self, Denied};

/// Texts that are kept; a guest that makes up ever new ones has each of them read.
const MAX_TEXTS: usize = 128;
/// Longer texts are not kept: in bytes.
const MAX_TEXT_BYTES: usize = 16 << 10;

/// Shared by all calls of a version.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownStatements(Arc<RwLock<HashSet<Box<str>>>>);

impl KnownStatements {
    /// As [`statement::check`].
    pub(crate) fn check(&self, text: &str) -> Result<(), Denied> {
        // A set with one text more or less is whole, whoever panicked beside it.
        if self.0.read().unwrap_or_else(PoisonError::into_inner).contains(text) {
            return Ok(());
        }
        statement::check(text)?;
        let mut texts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if texts.len() < MAX_TEXTS && text.len() <= MAX_TEXT_BYTES {
            texts.insert(text.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_text_is_refused_again_and_an_allowed_one_stays_allowed() {
        let known = KnownStatements::default();
        for _ in 0..2 {
            assert!(known.check("select 1").is_ok());
            assert!(known.check("commit").is_err());
        }
    }

    #[test]
    fn a_guest_that_makes_up_texts_does_not_grow_the_set_without_end() {
        let known = KnownStatements::default();
        for n in 0..2 * MAX_TEXTS {
            assert!(known.check(&format!("select {n}")).is_ok());
        }
        assert!(known.check(&format!("select '{}'", "x".repeat(MAX_TEXT_BYTES))).is_ok());
        assert_eq!(known.0.read().unwrap().len(), MAX_TEXTS);
    }
}
