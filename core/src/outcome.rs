//! What an invocation came to. Every way out of a guest becomes one of these values before
//! anything is written. Knows nothing of what will be done about it: that is `decide`.

use std::time::Duration;

use crate::fault::Fault;

/// The end of one invocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Commit.
    Done,
    /// Commit; the handler looked at the event and left it alone, for this reason.
    Ignored(String),
    /// Roll back. `after` is the guest's wish for the earliest next try.
    Failed { fault: Fault, after: Option<Duration> },
}
