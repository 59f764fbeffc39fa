//! One delivery from acceptance to outcome: the timeline behind `wonce event show`.

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::dead_letter::{DeadLetterSummary, Edit};
use crate::{Taken, Time};

/// `GET /v1/events/{handler}?key=`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    pub taken: Taken,
    pub handler: String,
    pub key: String,
    /// `pending`, `done`, `ignored`, `dead` or `discarded`.
    pub standing: String,
    pub accepted: Accepted,
    /// While it is pending.
    pub waiting: Option<Waiting>,
    /// Oldest first, of all rounds; the latest [`TIMELINE_LIMIT`] of them.
    pub attempts: Vec<AttemptSeen>,
    pub effects: Vec<EffectSeen>,
    /// A sample: not every duplicate is kept, all are counted.
    pub duplicates: Vec<DuplicateSeen>,
    pub dead_letters: Vec<DeadLetterSummary>,
    /// What people changed in its payload, oldest first.
    #[serde(default)]
    pub edits: Vec<Edit>,
    /// Replays, discards, restores and edits, oldest first.
    pub actions: Vec<Action>,
    /// Once it is settled.
    pub outcome: Option<Settled>,
}

/// The longest list of each kind in one timeline.
pub const TIMELINE_LIMIT: i64 = 200;

/// How the event came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    pub at: Time,
    /// The wonce source.
    pub via: String,
    /// CloudEvents `source`.
    pub source: String,
    pub event_id: Option<String>,
    pub event_type: String,
    /// Which rule made the key.
    pub key_rule: String,
    pub ordering_key: Option<String>,
    /// Of the payload as it was received: SHA-256 in hex, made under `hash_rule`.
    pub payload_hash: String,
    pub hash_rule: String,
    pub traceparent: Option<String>,
    /// Size of the payload while it is kept.
    pub bytes: Option<i64>,
}

/// What a pending delivery waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// 0 until somebody replays it.
    pub round: i32,
    /// Attempts of this round that failed.
    pub failed_attempts: i32,
    pub due_at: Time,
    /// Until then; negative when it is due.
    pub due_in_seconds: i64,
    /// Whether its handler is paused.
    pub handler_state: String,
    /// The delivery at the head of its ordering key, when that is another one.
    pub behind: Option<Head>,
}

/// The delivery that an ordered one waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub key: String,
    pub failed_attempts: i32,
    pub due_at: Time,
    pub message: Option<String>,
    /// Deliveries between the head and this one.
    pub between: i64,
}

/// One failed attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptSeen {
    pub round: i32,
    pub attempt: i32,
    pub at: Time,
    /// `retry` or `dead`.
    pub decision: String,
    pub class: String,
    pub code: String,
    pub message: String,
    pub duration_us: i64,
    pub version: String,
    /// The boot of the host that ran it.
    pub host: String,
    pub log_tail: String,
}

/// One effect that the delivery planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectSeen {
    pub id: i64,
    pub sink: String,
    pub effect_type: String,
    /// `planned`, `sending`, `confirmed`, `refused` or `unknown`.
    pub state: String,
    /// Attempts to send it.
    pub attempts: i32,
    pub dedup_key: String,
    pub planned_at: Time,
    pub settled_at: Option<Time>,
    pub last_error: Option<String>,
}

/// One sighting of the same event again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DuplicateSeen {
    pub at: Time,
    pub via: String,
    /// How long after the original, when that is known.
    pub after_seconds: Option<i64>,
}

/// The ledger row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// `done`, `ignored`, `dead` or `discarded`.
    pub outcome: String,
    pub ignored_reason: Option<String>,
    pub at: Time,
    pub round: i32,
    /// Of the last round, the successful one included.
    pub attempts: i32,
    pub version: String,
    /// The transaction that committed the handler's effects and the ledger row.
    pub xact: String,
    /// Of the payload that was handled; another one than was received if somebody edited it.
    #[serde(default)]
    pub payload_hash: String,
}

/// How a delivery got its key: what `wonce event explain` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    pub handler: String,
    pub key: String,
    pub key_rule: String,
    pub hash_rule: String,
    pub payload_hash: String,
    pub ordering_key: Option<String>,
    pub via: String,
    pub source: String,
    pub event_id: Option<String>,
}

impl From<&Timeline> for Explanation {
    fn from(timeline: &Timeline) -> Self {
        let accepted = &timeline.accepted;
        Self {
            handler: timeline.handler.clone(),
            key: timeline.key.clone(),
            key_rule: accepted.key_rule.clone(),
            hash_rule: accepted.hash_rule.clone(),
            payload_hash: accepted.payload_hash.clone(),
            ordering_key: accepted.ordering_key.clone(),
            via: accepted.via.clone(),
            source: accepted.source.clone(),
            event_id: accepted.event_id.clone(),
        }
    }
}
