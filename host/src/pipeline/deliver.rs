//! One claimed delivery from claim to settlement: a late repeat is only counted, a crash suspect
//! is set aside, everything else runs, is decided and is settled. Nothing leaves by `?`: every way
//! out is a [`Delivered`].

use wonce_core::decide::Redos;
use wonce_core::fault::{Fault, FaultClass};
use wonce_core::outcome::Outcome;
use wonce_wasm::{LogLine, Usage};

use super::dispatch::Shared;
use super::handler::Handler;
use super::invoke::{Ran, invoke};
use super::probation::{MAX_MARKS, Turn};
use super::settle::{self, Next};
use crate::crash;
use crate::store::invocation::Claimed;
use crate::store::settle::Settlement;

/// How a delivery left this host's hands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivered {
    /// It is settled, or somebody else took it over: go on.
    Settled,
    /// The host could not do its part, for this reason: back off before the next claim.
    HostFault(String),
}

/// Takes one claimed delivery to its end.
pub(super) async fn deliver(
    shared: &Shared,
    handler: &Handler,
    mut claimed: Claimed,
    probation: Option<&Turn>,
) -> Delivered {
    crash::point("after-claim");
    if let Some(repeat) = claimed.delivery.repeat {
        return settle::write(shared, handler, claimed, Settlement::Repeat(repeat), &LastRun::default())
            .await;
    }
    if claimed.delivery.marks >= MAX_MARKS {
        return settle_outcome(shared, handler, not_run(claimed, crash_suspect()), Redos(u32::MAX)).await;
    }
    if probation.is_some() {
        match shared.store.mark_crash(&handler.access, &claimed.delivery.delivery.key).await {
            Ok(marks) => claimed.delivery.marks = marks,
            Err(error) => {
                claimed.transaction.release().await;
                return Delivered::HostFault(error.explained());
            }
        }
    }
    run_until_settled(shared, handler, claimed).await
}

/// Runs the guest, and again at once while it only lost a race for a lock.
async fn run_until_settled(shared: &Shared, handler: &Handler, mut claimed: Claimed) -> Delivered {
    let mut redos = Redos(0);
    loop {
        crash::point("before-guest");
        let ran = invoke(&shared.sandbox, handler, claimed).await;
        crash::point("after-guest");
        match settle::settle(shared, handler, ran, redos).await {
            Next::Over(delivered) => return delivered,
            Next::Redo(again) => claimed = *again,
        }
        redos = Redos(redos.0 + 1);
    }
}

/// Settles an outcome that no further run may change.
async fn settle_outcome(shared: &Shared, handler: &Handler, ran: Ran, redos: Redos) -> Delivered {
    match settle::settle(shared, handler, ran, redos).await {
        Next::Over(delivered) => delivered,
        Next::Redo(claimed) => {
            claimed.transaction.release().await;
            Delivered::Settled
        }
    }
}

fn crash_suspect() -> Fault {
    Fault::new(
        FaultClass::CrashSuspect,
        "crash-suspect",
        &format!(
            "a host or a database connection died {MAX_MARKS} times while this delivery ran; replay it once the cause is known"
        ),
    )
}

fn not_run(claimed: Claimed, fault: Fault) -> Ran {
    Ran {
        claimed,
        outcome: Outcome::Failed { fault, after: None },
        log: Vec::new(),
        log_dropped: 0,
        usage: Usage::default(),
    }
}

/// What the last run of the guest left for its record.
#[derive(Debug, Default)]
pub(super) struct LastRun {
    pub(super) usage: Usage,
    pub(super) log: Vec<LogLine>,
    pub(super) log_dropped: u64,
}
