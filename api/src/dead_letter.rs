//! The queue for investigation: dead deliveries, key conflicts and parked events.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::event::{AttemptSeen, EffectSeen};
use crate::{Taken, Time};

/// How many dead letters a list holds unless asked otherwise, and at most.
pub const DEFAULT_LIMIT: u32 = 50;
pub const MAX_LIMIT: u32 = 1000;
/// How many days after its discard a dead letter can be restored.
pub const RESTORABLE_DAYS: u32 = 7;

/// Which dead letters: each condition narrows it, and without any it is all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    /// Why they are dead: a dead reason or a park reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The group: dead letters of one cause share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The first digits of the version that they failed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_prefix: Option<String>,
    /// Those that this operation replayed, discarded or restored, when nothing was done to them since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<i64>,
}

impl Selection {
    /// The conditions that are set, each by the name of its option on the command line; an operation
    /// is an argument of its own there.
    #[must_use]
    pub fn options(&self) -> Vec<(&'static str, &str)> {
        let Selection { handler, reason, fingerprint, version, key_prefix, operation: _ } = self;
        [
            ("handler", handler),
            ("group", fingerprint),
            ("dead-reason", reason),
            ("on-version", version),
            ("key-prefix", key_prefix),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_deref()?)))
        .collect()
    }
}

/// In words: `group f00d, handler payments`, or `all dead letters`.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = self.operation.map(|id| format!("operation {id}"));
        let rest = self.options().into_iter().map(|(name, value)| format!("{name} {value}"));
        let said: Vec<String> = operation.into_iter().chain(rest).collect();
        if said.is_empty() { f.write_str("all dead letters") } else { f.write_str(&said.join(", ")) }
    }
}

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_prefix: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
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
    /// The largest id that any dead letter had: what an operation on this list says as `as_of`.
    #[serde(default)]
    pub as_of: i64,
    /// When the first and the last of all that match failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_failed_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest_failed_at: Option<Time>,
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

/// The query of `GET /v1/dead-letter-groups`: open dead letters, by cause.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupQuery {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_prefix: Option<String>,
    /// Only groups whose newest dead letter has a smaller id: the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

/// `GET /v1/dead-letter-groups`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupList {
    pub taken: Taken,
    /// The one with the newest dead letter first.
    pub groups: Vec<Group>,
    /// The largest id that any dead letter had: what an operation on a group says as `as_of`.
    pub as_of: i64,
    /// Pass as `before` for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_before: Option<i64>,
}

/// Open dead letters of one cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    pub fingerprint: String,
    pub handler: Option<String>,
    /// `delivery`, `key_conflict` or `parked`.
    pub kind: String,
    pub reason: String,
    pub class: Option<String>,
    pub code: String,
    /// Of its newest dead letter, whole; what varies is not part of the fingerprint.
    pub message: String,
    pub owner: Option<String>,
    pub entries: i64,
    /// Of these, how many failed in the last hour.
    pub last_hour: i64,
    pub first_failed_at: Time,
    pub last_failed_at: Time,
    pub oldest: i64,
    pub newest: i64,
    /// On which versions they failed, the one with most first.
    pub versions: Vec<GroupVersion>,
}

/// How many of a group failed on one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupVersion {
    pub digest: String,
    pub label: String,
    pub entries: i64,
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
    /// What became of its delivery until now: `pending`, `done`, `ignored`, `dead` or `discarded`.
    #[serde(default)]
    pub standing: Option<String>,
    /// What its delivery planned, which is nothing before it is done; oldest first.
    #[serde(default)]
    pub effects: Vec<EffectSeen>,
    /// What people did to it, latest first.
    #[serde(default)]
    pub actions: Vec<Action>,
    /// How often its payload was edited: who edits it says so in `If-Match`.
    #[serde(default)]
    pub revision: i32,
    /// What people changed in the payload, oldest first; of a delivery in all its rounds.
    #[serde(default)]
    pub edits: Vec<Edit>,
    /// The payload as it was received, if it was edited since.
    #[serde(default)]
    pub received: Option<Payload>,
}

/// One edit of a payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    pub dead_letter: i64,
    /// The revision of the dead letter that it made; the first is 1.
    pub revision: i32,
    pub at: Time,
    pub actor: String,
    pub reason: String,
    pub hash_rule: String,
    /// SHA-256 in hex, made under `hash_rule`.
    pub hash_before: String,
    pub hash_after: String,
}

/// The body of `PATCH /v1/dead-letters/{id}`, with the revision that was read in `If-Match`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditRequest {
    pub payload: NewPayload,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Why; not empty.
    pub reason: String,
}

/// Bytes that take a payload's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewPayload {
    /// `text` or `hex`.
    pub encoding: String,
    pub body: String,
}

/// What an edit led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edited {
    pub id: i64,
    pub revision: i32,
    pub hash_rule: String,
    pub hash_before: String,
    pub hash_after: String,
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

/// The body of `POST /v1/dead-letters/{id}/restore`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestoreRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a restore led to: the dead letter is open again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    pub id: i64,
}

/// What a discard led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discarded {
    pub id: i64,
    pub reason: String,
}
