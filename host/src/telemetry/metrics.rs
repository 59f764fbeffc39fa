//! The one way to count: a function per metric with typed arguments, so that no call site spells
//! a name or a label. Names and meanings are in [`names`], the text for Prometheus comes from
//! [`exporter`]. Knows nothing of what the numbers lead to.
//!
//! Every function is cheap, never waits and does nothing until [`install`] was called.

use std::time::Duration;

use metrics::{counter, gauge, histogram};
use wonce_core::decide::DeadReason;
use wonce_core::effect::EffectState;
use wonce_core::fault::FaultClass;
use wonce_core::name::{HandlerName, SinkName, SourceName};
use wonce_core::route::ParkReason;

use crate::store::gauges::HandlerCounts;

pub mod exporter;
pub mod names;

pub use exporter::{MetricsHandle, install};

/// When a duplicate was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// By the courtesy look at intake.
    Early,
    /// By the guarantee, when it was claimed.
    Late,
}

/// How an invocation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvocationEnd {
    Done,
    Ignored,
    Failed,
}

/// Deliveries accepted for a handler.
pub fn accepted(handler: &HandlerName, deliveries: u64) {
    counter!(names::ACCEPTED.name, "handler" => text(handler)).increment(deliveries);
}

/// Duplicates ignored.
pub fn duplicates(handler: &HandlerName, found: Found, deliveries: u64) {
    let found = match found {
        Found::Early => "early",
        Found::Late => "late",
    };
    counter!(names::DUPLICATES.name, "handler" => text(handler), "found" => found).increment(deliveries);
}

/// A key that came again with another payload.
pub fn key_conflict() {
    counter!(names::KEY_CONFLICTS.name).increment(1);
}

/// An event that could not become a delivery and was kept.
pub fn parked(reason: ParkReason) {
    counter!(names::PARKED.name, "reason" => reason.as_str()).increment(1);
}

/// An event that nobody wants and whose source says to ignore such.
pub fn unrouted_ignored() {
    counter!(names::UNROUTED_IGNORED.name).increment(1);
}

/// One run of a guest, with the time spent inside it.
pub fn invocation(handler: &HandlerName, end: InvocationEnd, guest: Duration) {
    let outcome = match end {
        InvocationEnd::Done => "done",
        InvocationEnd::Ignored => "ignored",
        InvocationEnd::Failed => "failed",
    };
    counter!(names::INVOCATIONS.name, "handler" => text(handler), "outcome" => outcome).increment(1);
    histogram!(names::GUEST.name).record(guest);
}

/// A classified failure, counted attempt or not.
pub fn fault(handler: &HandlerName, class: FaultClass) {
    counter!(names::FAULTS.name, "handler" => text(handler), "class" => class.as_str()).increment(1);
}

/// A delivery put off for another attempt.
pub fn retry(handler: &HandlerName, class: FaultClass) {
    counter!(names::RETRIES.name, "handler" => text(handler), "class" => class.as_str()).increment(1);
}

/// A delivery that ended as a dead letter.
pub fn dead(handler: &HandlerName, reason: DeadReason) {
    counter!(names::DEAD.name, "handler" => text(handler), "reason" => reason.as_str()).increment(1);
}

/// Dead letters sent back by people.
pub fn replays(letters: u64) {
    counter!(names::REPLAYS.name).increment(letters);
}

/// An effect that entered a state: `sending` counts attempts, the other states count results
/// (`planned` counts retries).
pub fn effect(sink: &SinkName, state: EffectState) {
    counter!(names::EFFECTS.name, "sink" => sink.to_string(), "state" => state.as_str()).increment(1);
}

/// A log line, the host's or a guest's, that a full queue or a used-up budget swallowed.
pub fn log_line_dropped() {
    counter!(names::LOG_LINES_DROPPED.name).increment(1);
}

/// An answered request of an HTTP source; none for one that nothing was accepted under.
pub fn http_request(source: Option<&SourceName>, status: u16) {
    let source = source.map_or_else(|| "other".to_owned(), ToString::to_string);
    counter!(names::HTTP_REQUESTS.name, "source" => source, "status" => status.to_string()).increment(1);
}

/// The wait for a database connection.
pub fn pool_wait(took: Duration) {
    histogram!(names::POOL_WAIT.name).record(took);
}

/// The time of one claim that found work.
pub fn claim(took: Duration) {
    histogram!(names::CLAIM.name).record(took);
}

/// The time of one commit, and how many deliveries it settled.
pub fn commit(took: Duration, deliveries: usize) {
    histogram!(names::COMMIT.name).record(took);
    histogram!(names::BATCH.name).record(count(deliveries));
}

/// A batch that was rolled back as a whole and redone singly.
pub fn batch_undone(handler: &HandlerName) {
    counter!(names::BATCHES_UNDONE.name, "handler" => text(handler)).increment(1);
}

/// From acceptance to the commit that settled the delivery.
pub fn end_to_end(handler: &HandlerName, took: Duration) {
    histogram!(names::END_TO_END.name, "handler" => text(handler)).record(took);
}

/// Invocations that run at this moment.
pub fn permits_in_use(permits: usize) {
    gauge!(names::PERMITS_IN_USE.name).set(count(permits));
}

/// Sets the gauges of one handler; see [`crate::telemetry::gauges`].
pub fn handler_gauges(now: &HandlerCounts) {
    let handler = || now.handler.clone();
    gauge!(names::INBOX_DEPTH.name, "handler" => handler()).set(now.inbox_depth);
    gauge!(names::INBOX_DUE.name, "handler" => handler()).set(now.inbox_due);
    gauge!(names::SCHEDULED_RETRIES.name, "handler" => handler()).set(now.scheduled_retries);
    gauge!(names::DEAD_LETTERS.name, "handler" => handler()).set(now.dead_letters);
    gauge!(names::OLDEST_DUE_AGE.name, "handler" => handler()).set(now.oldest_due_age.as_secs_f64());
}

/// Sets how many effects of a sink stand in a state.
pub fn outbox_gauge(sink: &str, state: EffectState, effects: u32) {
    gauge!(names::OUTBOX.name, "sink" => sink.to_owned(), "state" => state.as_str()).set(effects);
}

/// Says when the database gauges were read, so that a stale number can be told from a fresh one.
pub fn gauges_read_at(at: jiff::Timestamp) {
    gauge!(names::GAUGES_READ.name).set(at.as_duration().as_secs_f64());
}

fn text(handler: &HandlerName) -> String {
    handler.as_str().to_owned()
}

/// Counts of things that a process holds are far below 2^32.
fn count(things: usize) -> u32 {
    u32::try_from(things).unwrap_or(u32::MAX)
}
