//! `GET /v1/status`: the whole fleet on one page.

use serde::{Deserialize, Serialize};

use crate::handler::HandlerSummary;
use crate::live::Alert;
use crate::{Taken, Time};

/// What `wonce status` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    pub taken: Taken,
    pub database: Database,
    /// The latest seen first.
    pub hosts: Vec<Host>,
    /// By name.
    pub handlers: Vec<HandlerSummary>,
    /// Alerts that fire, the oldest first.
    #[serde(default)]
    pub alerts: Vec<Alert>,
    /// By sink and state.
    pub outbox: Vec<OutboxCount>,
    /// Events that could not become deliveries and wait for people.
    pub parked: i64,
    /// Events that SQL callers enqueued and no host has routed yet.
    pub submitted: i64,
}

/// The database that holds it all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Database {
    pub name: String,
    /// Postgres' own version text.
    pub version: String,
    /// The number of the last migration.
    pub schema: i32,
}

/// One boot of one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    pub boot_id: String,
    pub name: String,
    pub version: String,
    /// `alive`, `silent` or `stopped`.
    pub state: String,
    pub started_at: Time,
    pub seen_seconds_ago: i64,
}

/// Effects of one sink in one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboxCount {
    pub sink: String,
    pub state: String,
    pub effects: i64,
}
