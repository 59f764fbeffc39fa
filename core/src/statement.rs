//! The guard of guest SQL: one statement, of a kind that cannot end or leave the
//! transaction. A refused text is never sent. Knows nothing of Postgres' grammar beyond its
//! tokens, nor of roles and privileges.
//!
//! Layers, outermost last: this guard, the extended protocol (one statement a message), the
//! handler's own login role with its grants and revokes, and the host's timer. The guard
//! alone is no boundary; it has to be exact about tokens, because whoever lexes differently
//! from Postgres can be talked past. It assumes `standard_conforming_strings = on`, which
//! the host sets on its connections and guests cannot change.
//!
//! What it refuses, in the order of the checks: NUL; anything unterminated, unbalanced or
//! ambiguous between Postgres versions; a first keyword that is not on the list; a second
//! statement; `INTO` that is not part of `INSERT INTO` or `MERGE INTO` (so no
//! `SELECT INTO`); names on the [`DENIED`] list, whether quoted or not; and the schema `wonce`.

mod names;
mod scan;
mod shape;

pub use names::{DENIED, DeniedName, Match};

/// What a guest's statement may start with.
pub const ALLOWED_KEYWORDS: [&str; 8] =
    ["select", "insert", "update", "delete", "merge", "with", "values", "table"];

/// Why a statement is not sent. The texts go back to the guest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    #[error("the statement is empty: send one SQL statement")]
    Empty,
    #[error("the statement holds a NUL character: bind such data as a bytea parameter")]
    Nul,
    #[error("the statement ends within {0}: close it")]
    Unterminated(&'static str),
    #[error("the parentheses of the statement do not match: balance them")]
    Parentheses,
    #[error(
        "{0} in the statement reads differently in different Postgres versions: write it apart with a space"
    )]
    Ambiguous(&'static str),
    #[error("U&\"...\" identifiers are not allowed: write the identifier itself")]
    UnicodeIdentifier,
    #[error(
        "a statement may not start with '{0}', only with SELECT, INSERT, UPDATE, DELETE, MERGE, WITH, VALUES \
         or TABLE: the host owns transaction, session and schema"
    )]
    FirstKeyword(String),
    #[error("several statements in one text are not allowed: send each in a call of its own")]
    SeveralStatements,
    #[error("INTO is allowed only in INSERT INTO and MERGE INTO: use INSERT INTO ... SELECT")]
    Into,
    #[error("'{name}' is not allowed in a statement: {why}")]
    Name { name: String, why: &'static str },
    #[error("schema 'wonce' belongs to the host: use outbox and context, or rename a table alias 'wonce'")]
    Schema,
}

/// Answers whether the guest's text may be sent as one statement.
///
/// # Errors
/// The first reason not to.
pub fn check(text: &str) -> Result<(), Denied> {
    let tokens = scan::tokens(text)?;
    shape::check(&tokens)?;
    names::check(&tokens)
}
