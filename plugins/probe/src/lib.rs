//! The scripted guest of the host's own tests: the event's payload says what the guest does, well-behaved or not.
//!
//! ```json
//! { "steps": [ {"sql": "insert into t values ($1)", "params": [{"int8": 5}]}, {"emit": {"data": 1}} ], "end": "done" }
//! ```
//!
//! Steps run in order. A step with an unknown name or unknown members makes the event `rejected`
//! (`undecodable-payload`) before the first step runs.
//!
//! | step | what the guest does |
//! |---|---|
//! | `{"sql": S, "params": [V…]}` | `sql.execute` |
//! | `{"query": S, "params": [V…], "emit_rows": true}` | `sql.query`; with `emit_rows` the answer leaves as an effect `probe.rows`: `{"columns": [[name, type]…], "rows": [[V…]…]}` |
//! | `{"queue": S, "params": [V…]}` | `sql.queue`; a failure may come out at a later statement, or when the guest has ended |
//! | … `"expect_error": true \| "42501"` | goes on if the statement fails (that way); `permanent` `probe-unexpected` if not. A word names the other errors: `aborted`, `parameter`, `denied`, `limit`, `connection-lost` |
//! | … `"ignore_error": true` | goes on either way |
//! | … none of both | a failed statement ends the call by `?`, as in any handler |
//! | `{"fail_unless_sql": S}` | `permanent` `probe-unexpected` unless S returns one row holding `true` |
//! | `{"emit": {"sink": "out", "type": "probe.out", "data": JSON, "ordering_key": S, "dedup_key": S, "delay_ms": N, "bytes": N, "ignore_error": true}}` | `outbox.emit`; every member is optional, `bytes` makes a payload of that size |
//! | `{"emit_facts": true}` | an effect `probe.facts` with all that the guest can see: event, delivery, `now`, `remaining_ms`, `stable_uuid` of "probe", the setting `greeting`, WASI's clocks and random seed |
//! | `{"log": "text"}` or `{"log": {"level": "warn", "message": S, "fields": {"a": "b"}}}` | one log line |
//! | `{"log_flood": N}`, `{"big_log": N}` | N lines; one line of N bytes |
//! | `{"stdout": S}`, `{"stderr": S}` | prints a line |
//! | `{"require_attempt": N}` | `retry` `probe-too-early` before attempt N |
//! | `{"loop": true}` | never returns |
//! | `{"alloc_mib": N}` | takes and touches N MiB |
//! | `{"recurse": true}` | recurses without end |
//! | `{"abort": true}`, `{"exit": N}`, `{"panic": S}` | ends the guest in that way |
//! | `{"sleep_ms": N}` | sleeps through WASI |
//! | `{"read_file": S}`, `{"connect": "host:port"}`, `{"env": true}` | tries to reach the world: goes on when that is denied (or empty), `permanent` `probe-escaped` when it is not |
//!
//! `end` (default `"done"`) is `"done"`, `{"ignored": S}`, `{"retry": {"code": S, "message": S, "after_ms": N}}`,
//! `{"permanent": {"code": S, "message": S}}`, `{"rejected": {…}}` or `{"error_bytes": N}`, a `permanent` failure with
//! a message of N bytes.
//!
//! A value V is `null`, a boolean, a string (`text`), a whole number (`int8`), another number (`float8`), or an object
//! that names its case in the contract: `{"int2": 1}`, `{"uuid": "…"}`, `{"timestamptz": 0}`, `{"bytea": [0, 255]}`,
//! `{"interval": [months, days, micros]}`, `{"text-array": ["a", null]}`, `{"other": ["int4range", "[1,2)"]}`.

mod misbehave;
mod reach;
mod script;
mod step;
mod value;

use script::{Ending, Problem, Script};
use wonce::prelude::*;

#[wonce::handler]
fn handle(event: Event, delivery: Delivery) -> wonce::Result {
    let script: Script = event.json()?;
    for step in script.steps {
        step::run(step, &event, &delivery)?;
    }
    end(script.end)
}

fn end(ending: Ending) -> wonce::Result {
    match ending {
        Ending::Done => Ok(Done),
        Ending::Ignored(reason) => Ok(ignored(reason)),
        Ending::Retry(problem) => Err(again(problem)),
        Ending::Permanent(problem) => Err(permanent(problem.code, problem.message)),
        Ending::Rejected(problem) => Err(rejected(problem.code, problem.message)),
        Ending::ErrorBytes(size) => Err(permanent("probe-large", "x".repeat(size))),
    }
}

fn again(problem: Problem) -> Failure {
    match problem.after_ms {
        Some(wait) => retry_after(problem.code, problem.message, std::time::Duration::from_millis(wait)),
        None => retry(problem.code, problem.message),
    }
}
