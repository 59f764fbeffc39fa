//! The one place that says what an outcome means for its delivery. Pure: the jitter is
//! handed in, the store adds the delay to the database's clock.

use std::time::Duration;

use crate::delivery::Attempt;
use crate::fault::{Fault, FaultClass};
use crate::outcome::Outcome;
use crate::retry::{Jitter, RetryPolicy};

/// A trap or an exhausted budget is tried this often: it may have been the neighbour's
/// load, but a broken guest must not run for ever.
pub const MAX_TRAP_ATTEMPTS: u32 = 3;
/// Contention is redone at once this often before it counts as an attempt.
pub const MAX_CONTENTION_REDOS: u32 = 3;

/// Why a delivery is dead. The one word in code, tables, API, metrics and docs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeadReason {
    InvalidPayload,
    Permanent,
    AttemptsExhausted,
    Trap,
    Budget,
    CrashSuspect,
    KeyConflict,
}

impl DeadReason {
    pub const ALL: [DeadReason; 7] = [
        DeadReason::InvalidPayload,
        DeadReason::Permanent,
        DeadReason::AttemptsExhausted,
        DeadReason::Trap,
        DeadReason::Budget,
        DeadReason::CrashSuspect,
        DeadReason::KeyConflict,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            DeadReason::InvalidPayload => "invalid_payload",
            DeadReason::Permanent => "permanent",
            DeadReason::AttemptsExhausted => "attempts_exhausted",
            DeadReason::Trap => "trap",
            DeadReason::Budget => "budget",
            DeadReason::CrashSuspect => "crash_suspect",
            DeadReason::KeyConflict => "key_conflict",
        }
    }
}

/// What becomes of a delivery.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Commit the handler's work. The text is the reason of an ignored event.
    Commit { ignored: Option<String> },
    /// Roll back and try at once again: not an attempt.
    Redo { fault: Fault },
    /// Roll back, count the attempt, try again after this wait.
    Retry { fault: Fault, after: Duration },
    /// Roll back and keep it for people.
    Dead { fault: Fault, reason: DeadReason },
    /// Roll back and leave the delivery as it is: the host failed, not the handler.
    Release { fault: Fault },
}

/// How often this delivery was redone at once for contention since it was claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redos(pub u32);

/// Answers what becomes of a delivery whose `attempt` ended in `outcome`.
#[must_use]
pub fn decide(
    outcome: Outcome,
    attempt: Attempt,
    redos: Redos,
    policy: &RetryPolicy,
    jitter: Jitter,
) -> Decision {
    let (fault, after) = match outcome {
        Outcome::Done => return Decision::Commit { ignored: None },
        Outcome::Ignored(reason) => return Decision::Commit { ignored: Some(reason) },
        Outcome::Failed { fault, after } => (fault, after),
    };
    let counted = |fault: Fault, limit: u32, exhausted: DeadReason| {
        if attempt.0 >= limit {
            Decision::Dead { fault, reason: exhausted }
        } else {
            Decision::Retry { fault, after: policy.delay(attempt, after, jitter) }
        }
    };
    match fault.class {
        FaultClass::Host => Decision::Release { fault },
        FaultClass::InvalidPayload => Decision::Dead { fault, reason: DeadReason::InvalidPayload },
        FaultClass::Permanent => Decision::Dead { fault, reason: DeadReason::Permanent },
        FaultClass::CrashSuspect => Decision::Dead { fault, reason: DeadReason::CrashSuspect },
        FaultClass::Contention if redos.0 < MAX_CONTENTION_REDOS => Decision::Redo { fault },
        FaultClass::Contention | FaultClass::Transient | FaultClass::Database => {
            counted(fault, policy.max_attempts, DeadReason::AttemptsExhausted)
        }
        FaultClass::Trap => counted(fault, policy.max_attempts.min(MAX_TRAP_ATTEMPTS), DeadReason::Trap),
        FaultClass::Budget => counted(fault, policy.max_attempts.min(MAX_TRAP_ATTEMPTS), DeadReason::Budget),
    }
}
