//! A handler as this host runs it: its prepared version, its way into the database, its policy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use wonce_core::name::{HandlerName, SinkName};
use wonce_core::retry::RetryPolicy;
use wonce_wasm::{Limits, Prepared};

use crate::store::lease::HandlerAccess;

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
    /// Invocations at once on this host.
    pub concurrency: usize,
}

impl Handler {
    /// How long Postgres lets the transaction idle before it takes the host for dead.
    #[must_use]
    pub fn idle_limit(&self) -> Duration {
        self.limits.deadline + IDLE_SLACK
    }
}
