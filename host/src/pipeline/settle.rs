//! Writes how deliveries end in their own transaction, and says so once: one log line, one set of
//! counters. A commit that Postgres refuses to a single delivery is decided again as a fault and
//! written in a transaction of its own; a refused batch is undone, and its deliveries run singly.

use rand::Rng;
use wonce_core::decide::{Decision, MAX_CONTENTION_REDOS, Redos, decide};
use wonce_core::fault::{Fault, FaultClass};
use wonce_core::fingerprint::{Death, fingerprint};
use wonce_core::outcome::Outcome;
use wonce_core::retry::Jitter;
use wonce_core::sql::DbError;
use wonce_core::sqlstate;

use super::deliver::Delivered;
use super::dispatch::Shared;
use super::handler::Handler;
use super::invoke::LastRun;
use crate::crash;
use crate::store::claim::ClaimedDelivery;
use crate::store::settle::{Entry, Record, Settled, Settlement, Written};
use crate::store::transaction::OpenTransaction;
use crate::telemetry::metrics;

pub(super) mod report;

/// Log lines that an attempt's row keeps, from the end.
const LOG_TAIL_LINES: usize = 50;
/// And their bytes.
const LOG_TAIL_BYTES: usize = 8 * 1024;

/// A delivery whose end is known and not yet written.
pub(super) struct Ended {
    pub(super) delivery: ClaimedDelivery,
    pub(super) settlement: Settlement,
    pub(super) run: LastRun,
}

/// Commits the ends of a claim's deliveries; `claimed` is how many were claimed.
pub(super) async fn write(
    shared: &Shared,
    handler: &Handler,
    transaction: OpenTransaction,
    ended: Vec<Ended>,
    claimed: usize,
) -> Delivered {
    ended.iter().for_each(|ended| report::lines(handler, &ended.delivery, &ended.run));
    let entries: Vec<Entry<'_>> = ended
        .iter()
        .map(|ended| Entry {
            delivery: &ended.delivery,
            settlement: &ended.settlement,
            record: record(shared, handler, &ended.run),
        })
        .collect();
    crash::point("before-commit");
    let started = tokio::time::Instant::now();
    let settled = transaction.settle(&entries, handler.limits.deadline).await;
    crash::point("after-commit");
    drop(entries);
    match (settled, ended.len()) {
        (Settled::Committed(written), _) => {
            metrics::commit(&handler.name, started.elapsed(), ended.len());
            committed(shared, handler, &ended, &written);
            handler.pace.went_well(claimed);
            Delivered::Settled
        }
        (Settled::Overtaken, 1) => {
            ended.iter().for_each(|ended| report::overtaken(handler, &ended.delivery));
            Delivered::Settled
        }
        (Settled::Refused(error), 1) => refused(shared, handler, ended, error).await,
        (Settled::Lost { reason, guest_statements: 0 }, 1) => Delivered::HostFault(reason),
        (Settled::Lost { reason, .. }, 1) => lost_by_guest(shared, handler, &ended, reason).await,
        (Settled::Lost { reason, .. }, _) => {
            handler.pace.undone(claimed);
            Delivered::HostFault(reason)
        }
        (Settled::Overtaken, _) => {
            undone(handler, claimed, "a delivery was settled or moved by somebody else")
        }
        (Settled::Refused(error), _) => undone(handler, claimed, &error.message),
    }
}

fn committed(shared: &Shared, handler: &Handler, ended: &[Ended], written: &[Written]) {
    for (ended, written) in ended.iter().zip(written) {
        match written {
            Written::Committed => {
                report::settled(handler, &ended.delivery, &ended.settlement, &ended.run);
                if matches!(ended.settlement, Settlement::Done { .. }) {
                    shared.effects_committed(ended.run.usage.effects);
                }
            }
            Written::Overtaken => report::overtaken(handler, &ended.delivery),
        }
    }
}

/// Nothing of the batch was written or counted; each of its deliveries is claimed singly next.
fn undone(handler: &Handler, claimed: usize, reason: &str) -> Delivered {
    report::undone(handler, claimed, reason);
    handler.pace.undone(claimed);
    Delivered::SomeLeft
}

/// A queued statement of the guest's was under way when the connection died: the guest may have
/// done it, so it leaves a mark like any such statement.
async fn lost_by_guest(shared: &Shared, handler: &Handler, ended: &[Ended], reason: String) -> Delivered {
    let mut said = reason;
    for ended in ended {
        if let Err(error) = shared.store.mark_crash(&handler.access, &ended.delivery.delivery.key).await {
            said = format!("{said}; and the mark could not be written: {}", error.explained());
        }
    }
    Delivered::HostFault(said)
}

/// A commit that Postgres refused (a queued statement, a deferred constraint, a serialization
/// failure) is a fault like any other, except that its transaction is gone: contention can not be
/// redone in place.
async fn refused(shared: &Shared, handler: &Handler, ended: Vec<Ended>, error: DbError) -> Delivered {
    let class = sqlstate::class_of(&error.sqlstate);
    for Ended { delivery, run, .. } in ended {
        let fault = Fault::new(class, &error.sqlstate, &format!("at commit: {}", error.message));
        let outcome = Outcome::Failed { fault, after: None };
        let attempt = delivery.delivery.attempt;
        let redos = Redos(MAX_CONTENTION_REDOS);
        let decision = decide(outcome, attempt, redos, &handler.policy, draw_jitter());
        let Some(settlement) = failure(handler, decision) else {
            return Delivered::HostFault(error.message);
        };
        let record = record(shared, handler, &run);
        let settled = shared
            .store
            .settle_elsewhere(&handler.access, &delivery.delivery, delivery.marks, &settlement, &record)
            .await;
        match settled {
            Ok(Written::Committed) => report::settled(handler, &delivery, &settlement, &run),
            Ok(Written::Overtaken) => report::overtaken(handler, &delivery),
            Err(error) => return Delivered::HostFault(error.explained()),
        }
    }
    Delivered::Settled
}

/// The settlement of a counted failure; `None` for decisions that settle nothing.
pub(super) fn failure(handler: &Handler, decision: Decision) -> Option<Settlement> {
    match decision {
        Decision::Retry { fault, after } => Some(Settlement::Retry { fault, after }),
        Decision::Dead { fault, reason } => {
            let fingerprint = fingerprint(&Death {
                handler: Some(&handler.name),
                reason: reason.as_str(),
                class: Some(fault.class),
                code: &fault.code,
                message: &fault.message,
            });
            Some(Settlement::Dead { fault, reason, fingerprint })
        }
        Decision::Commit { .. } | Decision::Redo { .. } | Decision::Release { .. } => None,
    }
}

fn record(shared: &Shared, handler: &Handler, run: &LastRun) -> Record {
    Record {
        version: handler.version,
        host: shared.boot,
        duration: run.usage.wall,
        log_tail: report::tail(run, LOG_TAIL_LINES, LOG_TAIL_BYTES),
        owner: handler.owner.clone(),
    }
}

pub(super) fn draw_jitter() -> Jitter {
    Jitter(rand::rng().random())
}

/// Whether a class counts against the handler in the metrics: every class does but the host's.
pub(super) fn is_handlers_own(class: FaultClass) -> bool {
    class != FaultClass::Host
}
