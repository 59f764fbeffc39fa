//! What one call did.

use serde::de::DeserializeOwned;

use crate::Result;
pub use crate::bindings::wonce::handler::outbox::Effect as Emitted;
use crate::log::Level;
use crate::sql::Value;

/// The end of a call and all that came before it, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What the handler returned.
    pub result: Result,
    /// Each statement, those that were refused or never sent included.
    pub statements: Vec<Statement>,
    /// What is in the outbox; it leaves only if the call [commits](Self::commits).
    pub effects: Vec<Emitted>,
    /// Each line, whatever its level.
    pub log: Vec<Line>,
    /// A statement was refused, so that nothing of this can be committed.
    pub aborted: bool,
}

/// One statement of the handler.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// By which function it was sent.
    pub kind: Kind,
    /// As the handler wrote it.
    pub text: String,
    /// `$1` and on.
    pub params: Vec<Value>,
}

/// How a statement was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `sql::execute`.
    Execute,
    /// `sql::query` and its siblings.
    Query,
    /// `sql::queue`.
    Queue,
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// How grave it is.
    pub level: Level,
    /// The text.
    pub message: String,
    /// Names and values.
    pub fields: Vec<(String, String)>,
}

impl Run {
    /// Whether the host would commit: the handler says so and no statement was refused.
    pub fn commits(&self) -> bool {
        self.result.is_ok() && !self.aborted
    }

    /// The code of the failure that the handler returned.
    ///
    /// # Panics
    /// When it did not fail.
    pub fn code(&self) -> &str {
        match &self.result {
            Ok(outcome) => panic!("the handler did not fail: {outcome:?}"),
            Err(failure) => &failure.fault().code,
        }
    }
}

impl Emitted {
    /// The payload as JSON.
    ///
    /// # Panics
    /// When it is no JSON of this shape.
    pub fn json<T: DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.data).unwrap_or_else(|error| panic!("the effect's payload: {error}"))
    }
}
