//! Says in words why a dead letter stays as it is, and what would help.

use axum::http::StatusCode;
use wonce_api::dead_letter::RESTORABLE_DAYS;

use super::refusal::Refusal;
use crate::store::dead_letter::Hindrance;

/// What was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Show,
    Replay,
    Discard,
    Restore,
    Edit,
}

impl Verb {
    fn as_str(self) -> &'static str {
        match self {
            Verb::Show => "shown",
            Verb::Replay => "replayed",
            Verb::Discard => "discarded",
            Verb::Restore => "restored",
            Verb::Edit => "edited",
        }
    }
}

pub(super) fn refuse(verb: Verb, id: i64, hindrance: Hindrance) -> Refusal {
    let (status, word, title) = kind(hindrance);
    let reason = reason(verb, id, hindrance);
    Refusal::new(status, word, title, format!("dead letter {id} cannot be {}: {reason}", verb.as_str()))
}

fn kind(hindrance: Hindrance) -> (StatusCode, &'static str, &'static str) {
    match hindrance {
        Hindrance::Unknown => (StatusCode::NOT_FOUND, "not-found", "There is no such thing"),
        Hindrance::WasReplayed => (StatusCode::CONFLICT, "already-replayed", "It was replayed already"),
        Hindrance::WasDiscarded => (StatusCode::CONFLICT, "already-discarded", "It was discarded already"),
        Hindrance::IsOpen => (StatusCode::CONFLICT, "is-open", "It is open"),
        Hindrance::TooLate => (StatusCode::CONFLICT, "too-late", "It was discarded too long ago"),
        Hindrance::Parked => (StatusCode::CONFLICT, "parked", "Routing is not available here"),
        Hindrance::KeepsKey => (StatusCode::UNPROCESSABLE_ENTITY, "keeps-key", "It keeps its key"),
        Hindrance::NeedsKey => (StatusCode::UNPROCESSABLE_ENTITY, "needs-key", "A new key is needed"),
        Hindrance::KeyTaken => (StatusCode::CONFLICT, "key-taken", "The new key is taken"),
        Hindrance::RepeatPending => (StatusCode::CONFLICT, "repeat-pending", "A repeat is in the way"),
        Hindrance::NoLedgerRow => (StatusCode::CONFLICT, "books-differ", "The books do not fit"),
    }
}

fn reason(verb: Verb, id: i64, hindrance: Hindrance) -> String {
    let reason = match hindrance {
        Hindrance::Unknown => "there is none with this id; `wonce dead list --state any` shows all",
        Hindrance::WasReplayed => {
            "it was replayed before, and that happens once; `wonce event show` tells what became of it"
        }
        Hindrance::WasDiscarded => {
            "it was given up before; `wonce dead restore` takes that back for some days, after that send the event again under a \
             new key"
        }
        Hindrance::IsOpen => "it is not discarded, so there is nothing to take back; replay or discard it",
        Hindrance::TooLate => {
            return format!(
                "it was discarded more than {RESTORABLE_DAYS} days ago, and that is final; `wonce dead show {id}` and `wonce dead \
                 export --state discarded` still have its payload: send the event again under a new key if it matters"
            );
        }
        Hindrance::Parked => {
            "it is a parked event, which must be routed anew, and this host does not take events in; ask a host that \
             runs the intake"
        }
        Hindrance::KeepsKey => {
            "only a key conflict is replayed under a new key; every other event keeps its own, or it could happen twice; \
             leave --key out"
        }
        Hindrance::NeedsKey => {
            "its key belongs to another payload; compare both with `wonce dead show`, then pass a new key with --key, or \
             discard it"
        }
        Hindrance::KeyTaken => "the handler has a delivery under this key already; choose another with --key",
        Hindrance::RepeatPending => {
            "another event with its key waits in the inbox to be recognised as a repeat; try again in a moment, and \
             resume the handler if it is paused"
        }
        Hindrance::NoLedgerRow => match verb {
            Verb::Restore => "the ledger has no discarded row for it; `wonce verify` shows what differs",
            Verb::Show | Verb::Replay | Verb::Discard | Verb::Edit => {
                "the ledger has no dead row for it, so a replay could run it twice; `wonce verify` shows what differs"
            }
        },
    };
    reason.to_owned()
}

impl Refusal {
    pub(super) fn still_parked(id: i64, reason: &str) -> Self {
        let detail = format!("parked event {id} still cannot become a delivery: {reason}");
        Self::new(StatusCode::CONFLICT, "still-parked", "It stays parked", detail)
    }

    pub(super) fn intake_unavailable(id: i64, reason: &str) -> Self {
        let detail =
            format!("parked event {id} could not be accepted: {reason}; it is still parked, ask again");
        let title = "The intake is not available";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "intake-unavailable", title, detail)
    }
}
