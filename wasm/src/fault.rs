//! What an ending means: every way out of a guest becomes one outcome here. Decides only; knows
//! nothing of stores or transactions beyond the evidence it is given.

mod budget;
mod guest;
mod trap;

use wonce_core::fault::{Fault, FaultClass};
use wonce_core::name::HandlerName;
use wonce_core::outcome::Outcome;
use wonce_core::sql::DbError;

use crate::bindings::wonce::handler::types;
use crate::limits::Limits;
use crate::stop::Stop;

pub(crate) use trap::Stage;

/// How the call came back.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The guest returned.
    Returned(Result<types::Outcome, types::Failure>),
    /// The deadline passed.
    Elapsed,
    /// wasmtime ended it.
    Broken(Stage, wasmtime::Error),
}

/// What the call left behind.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) handler: HandlerName,
    pub(crate) limits: Limits,
    /// The total of memory that was refused, in bytes.
    pub(crate) memory_refused: Option<u64>,
    pub(crate) aborted_by: Option<DbError>,
    pub(crate) connection_lost: Option<String>,
    /// The last words on stderr: a panic's text is only there.
    pub(crate) last_words: String,
}

/// Judges the ending. A lost connection comes first and the host's own reasons next, since
/// what a guest says after them is only an echo; the deadline before the database, since a
/// cancelled statement is the deadline's doing.
pub(crate) fn judge(ending: Ending, evidence: &Evidence) -> Outcome {
    if let Some(why) = &evidence.connection_lost {
        let message = format!("the connection of the transaction was lost: {why}");
        return failed(Fault::new(FaultClass::Host, "connection-lost", &message));
    }
    match ending {
        Ending::Elapsed => failed(budget::deadline(evidence)),
        Ending::Returned(Ok(outcome)) => weighed(guest::success(outcome), evidence),
        Ending::Returned(Err(failure)) => weighed(guest::failure(failure), evidence),
        Ending::Broken(stage, error) => match stop_of(&error) {
            Some(stop) => failed(stop_fault(stop, evidence)),
            None if trap::is_interrupt(&error) => failed(budget::deadline(evidence)),
            None => weighed(failed(trap::fault(stage, &error, evidence)), evidence),
        },
    }
}

/// The database's word on what the guest came to, if it aborted the transaction.
fn weighed(outcome: Outcome, evidence: &Evidence) -> Outcome {
    match &evidence.aborted_by {
        Some(error) => outcome.aborted_by(error),
        None => outcome,
    }
}

fn stop_of(error: &wasmtime::Error) -> Option<&Stop> {
    error.downcast_ref::<Stop>()
}

fn stop_fault(stop: &Stop, evidence: &Evidence) -> Fault {
    match stop {
        Stop::StatementFlood => budget::statements(evidence),
        Stop::Host(_) => Fault::new(FaultClass::Host, "transaction", &stop.to_string()),
        Stop::Early(_) => Fault::new(FaultClass::Trap, "early-import", &stop.to_string()),
    }
}

fn failed(fault: Fault) -> Outcome {
    Outcome::Failed { fault, after: None }
}
