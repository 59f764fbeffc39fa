//! The JSON of the admin API, shared by the host and whoever talks to it (the CLI, the console,
//! scripts). One file per noun. Plain data: nothing here does IO, knows SQL or draws anything.
//!
//! Times are RFC 3339 in UTC from the database's clock; ages are seconds that the database
//! counted, so that no reader compares two clocks. Absent means unknown or not applicable.

pub mod action;
pub mod alert;
pub mod dead_letter;
pub mod event;
pub mod handler;
pub mod live;
pub mod operation;
pub mod plugin;
pub mod problem;
pub mod receipt;
pub mod status;
pub mod verify;

pub use problem::Problem;

/// RFC 3339, UTC.
pub type Time = String;

/// How far a number reaches and how it was made: shown beside every set of counts.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Taken {
    /// When the database looked.
    pub at: Time,
    /// `fleet`: the whole database, whichever host answers.
    pub scope: String,
    /// `exact` or `estimate`.
    pub method: String,
}
