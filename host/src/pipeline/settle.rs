//! Decides what an outcome means, writes it in the delivery's own transaction, and says so once:
//! one log line, one set of counters. A commit that Postgres refuses is decided again as a fault
//! and written in a transaction of its own.

use std::time::Duration;

use rand::Rng;
use wonce_core::decide::{Decision, MAX_CONTENTION_REDOS, Redos, decide};
use wonce_core::fault::{Fault, FaultClass};
use wonce_core::fingerprint::{Death, fingerprint};
use wonce_core::outcome::Outcome;
use wonce_core::retry::Jitter;
use wonce_core::sql::DbError;
use wonce_core::sqlstate;

use super::deliver::{Delivered, LastRun};
use super::dispatch::Shared;
use super::handler::Handler;
use super::invoke::Ran;
use crate::crash;
use crate::store::invocation::{Claimed, ClaimedDelivery, Loss};
use crate::store::settle::{Record, Settled, Settlement};

mod report;

/// Log lines that an attempt's row keeps, from the end.
const LOG_TAIL_LINES: usize = 50;
/// And their bytes.
const LOG_TAIL_BYTES: usize = 8 * 1024;

/// What to do after an outcome.
pub(super) enum Next {
    /// The delivery has left our hands.
    Over(Delivered),
    /// Run the guest once more in the same transaction, which is rolled back to its start.
    Redo(Box<Claimed>),
}

/// Settles one run of the guest.
pub(super) async fn settle(shared: &Shared, handler: &Handler, ran: Ran, redos: Redos) -> Next {
    let Ran { claimed, outcome, log, log_dropped, usage } = ran;
    let run = LastRun { usage, log, log_dropped };
    report::lines(handler, &claimed.delivery, &run);
    let attempt = claimed.delivery.delivery.attempt;
    match decide(outcome, attempt, redos, &handler.policy, draw_jitter()) {
        Decision::Redo { fault } => redo(handler, claimed, fault).await,
        Decision::Release { fault } => Next::Over(release(shared, handler, claimed, fault).await),
        Decision::Commit { ignored } => {
            Next::Over(write(shared, handler, claimed, Settlement::Done { ignored }, &run).await)
        }
        decision @ (Decision::Retry { .. } | Decision::Dead { .. }) => match failure(handler, decision) {
            Some(settlement) => Next::Over(write(shared, handler, claimed, settlement, &run).await),
            None => Next::Over(Delivered::Settled),
        },
    }
}

/// Commits a settlement in the delivery's transaction.
pub(super) async fn write(
    shared: &Shared,
    handler: &Handler,
    claimed: Claimed,
    settlement: Settlement,
    run: &LastRun,
) -> Delivered {
    let delivery = claimed.delivery.clone();
    let record = record(shared, handler, run);
    crash::point("before-commit");
    let started = tokio::time::Instant::now();
    let settled = claimed.settle(&settlement, &record).await;
    crash::point("after-commit");
    match settled {
        Settled::Committed => {
            report::settled(handler, &delivery, &settlement, run, started.elapsed());
            if matches!(settlement, Settlement::Done { .. }) {
                shared.effects_committed(run.usage.effects);
            }
            Delivered::Settled
        }
        Settled::Overtaken => {
            report::overtaken(handler, &delivery);
            Delivered::Settled
        }
        Settled::Refused(error) => refused(shared, handler, delivery, error, run).await,
        Settled::Lost(reason) => Delivered::HostFault(reason),
    }
}

/// A commit that Postgres refused (a deferred constraint, a serialization failure) is a fault like
/// any other, except that its transaction is gone: contention can not be redone in place.
async fn refused(
    shared: &Shared,
    handler: &Handler,
    delivery: ClaimedDelivery,
    error: DbError,
    run: &LastRun,
) -> Delivered {
    let class = sqlstate::class_of(&error.sqlstate);
    let fault = Fault::new(class, &error.sqlstate, &format!("at commit: {}", error.message));
    let outcome = Outcome::Failed { fault, after: None };
    let attempt = delivery.delivery.attempt;
    let decision = decide(outcome, attempt, Redos(MAX_CONTENTION_REDOS), &handler.policy, draw_jitter());
    let Some(settlement) = failure(handler, decision) else {
        return Delivered::HostFault(error.message);
    };
    let record = record(shared, handler, run);
    let settled = shared
        .store
        .settle_elsewhere(&handler.access, &delivery.delivery, delivery.marks, &settlement, &record)
        .await;
    match settled {
        Ok(Settled::Committed) => {
            report::settled(handler, &delivery, &settlement, run, Duration::ZERO);
            Delivered::Settled
        }
        Ok(Settled::Overtaken | Settled::Refused(_) | Settled::Lost(_)) => {
            report::overtaken(handler, &delivery);
            Delivered::Settled
        }
        Err(error) => Delivered::HostFault(error.explained()),
    }
}

/// The settlement of a counted failure; `None` for decisions that settle nothing.
fn failure(handler: &Handler, decision: Decision) -> Option<Settlement> {
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

async fn redo(handler: &Handler, mut claimed: Claimed, fault: Fault) -> Next {
    report::redone(handler, &claimed.delivery, &fault);
    match claimed.transaction.start_over().await {
        Ok(()) => Next::Redo(Box::new(claimed)),
        Err(error) => Next::Over(Delivered::HostFault(error.explained())),
    }
}

/// The host failed, not the handler: nothing is counted. A connection that died under a guest's
/// own statement leaves a mark, or a guest that kills its backend would loop for ever.
async fn release(shared: &Shared, handler: &Handler, claimed: Claimed, fault: Fault) -> Delivered {
    report::released(handler, &claimed.delivery, &fault);
    let marked = match claimed.transaction.lost() {
        Some(Loss::UnderStatement(_)) => {
            shared.store.mark_crash(&handler.access, &claimed.delivery.delivery.key).await.err()
        }
        Some(Loss::Between(_)) | None => None,
    };
    claimed.transaction.release().await;
    Delivered::HostFault(match marked {
        None => fault.message,
        Some(error) => format!("{}; and the mark could not be written: {}", fault.message, error.explained()),
    })
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

fn draw_jitter() -> Jitter {
    Jitter(rand::rng().random())
}

/// Whether a class counts against the handler in the metrics: every class does but the host's.
pub(super) fn is_handlers_own(class: FaultClass) -> bool {
    class != FaultClass::Host
}
