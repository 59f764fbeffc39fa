//! Operations: one verb for many dead letters, as an object that can be watched, paused and
//! aborted.

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::dead_letter::Selection;
use crate::{Taken, Time};

/// Items a second unless asked otherwise; the least and the most.
pub const DEFAULT_RATE: f64 = 20.0;
pub const MIN_RATE: f64 = 0.01;
pub const MAX_RATE: f64 = 1000.0;
/// Dead letters of one operation, at most.
pub const MAX_ITEMS: i64 = 1_000_000;
/// The header that names a request, so that a second one is the same operation.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The body of `POST /v1/operations`: what, on which dead letters, and what the caller saw. The
/// list of dead letters is frozen when it is granted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationRequest {
    /// `replay`, `discard` or `restore`.
    pub verb: String,
    /// Dead letters that match, without any condition all: open ones, for `restore` discarded ones.
    pub filter: Selection,
    /// Only dead letters up to this id: the `as_of` of the list that the caller saw.
    pub as_of: i64,
    /// How many the caller saw. Another number is refused, with the number that was found.
    pub expected: i64,
    /// Items a second, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Not empty for a discard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One operation with its progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    pub id: i64,
    pub verb: String,
    /// `running`, `paused`, `aborted` or `finished`.
    pub state: String,
    pub filter: Selection,
    pub as_of: i64,
    /// `total = succeeded + refused + waiting`.
    pub total: i64,
    pub succeeded: i64,
    pub refused: i64,
    pub waiting: i64,
    /// Items a second, at most.
    pub rate: f64,
    /// What is left, at this rate.
    pub seconds_left: i64,
    pub actor: String,
    pub reason: String,
    pub created_at: Time,
    pub ended_at: Option<Time>,
}

/// `GET /v1/operations`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationList {
    pub taken: Taken,
    /// The latest first.
    pub operations: Vec<Operation>,
    /// Pass as `before` for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_before: Option<i64>,
}

/// The query of `GET /v1/operations`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationQuery {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

/// `GET /v1/operations/{id}`, and the answer to its `POST` and `PATCH`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationDetail {
    pub taken: Taken,
    pub operation: Operation,
    /// Why items were refused, the commonest first.
    pub refusals: Vec<RefusalCount>,
    /// What people did to it, latest first.
    pub actions: Vec<Action>,
}

/// How many items were refused for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusalCount {
    pub result: String,
    pub items: i64,
}

/// The query of `GET /v1/operations/{id}/items`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemQuery {
    /// `waiting`, `succeeded` or `refused`; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Only larger dead letter ids: the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

/// `GET /v1/operations/{id}/items`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemList {
    pub taken: Taken,
    /// In the order in which they are done.
    pub items: Vec<Item>,
    /// Pass as `after` for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_after: Option<i64>,
}

/// One dead letter of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub dead_letter: i64,
    pub handler: Option<String>,
    pub key: Option<String>,
    /// `waiting`, `succeeded` or `refused`.
    pub state: String,
    /// What the verb answered; empty while it waits.
    pub result: String,
    pub acted_at: Option<Time>,
    /// What became of the delivery until now: `pending`, `done`, `ignored`, `dead` or `discarded`.
    pub standing: Option<String>,
}

/// The body of `PATCH /v1/operations/{id}`: another state, another rate, or both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationChange {
    /// `running`, `paused` or `aborted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
