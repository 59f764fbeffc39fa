//! `[retry]` and `[limits]`, for handlers (the author's wish, then the operator's word) and
//! for sinks. Each is read over a policy that gives what is not written. Knows nothing of
//! how a limit is enforced.

use std::ops::RangeInclusive;
use std::time::Duration;

use wonce_core::retry::RetryPolicy;
pub use wonce_wasm::Limits;

use super::reader::Reader;
use super::units::{show_duration, show_size};

const MAX_ATTEMPTS: u32 = 1_000;
const MAX_FACTOR: f64 = 100.0;
const DAY: Duration = Duration::from_secs(86_400);
const DELAY: RangeInclusive<Duration> = Duration::from_millis(1)..=DAY;
const DEADLINE: RangeInclusive<Duration> = Duration::from_millis(1)..=MAX_DEADLINE;
/// A longer transaction would hold back vacuum for everybody.
pub const MAX_DEADLINE: Duration = Duration::from_secs(60);
/// The most is what the sandbox's slots are laid out for.
const MEMORY: RangeInclusive<u64> = 1 << 20..=256 << 20;
const SIZE: RangeInclusive<u64> = 1..=1 << 30;
const COUNT: RangeInclusive<u64> = 0..=10_000_000;

/// Reads a `retry` table over the policy that holds without it.
pub(crate) fn read_retry(table: &mut Reader<'_, '_>, otherwise: &RetryPolicy) -> RetryPolicy {
    let policy = RetryPolicy {
        max_attempts: table.count("max_attempts", 1..=MAX_ATTEMPTS, otherwise.max_attempts),
        first: table.duration("first", DELAY, otherwise.first),
        factor: table.float("factor", 1.0..=MAX_FACTOR, otherwise.factor),
        ceiling: table.duration("ceiling", DELAY, otherwise.ceiling),
        jitter: table.duration("jitter", Duration::ZERO..=DAY, otherwise.jitter),
    };
    if policy.first > policy.ceiling {
        let key = if table.given("first") { "first" } else { "ceiling" };
        let (first, ceiling) = (show_duration(policy.first), show_duration(policy.ceiling));
        let reason = format!("the first wait, {first}, is longer than the ceiling of all waits, {ceiling}");
        table.complain(key, reason, "lower first or raise ceiling");
    }
    policy
}

/// Reads what an author may wish for: the deadline and the memory.
pub(crate) fn read_wishes(table: &mut Reader<'_, '_>, otherwise: &Limits) -> Limits {
    Limits {
        deadline: table.duration("deadline", DEADLINE, otherwise.deadline),
        memory_bytes: table.size("memory", MEMORY, otherwise.memory_bytes),
        ..otherwise.clone()
    }
}

/// Reads the operator's `limits` table over the author's wishes.
pub(crate) fn read_limits(table: &mut Reader<'_, '_>, otherwise: &Limits) -> Limits {
    let wished = read_wishes(table, otherwise);
    let mut count = |key: &str, otherwise: u64| table.integer(key, COUNT).unwrap_or(otherwise);
    let (statements, result_rows) =
        (count("statements", otherwise.statements), count("result_rows", otherwise.result_rows));
    let (log_lines, effects) = (count("log_lines", otherwise.log_lines), count("effects", otherwise.effects));
    let limits = Limits {
        statements,
        result_rows,
        log_lines,
        effects,
        result_bytes: table.size("result_bytes", SIZE, otherwise.result_bytes),
        statement_bytes: table.size("statement_bytes", SIZE, otherwise.statement_bytes),
        log_bytes: table.size("log_bytes", SIZE, otherwise.log_bytes),
        effect_bytes: table.size("effect_bytes", SIZE, otherwise.effect_bytes),
        host_call_bytes: table.size("host_call_bytes", SIZE, otherwise.host_call_bytes),
        ..wished
    };
    check_copies(table, &limits);
    limits
}

/// What is copied in one call must fit in a call, and a call in the guest's memory.
fn check_copies(table: &mut Reader<'_, '_>, limits: &Limits) {
    let copied = [("result_bytes", limits.result_bytes), ("statement_bytes", limits.statement_bytes)];
    for (key, bytes) in copied {
        if bytes > limits.host_call_bytes {
            let place = if table.given(key) { key } else { "host_call_bytes" };
            let (bytes, most) = (show_size(bytes), show_size(limits.host_call_bytes));
            let reason =
                format!("{key}, {bytes}, could never be used up: one call carries host_call_bytes, {most}");
            table.complain(place, reason, format!("raise host_call_bytes or lower {key}"));
        }
    }
    if limits.host_call_bytes > limits.memory_bytes {
        let key = if table.given("host_call_bytes") { "host_call_bytes" } else { "memory" };
        let (bytes, memory) = (show_size(limits.host_call_bytes), show_size(limits.memory_bytes));
        let reason = format!("host_call_bytes, {bytes}, is more than the guest's whole memory, {memory}");
        table.complain(key, reason, "raise memory or lower host_call_bytes");
    }
}
