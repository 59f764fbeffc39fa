//! What became of an event that was sent: one line for each handler that wants it. Knows
//! nothing of how it was sent.

use serde::{Deserialize, Serialize};

/// What became of an event for one handler. The one word in answers, metrics and docs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Durably kept; it will be handled exactly once.
    Accepted,
    /// The same event was accepted before: nothing more will happen.
    Duplicate,
    /// Another payload was accepted under this key: kept as a dead letter.
    KeyConflict,
    /// This handler cannot have it as it is: kept for people, with its bytes.
    Parked,
}

/// One handler's part of a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryReceipt {
    /// Absent when the event was parked because no handler wants it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub handler: Option<String>,
    /// The idempotency key; absent for a parked event.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<String>,
    pub verdict: Verdict,
    /// For people; why it was parked or conflicts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

/// What became of one event. No deliveries: no handler wants it, and the host is told to
/// ignore such events.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EventReceipt {
    pub deliveries: Vec<DeliveryReceipt>,
}

impl EventReceipt {
    /// Whether any handler got this verdict.
    #[must_use]
    pub fn has(&self, verdict: Verdict) -> bool {
        self.deliveries.iter().any(|d| d.verdict == verdict)
    }
}
