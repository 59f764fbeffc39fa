//! A handler as this host runs it: its prepared version, its way into the database, its policy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wonce_core::name::{HandlerName, SinkName};
use wonce_core::pace::{BatchLimit, Pace};
use wonce_core::retry::RetryPolicy;
use wonce_core::route::Route;
use wonce_wasm::{Limits, Prepared};

use crate::store::lease::HandlerAccess;
use crate::store::place::ClaimTurns;

/// Added to a deadline for everything around the guest, before Postgres ends an idle transaction.
const IDLE_SLACK: Duration = Duration::from_secs(5);

/// A deployed, prepared handler.
#[derive(Debug)]
pub struct Handler {
    pub name: HandlerName,
    pub access: Arc<HandlerAccess>,
    /// SHA-256 of the version: in every attempt and ledger row.
    pub version: [u8; 32],
    pub prepared: Prepared,
    pub policy: RetryPolicy,
    pub limits: Limits,
    pub settings: Arc<BTreeMap<String, String>>,
    pub emits: Arc<BTreeSet<SinkName>>,
    /// Who is told about dead letters.
    pub owner: Option<String>,
    /// Transactions at once on this host.
    pub concurrency: usize,
    /// How many deliveries the next of them takes.
    pub pace: Pacer,
    /// Where the next of them begins.
    pub turns: Arc<ClaimTurns>,
    /// Which events it wants.
    pub route: Route,
    /// How long its ledger remembers; `None` is for ever.
    pub retention: Option<Duration>,
}

/// The handler's pace, shared by its workers.
#[derive(Debug)]
pub struct Pacer(Mutex<Pace>);

impl Pacer {
    /// At most so many deliveries a transaction.
    #[must_use]
    pub fn new(most: BatchLimit) -> Self {
        Self(Mutex::new(Pace::new(most)))
    }

    pub(super) fn next_limit(&self) -> BatchLimit {
        self.pace().next_limit()
    }

    pub(super) fn ran(&self, took: Duration) {
        self.pace().ran(took);
    }

    pub(super) fn went_well(&self, deliveries: usize) {
        self.pace().went_well(deliveries);
    }

    pub(super) fn undone(&self, deliveries: usize) {
        self.pace().undone(deliveries);
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Handler {
    /// How long Postgres lets the transaction idle before it takes the host for dead.
    #[must_use]
    pub fn idle_limit(&self) -> Duration {
        self.limits.deadline + IDLE_SLACK
    }
}
