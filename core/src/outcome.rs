//! What an invocation came to. Every way out of a guest becomes one of these values before
//! anything is written. Knows nothing of what will be done about it: that is `decide`.

use std::time::Duration;

use crate::fault::{Fault, FaultClass};
use crate::sql::DbError;
use crate::sqlstate;

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

impl Outcome {
    /// What it comes to when a database error has aborted the transaction. A success cannot be
    /// committed. "Try again" only passes the error on, in the guest's words and with its wish.
    /// A guest may refuse the event because of the error, and may break over it; but what others
    /// did to the transaction is nobody's fault, whatever the guest made of it.
    #[must_use]
    pub fn aborted_by(self, error: &DbError) -> Outcome {
        let class = sqlstate::class_of(&error.sqlstate);
        let database = |message: &str| Fault::new(class, &error.sqlstate, message);
        match self {
            Outcome::Done | Outcome::Ignored(_) => {
                Outcome::Failed { fault: database(&error.message), after: None }
            }
            Outcome::Failed { fault, after } if fault.class == FaultClass::Transient => {
                let message = if fault.message.is_empty() { &error.message } else { &fault.message };
                Outcome::Failed { fault: database(message), after }
            }
            Outcome::Failed { .. } if class == FaultClass::Contention || class == FaultClass::Host => {
                Outcome::Failed { fault: database(&error.message), after: None }
            }
            Outcome::Failed { fault, after } => Outcome::Failed { fault, after },
        }
    }
}
