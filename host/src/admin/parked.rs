//! The seam to the intake: replaying a parked event means routing it again, with the rules as
//! they are now. The runtime fills it.

use async_trait::async_trait;
use wonce_core::event::Event;
use wonce_core::name::{HandlerName, Key};

/// What became of a parked event for one handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParkedDelivery {
    pub handler: HandlerName,
    pub key: Key,
    pub verdict: ParkedVerdict,
}

/// Whether the event was new to its handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParkedVerdict {
    Accepted,
    Duplicate,
}

impl ParkedVerdict {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            ParkedVerdict::Accepted => "accepted",
            ParkedVerdict::Duplicate => "duplicate",
        }
    }
}

/// Why it stays parked.
#[derive(Debug, thiserror::Error)]
pub enum ParkedError {
    /// The rules still have no place for it; the text says which rule and what to change.
    #[error("{reason}")]
    StillParked { reason: String },
    /// The intake could not commit.
    #[error("{reason}")]
    Unavailable { reason: String },
}

/// Routes and accepts an event that was parked. Committed when it answers; must not park the
/// event a second time.
#[async_trait]
pub trait ParkedReplay: Send + Sync {
    async fn replay(&self, event: Event) -> Result<Vec<ParkedDelivery>, ParkedError>;
}
