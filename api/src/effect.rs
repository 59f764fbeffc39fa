//! Effects in the outbox, over all events: what waits to leave and what did not arrive.

use serde::{Deserialize, Serialize};

use crate::Taken;
use crate::event::EffectSeen;

/// The query of `GET /v1/effects`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectQuery {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink: Option<String>,
    /// `planned`, `sending`, `confirmed`, `refused` or `unknown`; when absent all but `confirmed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Only effects with a smaller id: the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

/// `GET /v1/effects`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectList {
    pub taken: Taken,
    /// The latest first.
    pub effects: Vec<EffectSummary>,
    /// Pass as `before` for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_before: Option<i64>,
}

/// One effect with the event that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectSummary {
    pub handler: String,
    /// Of the event.
    pub key: String,
    /// When it is tried again or for the first time; of one that is settled nothing.
    pub due_in_seconds: Option<i64>,
    #[serde(flatten)]
    pub effect: EffectSeen,
}
