//! Everything that lives as long as one call: the lent transaction, the facts, the meters
//! and the sealed system. Knows nothing of how the call ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use std::collections::{BTreeMap, BTreeSet};
use wasmtime_wasi::{WasiCtxView, WasiView};
use wonce_core::event::Micros;
use wonce_core::name::{HandlerName, Key, SinkName};

use crate::call::Interrupted;
use crate::known::KnownStatements;
use crate::lent::Lent;
use crate::limiter::Limiter;
use crate::limits::Limits;
use crate::log::LogBook;
use crate::stop::Stop;
use crate::wasi::{Sealed, Seed};

/// Whether the contract's imports may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// A component is being instantiated, at load or before the event.
    Setup,
    /// `handle` runs.
    Handling,
}

/// The facts that imports answer with.
pub(crate) struct Facts {
    pub(crate) handler: HandlerName,
    pub(crate) key: Key,
    pub(crate) now: Micros,
    pub(crate) settings: Arc<BTreeMap<String, String>>,
    pub(crate) emits: Arc<BTreeSet<SinkName>>,
    pub(crate) limits: Limits,
    pub(crate) statements: KnownStatements,
}

/// What the call used so far.
#[derive(Debug, Default)]
pub(crate) struct Meters {
    pub(crate) statements: u64,
    pub(crate) effects: u32,
    pub(crate) effect_bytes: u64,
    pub(crate) in_transaction: Duration,
}

/// The store's data.
pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) facts: Facts,
    pub(crate) started: Instant,
    pub(crate) meters: Meters,
    pub(crate) limiter: Limiter,
    pub(crate) log: LogBook,
    pub(crate) wasi: Sealed,
    pub(crate) interrupted: Interrupted,
    /// Set when a statement found the connection gone: then nothing the guest says counts.
    pub(crate) connection_lost: Option<String>,
    transaction: Box<dyn Lent>,
}

impl State {
    pub(crate) fn new(facts: Facts, max_memory: usize, transaction: Box<dyn Lent>) -> Self {
        let started = Instant::now();
        let memory = usize::try_from(facts.limits.memory_bytes).unwrap_or(usize::MAX).min(max_memory);
        Self {
            phase: Phase::Setup,
            started,
            meters: Meters::default(),
            limiter: Limiter::new(memory),
            log: LogBook::new(facts.limits.log_lines, facts.limits.log_bytes),
            wasi: Sealed::default(),
            interrupted: Interrupted::No,
            connection_lost: None,
            transaction,
            facts,
        }
    }

    /// When the call must be over.
    pub(crate) fn deadline(&self) -> Instant {
        self.started + self.facts.limits.deadline
    }

    /// Ends the call when an import is used before there is an event.
    pub(crate) fn handling(&self, import: &'static str) -> Result<(), Stop> {
        match self.phase {
            Phase::Handling => Ok(()),
            Phase::Setup => Err(Stop::Early(import)),
        }
    }

    /// The transaction, to look at.
    pub(crate) fn transaction(&self) -> &dyn Lent {
        &*self.transaction
    }

    /// Lends the transaction for one call.
    pub(crate) fn lend(&mut self) -> Loan<'_> {
        self.interrupted = Interrupted::InFlight;
        Loan { state: self, since: Instant::now() }
    }

    /// Takes the state apart when the store is gone.
    pub(crate) fn into_parts(self) -> (Box<dyn Lent>, LogBook) {
        (self.transaction, self.log)
    }
}

/// One call of the transaction, timed. If the deadline drops it unsettled, `interrupted`
/// stays behind and says so.
pub(crate) struct Loan<'a> {
    state: &'a mut State,
    since: Instant,
}

impl Loan<'_> {
    pub(crate) fn transaction(&mut self) -> &mut dyn Lent {
        &mut *self.state.transaction
    }

    pub(crate) fn settled(self) {
        self.state.interrupted = Interrupted::No;
        self.state.meters.in_transaction += self.since.elapsed();
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let Facts { handler, key, now, .. } = &self.facts;
        self.wasi.view(&Seed { handler, key, now: *now, started: self.started })
    }
}
