//! The one way to count: a function per metric with typed arguments, so that no call site spells
//! a name or a label. Names and meanings are in [`names`], the numbers in one registry, of which
//! there are three faces: [`MetricsHandle::render`] for Prometheus, [`tick`] for the live stream
//! and the export. Knows nothing of what the numbers lead to.
//!
//! Every function is cheap, never waits for anything slow and never fails.

use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use tokio::sync::Semaphore;
use wonce_api::live::tick::Stage;
use wonce_core::alert::AlertRule;
use wonce_core::decide::DeadReason;
use wonce_core::effect::EffectState;
use wonce_core::fault::FaultClass;
use wonce_core::name::{HandlerName, SinkName, SourceName};
use wonce_core::route::ParkReason;

mod count;
pub mod names;
pub(super) mod page;
mod process;
mod registry;
mod text;
pub mod tick;

pub use registry::Fleet;
use registry::{HandlerMeters, REGISTRY};

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

/// What an OTLP receiver is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Traces,
    Metrics,
}

impl Signal {
    pub const ALL: [Signal; 2] = [Signal::Traces, Signal::Metrics];

    /// The word in metrics, logs and the receiver's paths.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Signal::Traces => "traces",
            Signal::Metrics => "metrics",
        }
    }
}

/// What an OTLP receiver made of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exported {
    Taken,
    /// It could not be reached, or cannot take anything just now.
    Failed,
    /// It will never take this.
    Refused,
}

impl Exported {
    pub const ALL: [Exported; 3] = [Exported::Taken, Exported::Failed, Exported::Refused];

    /// The word in metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Exported::Taken => "taken",
            Exported::Failed => "failed",
            Exported::Refused => "refused",
        }
    }
}

/// What became of an attempt to tell the webhook of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    Sent,
    /// It is tried again.
    Failed,
    /// It is not.
    Dropped,
}

impl Told {
    pub const ALL: [Told; 3] = [Told::Sent, Told::Failed, Told::Dropped];

    /// The word in metrics.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Told::Sent => "sent",
            Told::Failed => "failed",
            Told::Dropped => "dropped",
        }
    }
}

/// When the counting began.
static SINCE: LazyLock<SystemTime> = LazyLock::new(SystemTime::now);

/// The registry's reading side.
#[derive(Debug, Clone, Copy)]
pub struct MetricsHandle(());

/// Gives the process' registry; everybody gets the same.
#[must_use]
pub fn install() -> MetricsHandle {
    LazyLock::force(&SINCE);
    MetricsHandle(())
}

impl MetricsHandle {
    /// All metrics in Prometheus' text format.
    #[must_use]
    pub fn render(&self) -> String {
        text::render(&self.page())
    }

    /// When the counting began.
    pub(super) fn since(&self) -> SystemTime {
        *SINCE
    }

    /// The same as data.
    pub(super) fn page(&self) -> page::Page {
        page::page(&REGISTRY)
    }
}

/// Deliveries accepted for a handler.
pub fn accepted(handler: &HandlerName, deliveries: u64) {
    of(handler, |meters| meters.accepted.add(deliveries));
}

/// Duplicates ignored.
pub fn duplicates(handler: &HandlerName, found: Found, deliveries: u64) {
    of(handler, |meters| match found {
        Found::Early => meters.duplicates_early.add(deliveries),
        Found::Late => meters.duplicates_late.add(deliveries),
    });
}

/// A key that came again with another payload.
pub fn key_conflict(handler: &HandlerName) {
    of(handler, |meters| meters.key_conflicts.add(1));
}

/// An event that could not become a delivery and was kept.
pub fn parked(reason: ParkReason) {
    REGISTRY.parked[reason as usize].add(1);
}

/// An event that nobody wants and whose source says to ignore such.
pub fn unrouted_ignored() {
    REGISTRY.unrouted_ignored.add(1);
}

/// One run of a guest, with the time spent inside it.
pub fn invocation(handler: &HandlerName, end: InvocationEnd, guest: Duration) {
    of(handler, |meters| {
        match end {
            InvocationEnd::Done => meters.done.add(1),
            InvocationEnd::Ignored => meters.ignored.add(1),
            InvocationEnd::Failed => meters.failed.add(1),
        }
        meters.stage(Stage::Guest).record(micros(guest));
    });
}

/// A classified failure, counted attempt or not.
pub fn fault(handler: &HandlerName, class: FaultClass) {
    of(handler, |meters| meters.faults[class as usize].add(1));
}

