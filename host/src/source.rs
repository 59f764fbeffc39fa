//! Where events come from. An adapter turns received bytes into [`Event`]s and hands them to a
//! [`Door`]; it tells its sender "accepted" only after the door said so. The payload stays as it
//! was received, byte for byte.
//!
//! Invariant: nothing here has heard of Postgres, of handlers or of keys.

use wonce_core::event::Event;

pub mod cloudevents;
pub mod door;
pub mod error;
pub mod http;
pub mod problem;
mod text;
pub mod webhook;

pub use door::{Door, NotAccepted};
pub use error::Error;

/// What one request held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    One(Box<Event>),
    /// All or nothing, in this order.
    Batch(Vec<Event>),
}

/// Why a request held no events.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct Undecodable {
    /// The event at fault in a batch, from 0.
    pub index: Option<usize>,
    pub error: Error,
}

impl From<Error> for Undecodable {
    fn from(error: Error) -> Self {
        Self { index: None, error }
    }
}
