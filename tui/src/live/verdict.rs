//! The first line of the screen: the worst that is wrong, in one sentence. Knows nothing of colours.

use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    #[default]
    Fine,
    /// Nothing can be said: what is known is old, or nothing is known.
    Unknown,
    Warning,
    Bad,
}

/// What a verdict is about: where to look next.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "kind", content = "name", rename_all = "snake_case")]
pub enum Subject {
    #[default]
    Fleet,
    Books,
    Handler(String),
    Host(String),
    Sink(String),
    Source(String),
}

/// What is wrong, since when, after which change, and whether it grows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verdict {
    pub severity: Severity,
    pub subject: Subject,
    /// One sentence. It may hold text that came from outside: names, reasons.
    pub text: String,
    /// How much else is wrong.
    pub others: usize,
}
