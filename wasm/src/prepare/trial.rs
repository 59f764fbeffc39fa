//! Instantiates a component once under tight limits and without a transaction. A type of an
//! export that differs from the contract shows only here, and so does a constructor that
//! loops or calls the host. Knows nothing of events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use wasmtime_wasi::I32Exit;
use wonce_core::event::Micros;
use wonce_core::name::{HandlerName, Key};
use wonce_core::outcome::Outcome;

use crate::bindings::HandlerPre;
use crate::fault::{self, Ending, Stage};
use crate::invoke::{evidence, store};
use crate::known::KnownStatements;
use crate::lent::NoTransaction;
use crate::limits::Limits;
use crate::report::Reason;
use crate::sandbox::Inner;
use crate::state::{Facts, State};
use crate::stop::Stop;

/// A component takes microseconds to set up, an interpreted language a millisecond.
const TRIAL_DEADLINE: Duration = Duration::from_secs(1);
/// The name under which a component is tried out.
const TRIAL: &str = "trial";

/// Sets the component up and drops it again.
pub(super) async fn trial(inner: &Inner, handler: &HandlerPre<State>) -> Result<(), Reason> {
    // The semaphore is never closed; without a permit the pool itself would say no.
    let _slot = inner.trials.acquire().await;
    let settings = &inner.settings;
    let state = State::new(facts(settings.max_memory), settings.max_memory, Box::new(NoTransaction));
    let mut store = store(&inner.engine, state);
    let deadline = tokio::time::Instant::from_std(store.data().deadline());
    let ending = match tokio::time::timeout_at(deadline, handler.instantiate_async(&mut store)).await {
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(error)) if is_mismatch(&error, store.data()) => {
            return Err(Reason::Mismatch(format!("{error:#}")));
        }
        Ok(Err(error)) => Ending::Broken(Stage::Instantiate, error),
        Err(_) => Ending::Elapsed,
    };
    let mut state = store.into_data();
    let stderr = state.wasi.printed().stderr;
    Err(reason(fault::judge(ending, &evidence(&mut state, &stderr))))
}

/// Whether no code of the guest had a part in it.
fn is_mismatch(error: &wasmtime::Error, state: &State) -> bool {
    let ran = error.is::<wasmtime::Trap>() || error.is::<I32Exit>() || error.is::<Stop>();
    !ran && state.limiter.refused().is_none()
}

fn reason(outcome: Outcome) -> Reason {
    match outcome {
        Outcome::Failed { fault, .. } => Reason::Trial { code: fault.code, message: fault.message },
        Outcome::Done | Outcome::Ignored(_) => {
            Reason::Trial { code: "trial".to_owned(), message: "it ended without a reason".to_owned() }
        }
    }
}

fn facts(max_memory: usize) -> Facts {
    Facts {
        handler: HandlerName::parse(TRIAL).expect("the constant is a name"),
        key: Key::parse(TRIAL).expect("the constant is a key"),
        now: Micros(0),
        settings: Arc::new(BTreeMap::new()),
        emits: Arc::new(BTreeSet::new()),
        limits: Limits { deadline: TRIAL_DEADLINE, memory_bytes: max_memory as u64, ..Limits::default() },
        statements: KnownStatements::default(),
    }
}
