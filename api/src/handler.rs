//! Handlers as an operator sees them.

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::{Taken, Time};

/// `GET /v1/handlers`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandlerList {
    pub taken: Taken,
    /// By name.
    pub handlers: Vec<HandlerSummary>,
}

/// One handler in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandlerSummary {
    pub name: String,
    /// `active` or `paused`.
    pub state: String,
    /// `ordered` or `unordered`.
    pub ordering: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    pub version: Version,
    /// Accepted and not settled.
    pub pending: i64,
    /// Of those, due by now (an ordered one may still wait for its head).
    pub due: i64,
    /// How long the oldest due delivery has been due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_due_seconds: Option<i64>,
    /// Failed at least once and waiting for their next attempt.
    pub scheduled_retries: i64,
    /// Open dead letters: dead deliveries and key conflicts.
    pub dead_letters: i64,
}

/// One immutable component with its manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// SHA-256 in hex: the version's one name.
    pub digest: String,
    /// The author's own version text.
    pub label: String,
}

/// `GET /v1/handlers/{name}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandlerDetail {
    pub taken: Taken,
    pub summary: HandlerSummary,
    pub previous_version: Option<Version>,
    pub deployed_by: String,
    pub deployed_at: Time,
    /// The database role that the handler logs in as; absent when isolation is shared.
    pub login_role: Option<String>,
    /// The effective policy as the deploying host had it.
    pub policy: serde_json::Value,
    /// Ordering keys whose head failed and waits; the first of them.
    pub blocked: Vec<BlockedKey>,
    /// The latest first.
    pub actions: Vec<Action>,
}

/// An ordering key that waits for its head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockedKey {
    pub ordering_key: String,
    /// The key of the delivery at the head.
    pub head: String,
    /// Attempts of the head that failed.
    pub attempts: i32,
    pub due_at: Time,
    /// Why the head failed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Deliveries that wait behind it.
    pub followers: i64,
}

/// What `POST …/pause|resume` did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandlerChanged {
    pub handler: String,
    /// The state that holds now.
    pub state: String,
    /// False when it held already; then nothing was recorded.
    pub changed: bool,
}
