//! What only the database knows, sampled by one host for the whole fleet: take it once, never the
//! sum over hosts. Knows nothing of what single hosts counted.

use serde::{Deserialize, Serialize};

use crate::Time;
use crate::verify::Account;

/// One sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gauges {
    /// When it was taken, by the database's clock.
    pub at: Time,
    /// How old it was when this document was written, in milliseconds by the database's clock.
    pub age_ms: u64,
    /// The boot that took it.
    pub by: String,
    /// How long that took, in milliseconds.
    pub took_ms: u64,
    /// By name.
    pub handlers: Vec<HandlerGauges>,
    /// By name.
    pub sinks: Vec<SinkGauges>,
    /// Parked events that wait for people.
    pub parked: Count,
    /// Events that SQL callers enqueued and no host has routed yet.
    pub submitted: Count,
    /// The last count of the books; absent until there was one. It walks the whole ledger, so it is
    /// taken far less often than the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub books: Option<Books>,
}

/// A number of rows, and how true it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    pub n: u64,
    pub method: Method,
}

/// How a count was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Counted.
    Exact,
    /// The planner's estimate: there are too many to count all the time.
    Estimate,
}

/// One handler in the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandlerGauges {
    pub handler: String,
    /// `active` or `paused`.
    pub state: String,
    /// `ordered` or `unordered`.
    pub ordering: String,
    /// The author's own text for the active version.
    pub version: String,
    /// SHA-256 in hex of the active version.
    pub digest: String,
    /// Accepted and not settled.
    pub depth: Count,
    /// Of those, due by now (an ordered one may still wait for its head).
    pub due: Count,
    /// Of those, waiting for their next attempt.
    pub scheduled_retries: Count,
    /// How long the oldest due delivery has been due, in milliseconds; absent when none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_due_ms: Option<u64>,
    /// Open dead letters, key conflicts included.
    pub dead: Count,
    /// How long ago the oldest open dead letter failed last, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_dead_ms: Option<u64>,
}

/// One sink's outbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SinkGauges {
    pub sink: String,
    pub planned: Count,
    pub sending: Count,
    pub refused: Count,
    pub unknown: Count,
    /// How long ago the oldest effect that is not sent was committed, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_planned_ms: Option<u64>,
}

/// The books of all handlers, counted in one snapshot of the database:
/// `accepted = pending + done + ignored + dead + discarded + duplicates late + expired`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Books {
    /// When they were counted, by the database's clock.
    pub at: Time,
    /// How long that took, in milliseconds.
    pub took_ms: u64,
    /// Whether every equation holds.
    pub holds: bool,
    /// By name.
    pub accounts: Vec<Account>,
}
