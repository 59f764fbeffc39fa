//! Claims due deliveries and sees them to their end, under a bounded number of permits. Each
//! handler has as many workers as it may run invocations at once; a worker that finds work wakes
//! the next one, so a burst spreads and an idle handler costs nothing.
//!
//! Invariant: no worker sleeps for a retry, and none claims without a permit.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use rand::Rng;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wonce_core::name::Key;
use wonce_core::pace::BatchLimit;
use wonce_wasm::Sandbox;

use super::deliver::{Delivered, deliver};
use super::handler::Handler;
use super::lineup::{Lineup, Seat};
use super::probation::{Probation, Turn as ProbationTurn};
use super::scout::Vitals;
use super::settle::report;
use super::wake::Wake;
use crate::store::Store;
use crate::store::claim::{Claimed, FirstLane};
use crate::store::lease::LeasePool;
use crate::telemetry::metrics;

/// The first wait after the host failed to do its part, and the longest.
const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const LONGEST_BACKOFF: Duration = Duration::from_secs(5);
/// Lanes of an ordered handler, as the table has them.
const LANES: i16 = 1024;

/// What all workers of a host share.
#[derive(Debug)]
pub struct Shared {
    pub store: Store,
    pub pool: LeasePool,
    pub sandbox: Sandbox,
    pub permits: Arc<Semaphore>,
    pub max_permits: usize,
    pub wake: Wake,
    /// Told when effects were committed.
    pub relay: Arc<Notify>,
    pub probation: Probation,
    pub vitals: Arc<Vitals>,
    /// This boot of this host.
    pub boot: Uuid,
}

impl Shared {
    pub(super) fn effects_committed(&self, effects: u64) {
        if effects > 0 {
            self.relay.notify_one();
        }
    }
}

/// The workers of every handler.
#[derive(Debug)]
pub struct Dispatch {
    shared: Arc<Shared>,
    lineup: Lineup,
}

/// How a graceful stop went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// Every running invocation ended.
    Fully,
    /// Some were cut off at the limit; their deliveries are pending again.
    CutOff,
}

impl Dispatch {
    #[must_use]
    pub fn new(shared: Arc<Shared>, lineup: Lineup) -> Self {
        Self { shared, lineup }
    }

    /// Works until `stop`, then waits up to `drain` for what is running.
    pub async fn run(self, stop: CancellationToken, drain: Duration) -> Drained {
        let mut workers = JoinSet::new();
        loop {
            for seat in self.lineup.without_workers() {
                for _ in 0..seat.concurrency {
                    workers.spawn(work(Arc::clone(&self.shared), Arc::clone(&seat), stop.clone()));
                }
            }
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.lineup.seated() => {}
                // Workers of a handler that left.
                Some(_) = workers.join_next() => {}
            }
        }
        let all_ended = async { while workers.join_next().await.is_some() {} };
        match tokio::time::timeout(drain, all_ended).await {
            Ok(()) => Drained::Fully,
            Err(_) => Drained::CutOff,
        }
    }
}

/// One worker: waits to be woken, then claims until nothing is due. Each turn is one version's from
/// the claim to the settlement, and the next one takes what is current then.
async fn work(shared: Arc<Shared>, seat: Arc<Seat>, stop: CancellationToken) {
    let mut backoff = FIRST_BACKOFF;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = seat.left.cancelled() => return,
            () = shared.wake.notified(seat.id) => {}
        }
        loop {
            let Some(permit) = permit(&shared, &seat, &stop).await else { return };
            let handler = seat.current();
            let turn = turn(&shared, &handler).await;
            drop(permit);
            match turn {
                Turn::Nothing => break,
                Turn::AllDone => {
                    backoff = FIRST_BACKOFF;
                    break;
                }
                Turn::MayBeMore => backoff = FIRST_BACKOFF,
                Turn::HostFault(reason) => {
                    tracing::warn!(handler = %handler.name, error = reason, backoff_ms = backoff.as_millis(),
                                   "cannot work on deliveries, backing off; they stay pending");
                    tokio::select! {
                        () = stop.cancelled() => return,
                        () = tokio::time::sleep(backoff) => {}
                    }
                    backoff = (backoff * 2).min(LONGEST_BACKOFF);
                }
            }
        }
    }
}

