//! The seam to the intake: replaying a parked event means routing it again, with the rules as
//! they are now. The runtime fills it.

use async_trait::async_trait;
use wonce_api::receipt::{DeliveryReceipt, Verdict};
use wonce_core::event::Event;
use wonce_core::name::{HandlerName, Key};

use super::intake::Intake;
use crate::source::NotAccepted;

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
    pub(crate) fn as_str(self) -> &'static str {
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

#[async_trait]
impl ParkedReplay for Intake {
    async fn replay(&self, event: Event) -> Result<Vec<ParkedDelivery>, ParkedError> {
        let receipt = self.accept_parked(event).await.map_err(refused)?;
        receipt.deliveries.into_iter().map(delivered).collect()
    }
}

fn refused(error: NotAccepted) -> ParkedError {
    let reason = error.to_string();
    match error {
        NotAccepted::Unrouted { .. } | NotAccepted::NoKey { .. } | NotAccepted::Failed { .. } => {
            ParkedError::StillParked { reason }
        }
        NotAccepted::Busy { .. } | NotAccepted::Unavailable { .. } | NotAccepted::Stopping { .. } => {
            ParkedError::Unavailable { reason }
        }
    }
}

/// A receipt's names and keys are ours, so they parse.
fn delivered(receipt: DeliveryReceipt) -> Result<ParkedDelivery, ParkedError> {
    let (handler, key) = (receipt.handler.unwrap_or_default(), receipt.key.unwrap_or_default());
    let still = |reason: String| ParkedError::StillParked { reason };
    let verdict = match receipt.verdict {
        Verdict::Accepted => ParkedVerdict::Accepted,
        Verdict::Duplicate => ParkedVerdict::Duplicate,
        Verdict::KeyConflict => {
            let reason = format!(
                "handler \"{handler}\" has another payload under key \"{key}\"; this one is a key conflict in the dead letters now, discard the parked event"
            );
            return Err(still(reason));
        }
        Verdict::Parked => return Err(still(receipt.reason.unwrap_or_default())),
    };
    Ok(ParkedDelivery {
        handler: HandlerName::parse(handler).map_err(|e| still(e.to_string()))?,
        key: Key::parse(key).map_err(|e| still(e.to_string()))?,
        verdict,
    })
}
