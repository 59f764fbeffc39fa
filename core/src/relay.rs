//! The one place that says what becomes of an effect after its sink answered, or did not.
//! Pure: the jitter is handed in, the store adds the wait to the database's clock. Knows
//! nothing of sinks.

use std::time::Duration;

use crate::delivery::Attempt;
use crate::effect::EffectState;
use crate::retry::{Jitter, RetryPolicy};

/// How one attempt to send ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    /// The sink said yes.
    Confirmed,
    /// The sink said no, for good.
    Refused { reason: String },
    /// It certainly did not arrive, or the sink asks to come again. `after` is the sink's
    /// wish for the earliest next try.
    Retry { after: Option<Duration>, reason: String },
    /// It may have arrived: the answer never came, or the host died while sending.
    Unknown { reason: String },
}

/// What a sink's receiver makes of the same effect twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum UnknownPolicy {
    /// Send again under the same key: the receiver drops what it already has.
    #[default]
    Resend,
    /// Keep it for people: the receiver would do it twice.
    Hold,
}

impl UnknownPolicy {
    pub const ALL: [UnknownPolicy; 2] = [UnknownPolicy::Resend, UnknownPolicy::Hold];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            UnknownPolicy::Resend => "resend",
            UnknownPolicy::Hold => "hold",
        }
    }
}

/// Whether an earlier attempt of this effect may have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Doubt {
    None,
    /// An earlier attempt ended as [`SendOutcome::Unknown`].
    MayHaveArrived,
}

/// What becomes of an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendDecision {
    Confirm,
    /// Send it again after this wait. `doubt` must be kept with the row and handed in next time.
    Again {
        after: Duration,
        reason: String,
        doubt: Doubt,
    },
    /// It did not happen and will not.
    Refuse {
        reason: String,
    },
    /// Nobody can say whether it happened; people decide.
    Hold {
        reason: String,
    },
}

impl SendDecision {
    /// The state that goes into the effect's row.
    #[must_use]
    pub fn state(&self) -> EffectState {
        match self {
            SendDecision::Confirm => EffectState::Confirmed,
            SendDecision::Again { .. } => EffectState::Planned,
            SendDecision::Refuse { .. } => EffectState::Refused,
            SendDecision::Hold { .. } => EffectState::Unknown,
        }
    }

    /// The wait before the next attempt, when there is one.
    #[must_use]
    pub fn after(&self) -> Option<Duration> {
        match self {
            SendDecision::Again { after, .. } => Some(*after),
            SendDecision::Confirm | SendDecision::Refuse { .. } | SendDecision::Hold { .. } => None,
        }
    }
}

/// Answers what becomes of an effect whose `attempt` ended in `outcome`. An effect in doubt
/// is never called refused: a later no does not undo an earlier yes that got lost.
#[must_use]
pub fn decide_send(
    outcome: SendOutcome,
    unknown: UnknownPolicy,
    doubt: Doubt,
    attempt: Attempt,
    retry: &RetryPolicy,
    jitter: Jitter,
) -> SendDecision {
    let again = |floor: Option<Duration>, reason: String, doubt: Doubt| {
        if attempt.0 < retry.max_attempts {
            return SendDecision::Again { after: retry.delay(attempt, floor, jitter), reason, doubt };
        }
        give_up(format!("attempts used up ({}): {reason}", attempt.0), doubt)
    };
    match outcome {
        SendOutcome::Confirmed => SendDecision::Confirm,
        SendOutcome::Refused { reason } => give_up(reason, doubt),
        SendOutcome::Retry { after, reason } => again(after, reason, doubt),
        SendOutcome::Unknown { reason } => match unknown {
            UnknownPolicy::Resend => again(None, reason, Doubt::MayHaveArrived),
            UnknownPolicy::Hold => SendDecision::Hold { reason },
        },
    }
}

fn give_up(reason: String, doubt: Doubt) -> SendDecision {
    match doubt {
        Doubt::None => SendDecision::Refuse { reason },
        Doubt::MayHaveArrived => {
            SendDecision::Hold { reason: format!("an earlier attempt may have arrived; then: {reason}") }
        }
    }
}
