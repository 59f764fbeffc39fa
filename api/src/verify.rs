//! `GET /v1/verify`: whether nothing was lost and nothing happened twice.

use serde::{Deserialize, Serialize};

use crate::Taken;
use crate::status::OutboxCount;

/// The answer, from one snapshot of the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    pub taken: Taken,
    /// Whether every equation and every cross check holds.
    pub holds: bool,
    /// By name.
    pub handlers: Vec<Account>,
    /// Open dead letters outside the equation.
    pub key_conflicts: i64,
    pub parked: i64,
    pub outbox: Vec<OutboxCount>,
    /// What does not hold and belongs to no handler, in words.
    #[serde(default)]
    pub findings: Vec<String>,
}

/// One handler's books:
/// `accepted = pending + done + ignored + dead + discarded + duplicates late + expired`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    pub handler: String,
    pub holds: bool,
    pub accepted: i64,
    pub pending: i64,
    pub done: i64,
    pub ignored: i64,
    pub dead: i64,
    pub discarded: i64,
    pub duplicate_late: i64,
    pub expired: i64,
    /// The right side minus the left: negative means lost, positive means invented.
    pub difference: i64,
    /// Pending deliveries whose key is settled already: they will end as late duplicates. Not
    /// a fault.
    pub late_to_come: i64,
    /// What else does not fit, in words.
    pub findings: Vec<String>,
}
