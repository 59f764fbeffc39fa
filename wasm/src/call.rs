//! What goes into one invocation and what comes out of it. Plain data; knows nothing of
//! how a guest is run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use wonce_core::delivery::{Attempt, Round};
use wonce_core::event::{Event, Micros};
use wonce_core::name::{HandlerName, Key, OrderingKey, SinkName};
use wonce_core::outcome::Outcome;

use crate::limits::Limits;
use crate::log::LogLine;

/// What the guest is told of the delivery.
#[derive(Debug, Clone)]
pub struct DeliveryFacts {
    pub key: Key,
    pub ordering_key: Option<OrderingKey>,
    pub attempt: Attempt,
    pub max_attempts: u32,
    pub round: Round,
    /// When the host accepted the event.
    pub received: Micros,
}

/// One event for one handler.
#[derive(Debug, Clone)]
pub struct Call {
    pub handler: HandlerName,
    /// An event without an id is shown to the guest with the key as its id.
    pub event: Event,
    pub delivery: DeliveryFacts,
    /// The transaction's start: the only time that the guest sees.
    pub now: Micros,
    pub settings: Arc<BTreeMap<String, String>>,
    /// The sinks that the handler may emit to.
    pub emits: Arc<BTreeSet<SinkName>>,
    pub limits: Limits,
}

/// Whether the deadline cut off a call of the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupted {
    /// No call was in flight at the end.
    No,
    /// The transaction has a call in flight that nobody waits for any more.
    InFlight,
}

/// What the invocation used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// From start to end.
    pub wall: Duration,
    /// Of that, without the time spent in the transaction.
    pub guest: Duration,
    /// Statements asked for, refused ones included.
    pub statements: u64,
    /// Effects that were accepted.
    pub effects: u64,
    /// The most memory at one time, in bytes.
    pub peak_memory: u64,
}

/// The end of an invocation. The transaction comes back whatever became of the guest.
#[derive(Debug)]
pub struct Ended<T> {
    pub outcome: Outcome,
    pub transaction: T,
    /// In order; what came by stdout and stderr is last.
    pub log: Vec<LogLine>,
    pub log_dropped: u64,
    pub usage: Usage,
    pub interrupted: Interrupted,
}
