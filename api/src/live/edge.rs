//! What happens now and then: alerts, what people did, bulk operations, log lines, the end. Knows
//! nothing of the conditions that lead to them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Time;
use crate::action::Action;

/// An alert rule of a handler is broken, or holds again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    /// `<handler>/<rule>`: the same alert has the same id, in every host and at every time.
    pub id: String,
    pub handler: String,
    /// The key of the rule in the configuration: `dead_letters`, `dead_letter_age`,
    /// `oldest_due_age`, `error_share`, `class_share.<class>` or `no_claims`.
    pub rule: String,
    pub state: AlertState,
    /// Since when it has this state, by the database's clock.
    pub since: Time,
    /// What was measured, in the unit of the limit.
    pub value: f64,
    /// The limit of the rule.
    pub limit: f64,
    /// `letters`, `seconds`, or `share` (0 to 1).
    pub unit: String,
    /// One sentence for people.
    pub text: String,
}

/// Where an alert stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertState {
    Firing,
    Resolved,
}

/// Somebody did something: a deploy, a pause, a replay, a discard. The row of the action log.
pub type Change = Action;

/// How far a bulk operation is. The document of its own endpoint says more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Op {
    pub id: String,
    /// `replay`, `discard` …
    pub verb: String,
    /// `running`, `paused`, `aborted` or `finished`.
    pub state: String,
    /// What it acts on, in words.
    pub target: String,
    /// Items; what is none of the following still waits.
    pub total: u64,
    /// Items that succeeded.
    pub done: u64,
    /// Items that were refused.
    pub failed: u64,
    /// Items that were passed over; no verb does that today.
    pub skipped: u64,
    pub actor: String,
    pub reason: String,
    pub started_at: Time,
}

/// The query of the stream of log lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogQuery {
    /// `error`, `warn` or `info` (the default): lines that matter so much or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// Only lines about this handler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<String>,
}

/// Log lines since the last batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogBatch {
    /// Oldest first.
    pub lines: Vec<LogLine>,
    /// Lines that this reader was not sent, wanted or not, because there were too many.
    pub dropped: u64,
}

/// One line of a host's log. What comes from events and guests in it is hostile text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// By the host's clock.
    pub at: Time,
    /// `error`, `warn` or `info`.
    pub level: String,
    pub message: String,
    /// The stable fields, `handler`, `key`, `attempt`, `error_class` and so on, as text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}

/// Why the host ends the stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bye {
    /// `stopping` (the host goes), `slow` (the reader does not read) or `failed`.
    pub reason: String,
    /// Not before so many milliseconds.
    pub retry_ms: u64,
}
