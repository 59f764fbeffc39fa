//! The queue for investigation: dead deliveries, key conflicts and parked events.

use serde::{Deserialize, Serialize};

use crate::event::AttemptSeen;
use crate::{Taken, Time};

/// How many dead letters a list holds unless asked otherwise, and at most.
pub const DEFAULT_LIMIT: u32 = 50;
pub const MAX_LIMIT: u32 = 1000;

/// The query of `GET /v1/dead-letters`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeadLetterQuery {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `dead` (the default), `replayed`, `discarded` or `any`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Only dead letters with a smaller id: the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

/// `GET /v1/dead-letters`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetterList {
    pub taken: Taken,
    /// All that match, on this page or not.
    pub total: i64,
    /// The latest first.
    pub dead_letters: Vec<DeadLetterSummary>,
    /// Pass as `before` for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_before: Option<i64>,
}

/// One dead letter in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetterSummary {
    pub id: i64,
    /// `delivery`, `key_conflict` or `parked`.
    pub kind: String,
    /// `dead`, `replayed` or `discarded`.
    pub state: String,
    pub reason: String,
    pub handler: Option<String>,
    pub key: Option<String>,
    pub event_type: String,
    pub code: String,
    pub message: String,
    /// Dead letters of one cause share it.
    pub fingerprint: String,
    pub round: i32,
    pub attempts: i32,
    pub owner: Option<String>,
    pub last_failed_at: Time,
    /// When it was replayed or discarded.
    pub acted_at: Option<Time>,
}

/// `GET /v1/dead-letters/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetterDetail {
    pub taken: Taken,
    pub summary: DeadLetterSummary,
    pub class: Option<String>,
    pub version: Option<String>,
    pub accepted_at: Time,
    pub first_failed_at: Time,
    pub via: String,
    pub source: String,
    pub event_id: Option<String>,
    pub subject: Option<String>,
    pub event_time: Option<Time>,
    pub content_type: Option<String>,
    pub data_schema: Option<String>,
    /// The correlation id that came in with the event.
    pub traceparent: Option<String>,
    /// Name and value.
    pub extensions: Vec<(String, String)>,
    pub key_rule: Option<String>,
    pub ordering_key: Option<String>,
    pub payload_hash: Option<String>,
    pub hash_rule: Option<String>,
    pub payload: Payload,
    /// Of its round, oldest first.
    pub attempts: Vec<AttemptSeen>,
    /// For a key conflict: the delivery that owns the key.
    pub original: Option<Original>,
}

/// Received bytes, as a document can carry them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    /// `text` when the bytes are UTF-8, else `hex`.
    pub encoding: String,
    pub body: String,
    /// Of the payload itself.
    pub bytes: u64,
}

/// The first payload under a conflicting key; the bytes while it is pending or dead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Original {
    /// `pending`, `done`, `ignored`, `dead` or `discarded`.
    pub standing: String,
    pub accepted_at: Time,
    pub settled_at: Option<Time>,
    pub payload_hash: String,
    pub hash_rule: String,
    pub payload: Option<Payload>,
}

/// The body of `POST /v1/dead-letters/{id}/replay`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The new key of a key conflict; refused for any other kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// The body of `POST /v1/dead-letters/{id}/discard`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscardRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Why it may be dropped; not empty.
    pub reason: String,
}

/// What a replay led to: one delivery, or for a parked event one per handler that took it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replayed {
    pub id: i64,
    pub deliveries: Vec<ReplayedDelivery>,
}

/// A delivery that a replay made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayedDelivery {
    pub handler: String,
    pub key: String,
    /// `accepted`, or `duplicate` when a parked event turned out to be known.
    pub verdict: String,
    pub round: i32,
}

/// What a discard led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discarded {
    pub id: i64,
    pub reason: String,
}
