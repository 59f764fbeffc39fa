//! What a source hands its events to, and the ways in which it can be turned away. Intake is
//! the door of a running host; a test may be another.

use std::time::Duration;

use async_trait::async_trait;
use wonce_api::receipt::EventReceipt;
use wonce_core::event::Event;

/// Takes events in. Cheap to share.
#[async_trait]
pub trait Door: Send + Sync + 'static {
    /// Accepts these events durably, all or none, and answers one receipt each, in order. When
    /// it has answered, a crash loses nothing; when it has not, sending again is harmless.
    ///
    /// # Errors
    /// When nothing was accepted, or nobody knows.
    async fn accept(&self, events: Vec<Event>) -> Result<Vec<EventReceipt>, NotAccepted>;
}

/// Why events were not accepted. `index` counts the events of the call from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAccepted {
    #[error(
        "no handler wants events of type \"{event_type}\" from source \"{via}\"; deploy one that subscribes to them, correct the type, or set intake.unrouted to \"park\" or \"ignore\""
    )]
    Unrouted { index: usize, event_type: String, via: String },
    #[error("no handler can take the event: {}", reasons.join("; "))]
    NoKey { index: usize, reasons: Vec<String> },
    #[error("{waiting} events are waiting for a commit already; send again after {} s", retry_after.as_secs())]
    Busy { waiting: usize, retry_after: Duration },
    #[error("the database does not answer; nothing is lost, send again after {} s", retry_after.as_secs())]
    Unavailable { retry_after: Duration },
    #[error("this host is stopping; send again, to another host if there is one")]
    Stopping { retry_after: Duration },
    #[error("the database refused the event: {reason}; the host's log has the whole story")]
    Failed { reason: String },
}

impl NotAccepted {
    /// The event at fault.
    #[must_use]
    pub fn index(&self) -> Option<usize> {
        match self {
            NotAccepted::Unrouted { index, .. } | NotAccepted::NoKey { index, .. } => Some(*index),
            NotAccepted::Busy { .. }
            | NotAccepted::Unavailable { .. }
            | NotAccepted::Stopping { .. }
            | NotAccepted::Failed { .. } => None,
        }
    }

    /// When to come back, if coming back may help.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            NotAccepted::Busy { retry_after, .. }
            | NotAccepted::Unavailable { retry_after }
            | NotAccepted::Stopping { retry_after } => Some(*retry_after),
            NotAccepted::Unrouted { .. } | NotAccepted::NoKey { .. } | NotAccepted::Failed { .. } => None,
        }
    }
}
