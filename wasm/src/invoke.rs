//! One invocation: a fresh store and instance, the call under its deadline, and the judgement
//! of how it ended. Knows nothing of how a component was prepared.

use std::time::{Duration, Instant};

use wasmtime::{Engine, Result, Store, UpdateDeadline};
use wonce_core::event::Event;

use crate::bindings::HandlerPre;
use crate::call::{Call, DeliveryFacts, Ended, Usage};
use crate::convert;
use crate::fault::{self, Ending, Evidence, Stage};
use crate::lent::give_back;
use crate::log::{LogBook, LogLevel, LogLine, LogOrigin};
use crate::prepare::Prepared;
use crate::state::{Facts, Phase, State};
use crate::transaction::Transaction;
use crate::wasi::Captured;

/// What an invocation needs of the sandbox.
pub(crate) struct Room<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) max_memory: usize,
}

/// Runs one call to its end.
pub(crate) async fn invoke<T: Transaction>(
    room: &Room<'_>,
    prepared: &Prepared,
    call: Call,
    transaction: T,
) -> Ended<T> {
    let Call { handler: name, event, delivery, now, settings, emits, limits } = call;
    let statements = prepared.statements().clone();
    let facts = Facts { handler: name, key: delivery.key.clone(), now, settings, emits, limits, statements };
    let state = State::new(facts, room.max_memory, Box::new(transaction));
    let mut store = store(room.engine, state);
    let ending = run(&mut store, prepared.handler(), event, delivery).await;
    conclude(store, ending)
}

/// A store with every limit of the state in place.
pub(crate) fn store(engine: &Engine, state: State) -> Store<State> {
    let deadline = state.deadline();
    let host_call_bytes = usize::try_from(state.facts.limits.host_call_bytes).unwrap_or(usize::MAX);
    let mut store = Store::new(engine, state);
    store.limiter(|state| &mut state.limiter);
    store.set_hostcall_fuel(host_call_bytes);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(move |_| {
        Ok(if Instant::now() >= deadline { UpdateDeadline::Interrupt } else { UpdateDeadline::Yield(1) })
    });
    store
}

/// The deadline covers instantiation, guest code (by the epoch) and host calls (by the timer).
async fn run(
    store: &mut Store<State>,
    handler: &HandlerPre<State>,
    event: Event,
    delivery: DeliveryFacts,
) -> Ending {
    let deadline = tokio::time::Instant::from_std(store.data().deadline());
    let call = async {
        match call(store, handler, event, delivery).await {
            Ok(returned) => Ending::Returned(returned),
            Err((stage, error)) => Ending::Broken(stage, error),
        }
    };
    tokio::time::timeout_at(deadline, call).await.unwrap_or(Ending::Elapsed)
}

type Returned =
    Result<crate::bindings::wonce::handler::types::Outcome, crate::bindings::wonce::handler::types::Failure>;

async fn call(
    store: &mut Store<State>,
    handler: &HandlerPre<State>,
    event: Event,
    delivery: DeliveryFacts,
) -> Result<Returned, (Stage, wasmtime::Error)> {
    let instance =
        handler.instantiate_async(&mut *store).await.map_err(|error| (Stage::Instantiate, error))?;
    store.data_mut().phase = Phase::Handling;
    let (event, delivery) = convert::event(event, delivery);
    let events = instance.wonce_handler_events();
    events.call_handle(&mut *store, &event, &delivery).await.map_err(|error| (Stage::Handle, error))
}

/// Takes the store apart and judges what is left.
fn conclude<T: Transaction>(store: Store<State>, ending: Ending) -> Ended<T> {
    let mut state = store.into_data();
    let printed = state.wasi.printed();
    let evidence = evidence(&mut state, &printed.stderr);
    let outcome = fault::judge(ending, &evidence);
    let usage = usage(&state);
    let interrupted = state.interrupted;
    let (transaction, mut log) = state.into_parts();
    log_output(&mut log, LogOrigin::Stdout, LogLevel::Info, &printed.stdout);
    log_output(&mut log, LogOrigin::Stderr, LogLevel::Warn, &printed.stderr);
    let (log, log_dropped) = log.close();
    Ended { outcome, transaction: give_back(transaction), log, log_dropped, usage, interrupted }
}

pub(crate) fn evidence(state: &mut State, stderr: &Captured) -> Evidence {
    Evidence {
        handler: state.facts.handler.clone(),
        limits: state.facts.limits.clone(),
        memory_refused: state.limiter.refused(),
        aborted_by: state.transaction().aborted_by().cloned(),
        connection_lost: state.connection_lost.take(),
        last_words: stderr.end(),
    }
}

fn usage(state: &State) -> Usage {
    let wall = state.started.elapsed();
    Usage {
        wall,
        guest: wall.checked_sub(state.meters.in_transaction).unwrap_or(Duration::ZERO),
        statements: state.meters.statements,
        effects: u64::from(state.meters.effects),
        peak_memory: state.limiter.peak(),
    }
}

/// What a guest printed becomes log lines under the same limits.
fn log_output(log: &mut LogBook, origin: LogOrigin, level: LogLevel, captured: &Captured) {
    for part in [&captured.kept, &captured.tail] {
        for line in String::from_utf8_lossy(part).lines().filter(|line| !line.trim().is_empty()) {
            log.write(LogLine { level, origin, message: line.to_owned(), fields: Vec::new() });
        }
    }
    if captured.lost > 0 {
        log.lost(1);
    }
}