/// A delivery put off for another attempt.
pub fn retry(handler: &HandlerName, class: FaultClass) {
    of(handler, |meters| meters.retries[class as usize].add(1));
}

/// A delivery that ended as a dead letter.
pub fn dead(handler: &HandlerName, reason: DeadReason) {
    of(handler, |meters| meters.dead[reason as usize].add(1));
}

/// Deliveries that people made of dead letters.
pub fn replays(handler: &str, deliveries: u64) {
    REGISTRY.handlers.with(handler, |meters| meters.replays.add(deliveries));
}

/// Effects committed with a delivery.
pub fn effects_committed(handler: &HandlerName, effects: u64) {
    if effects > 0 {
        of(handler, |meters| meters.effects_committed.add(effects));
    }
}

/// An effect that entered a state: `sending` counts attempts, the other states count results
/// (`planned` counts retries).
pub fn effect(handler: &HandlerName, sink: &SinkName, state: EffectState) {
    of(handler, |meters| meters.sinks.with(sink.as_str(), |sink| sink.0[state as usize].add(1)));
}

/// A log line, the host's or a guest's, that a full queue or a used-up budget swallowed.
pub fn log_line_dropped() {
    REGISTRY.log_lines_dropped.add(1);
}

/// An answered request of an HTTP source; none for one that nothing was accepted under.
pub fn http_request(source: Option<&SourceName>, status: u16) {
    let source = source.map_or("other", SourceName::as_str);
    REGISTRY.sources.with(source, |source| source.answered(status));
}

/// The wait for a permit, which is one for a database connection.
pub fn pool_wait(handler: &HandlerName, took: Duration) {
    of(handler, |meters| meters.stage(Stage::PoolWait).record(micros(took)));
}

/// The time of one claim that found work, and for how long each of its deliveries had waited.
pub fn claim(handler: &HandlerName, took: Duration, waits: impl Iterator<Item = Duration>) {
    of(handler, |meters| {
        meters.stage(Stage::Claim).record(micros(took));
        meters.stage(Stage::Wait).record_all(waits.map(micros));
    });
}

/// The time of one commit, and how many deliveries it settled.
pub fn commit(handler: &HandlerName, took: Duration, deliveries: usize) {
    of(handler, |meters| {
        meters.stage(Stage::Commit).record(micros(took));
        meters.stage(Stage::Batch).record(u64::try_from(deliveries).unwrap_or(u64::MAX));
    });
}

/// A batch that was rolled back as a whole and redone singly.
pub fn batch_undone(handler: &HandlerName) {
    of(handler, |meters| meters.batches_undone.add(1));
}

/// From acceptance to the commit that settled the delivery.
pub fn end_to_end(handler: &HandlerName, took: Duration) {
    of(handler, |meters| meters.stage(Stage::EndToEnd).record(micros(took)));
}

/// Where invocations take their permits, and how many there are: read when somebody asks.
pub fn watch_permits(permits: &Arc<Semaphore>, most: usize) {
    REGISTRY.watch_permits(permits, u32::try_from(most).unwrap_or(u32::MAX));
}

/// Log lines that a reader of the live stream came too late for.
pub fn live_log_lines_missed(lines: u64) {
    REGISTRY.live_log_lines_missed.add(lines);
}

/// Readers of the live stream at this host.
pub fn live_readers(readers: usize) {
    REGISTRY.live_readers.store(u32::try_from(readers).unwrap_or(u32::MAX), Ordering::Relaxed);
}

/// An answered or failed request to the OTLP receiver.
pub fn otlp_export(signal: Signal, exported: Exported) {
    REGISTRY.otlp_exports[signal as usize][exported as usize].add(1);
}

/// An attempt to tell the webhook of an alert.
pub fn alert_notice(told: Told) {
    REGISTRY.alert_notices[told as usize].add(1);
}

/// Notices that nobody will send, because too many wait.
pub fn alert_notices_dropped(notices: u64) {
    REGISTRY.alert_notices[Told::Dropped as usize].add(notices);
}

/// An alert rule that a handler of this host has.
pub fn alert_rule(handler: &HandlerName, rule: AlertRule) {
    REGISTRY.watch_alert(handler.as_str(), rule.to_string());
}

/// What the database knows.
pub fn fleet(fleet: Fleet) {
    REGISTRY.set_fleet(fleet);
}

fn of(handler: &HandlerName, count: impl FnOnce(&HandlerMeters)) {
    REGISTRY.handlers.with(handler.as_str(), count);
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