/// One claim and what came of it.
enum Turn {
    Nothing,
    /// The claim was not full: nothing more was due when it was made. Whatever came since has rung.
    AllDone,
    MayBeMore,
    HostFault(String),
}

async fn turn(shared: &Shared, handler: &Handler) -> Turn {
    let probation = shared.probation.turn().await;
    let started = tokio::time::Instant::now();
    let first_lane = FirstLane(rand::rng().random_range(0..LANES));
    let limit = if probation.is_some() { BatchLimit::ONE } else { handler.pace.next_limit() };
    let (access, turns, idle_limit) = (&handler.access, &handler.turns, handler.idle_limit());
    let claimed = match shared.pool.claim(access, turns, limit, first_lane, idle_limit).await {
        Ok(Some(claimed)) => claimed,
        Ok(None) => return Turn::Nothing,
        Err(error) => return Turn::HostFault(error.explained()),
    };
    report::claimed(handler, started.elapsed(), &claimed.deliveries);
    shared.vitals.claimed();
    if let Some(turn) = &probation {
        shared.probation.claimed(turn);
    }
    let is_full = claimed.deliveries.len() >= usize::from(limit.get());
    if is_full {
        // There may be more: the next idle worker of this handler has a look.
        shared.wake.due(handler.access.id);
    }
    let delivered = guarded(shared, handler, claimed, probation.as_ref()).await;
    match delivered {
        Delivered::Settled => {}
        Delivered::SomeLeft | Delivered::HostFault(_) => handler.turns.look_back().await,
    }
    match delivered {
        Delivered::SomeLeft => Turn::MayBeMore,
        Delivered::Settled if is_full => Turn::MayBeMore,
        Delivered::Settled => Turn::AllDone,
        Delivered::HostFault(reason) => Turn::HostFault(reason),
    }
}

/// A panic in the host is a bug of the host's, but it must not take a worker away, and a delivery
/// that provokes it must not do so for ever: it gets a mark like any crash.
async fn guarded(
    shared: &Shared,
    handler: &Handler,
    claimed: Claimed,
    probation: Option<&ProbationTurn>,
) -> Delivered {
    let keys: Vec<_> = claimed.deliveries.iter().map(|claimed| claimed.delivery.key.clone()).collect();
    match AssertUnwindSafe(Box::pin(deliver(shared, handler, claimed, probation))).catch_unwind().await {
        Ok(delivered) => delivered,
        Err(_) => Delivered::HostFault(panicked(shared, handler, &keys).await),
    }
}

/// A delivery that ran alone is marked; of several nobody knows which it was, so they run singly.
async fn panicked(shared: &Shared, handler: &Handler, keys: &[Key]) -> String {
    let [key] = keys else {
        handler.pace.undone(keys.len());
        return format!("the host panicked while one of {} deliveries ran; they run singly next", keys.len());
    };
    let marked = shared.store.mark_crash(&handler.access, key).await;
    let marked = marked.map_or_else(|error| error.explained(), |marks| format!("mark {marks} written"));
    format!("the host panicked while delivery \"{key}\" ran ({marked})")
}

async fn permit(shared: &Shared, seat: &Seat, stop: &CancellationToken) -> Option<OwnedSemaphorePermit> {
    let started = tokio::time::Instant::now();
    let permit = tokio::select! {
        () = stop.cancelled() => return None,
        () = seat.left.cancelled() => return None,
        permit = Arc::clone(&shared.permits).acquire_owned() => permit.ok()?,
    };
    metrics::pool_wait(&seat.current().name, started.elapsed());
    Some(permit)
}
