//! The registry at one moment as plain data, metric by metric: the same page for Prometheus' text and
//! for the export, so that both say the same. Knows nothing of how it is written down.

use std::collections::BTreeMap;

use wonce_api::live::gauges::{Gauges, HandlerGauges, SinkGauges};
use wonce_api::live::tick::{Counters, Stage};

use super::count::Total;
use super::names::{self, Metric};
use super::process;
use super::registry::{Fleet, HandlerMeters, Registry};
use super::{Exported, Signal, Told};

/// The handler that parked events are shown under, which have none.
const NO_HANDLER: &str = "-";

/// Every metric that there is something to say of, once.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::telemetry) struct Page(Vec<Family>);

/// A metric and its numbers.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::telemetry) struct Family {
    pub(in crate::telemetry) metric: &'static Metric,
    pub(in crate::telemetry) points: Vec<Point>,
}

/// One number of a metric.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::telemetry) struct Point {
    /// In the order of the metric's labels.
    pub(in crate::telemetry) labels: Vec<String>,
    pub(in crate::telemetry) value: Value,
}

/// What a point says, in the unit of its metric.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::telemetry) enum Value {
    Whole(u64),
    Real(f64),
    Distribution(Distribution),
}

/// A histogram.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::telemetry) struct Distribution {
    pub(in crate::telemetry) count: u64,
    pub(in crate::telemetry) sum: f64,
    /// Upper bounds of the buckets, rising.
    pub(in crate::telemetry) bounds: Vec<f64>,
    /// One more than bounds: the last holds what is above all of them. Not cumulative.
    pub(in crate::telemetry) buckets: Vec<u64>,
}

/// All metrics as they are now.
pub(super) fn page(registry: &Registry) -> Page {
    let mut page = Page(Vec::new());
    let handlers = registry.handlers.all();
    let counted: Vec<(&str, Counters)> =
        handlers.iter().map(|(name, meters)| (name.as_str(), meters.counters())).collect();
    intake(&mut page, registry, &counted);
    endings(&mut page, &counted);
    effects(&mut page, &handlers, &counted);
    sources(&mut page, registry);
    stages(&mut page, &handlers);
    process_of(&mut page, registry);
    if let Some(fleet) = registry.fleet() {
        fleet_of(&mut page, &fleet);
        alerts_of(&mut page, registry, &fleet);
    }
    page
}

fn intake(page: &mut Page, registry: &Registry, counted: &[(&str, Counters)]) {
    page.each(&names::ACCEPTED, counted, |c| c.accepted);
    page.begin(&names::DUPLICATES);
    for (handler, counters) in counted {
        page.sample(&names::DUPLICATES, &[handler, "early"], counters.duplicates_early);
        page.sample(&names::DUPLICATES, &[handler, "late"], counters.duplicates_late);
    }
    page.each(&names::KEY_CONFLICTS, counted, |c| c.key_conflicts);
    page.begin(&names::PARKED);
    for (reason, n) in registry.parked_by_reason() {
        page.sample(&names::PARKED, &[&reason], n);
    }
    page.only(&names::UNROUTED_IGNORED, registry.unrouted_ignored.get());
}

fn endings(page: &mut Page, counted: &[(&str, Counters)]) {
    page.begin(&names::INVOCATIONS);
    for (handler, c) in counted {
        for (outcome, n) in [("done", c.done), ("ignored", c.ignored), ("failed", c.failed)] {
            page.sample(&names::INVOCATIONS, &[handler, outcome], n);
        }
    }
    page.words(&names::FAULTS, counted, |c| &c.faults);
    page.words(&names::RETRIES, counted, |c| &c.retries);
    page.words(&names::DEAD, counted, |c| &c.dead);
    page.each(&names::REPLAYS, counted, |c| c.replays);
    page.each(&names::BATCHES_UNDONE, counted, |c| c.batches_undone);
}

fn effects(
    page: &mut Page,
    handlers: &[(String, std::sync::Arc<HandlerMeters>)],
    counted: &[(&str, Counters)],
) {
    page.each(&names::EFFECTS_COMMITTED, counted, |c| c.effects_committed);
    page.begin(&names::EFFECTS);
    for (handler, meters) in handlers {
        for (sink, effects) in meters.sinks.all() {
            for (state, n) in effects.by_state() {
                page.sample(&names::EFFECTS, &[handler, &sink, &state], n);
            }
        }
    }
}

fn sources(page: &mut Page, registry: &Registry) {
    page.begin(&names::HTTP_REQUESTS);
    for (source, meters) in registry.sources.all() {
        for (status, n) in meters.answers() {
            page.sample(&names::HTTP_REQUESTS, &[&source, &status], n);
        }
    }
}

fn stages(page: &mut Page, handlers: &[(String, std::sync::Arc<HandlerMeters>)]) {
    for stage in Stage::ALL {
        let (metric, per_unit) = metric_of(stage);
        page.begin(metric);
        for (handler, meters) in handlers {
            let recorder = meters.stage(stage);
            page.sample(metric, &[handler], Distribution::of(recorder.bounds(), recorder.total(), per_unit));
        }
    }
}

/// The metric of a stage, and how many of what is recorded make one of what is shown.
fn metric_of(stage: Stage) -> (&'static Metric, f64) {
    const MICROS: f64 = 1e6;
    match stage {
        Stage::PoolWait => (&names::POOL_WAIT, MICROS),
        Stage::Claim => (&names::CLAIM, MICROS),
        Stage::Guest => (&names::GUEST, MICROS),
        Stage::Commit => (&names::COMMIT, MICROS),
        Stage::Wait => (&names::WAIT, MICROS),
        Stage::EndToEnd => (&names::END_TO_END, MICROS),
        Stage::Batch => (&names::BATCH, 1.0),
    }
}

fn process_of(page: &mut Page, registry: &Registry) {
    let (in_use, permits) = registry.permits();
    page.only(&names::LOG_LINES_DROPPED, registry.log_lines_dropped.get());
    page.only(&names::LIVE_LOG_LINES_MISSED, registry.live_log_lines_missed.get());
    page.begin(&names::ALERT_NOTICES);
    for (told, n) in Told::ALL.iter().zip(&registry.alert_notices) {
        page.sample(&names::ALERT_NOTICES, &[told.as_str()], n.get());
    }
    page.begin(&names::OTLP_EXPORTS);
    for (signal, exports) in Signal::ALL.iter().zip(&registry.otlp_exports) {
        for (exported, n) in Exported::ALL.iter().zip(exports) {
            page.sample(&names::OTLP_EXPORTS, &[signal.as_str(), exported.as_str()], n.get());
        }
    }
    page.only(&names::PERMITS_IN_USE, in_use);
    page.only(&names::PERMITS, permits);
    page.only(&names::LIVE_READERS, registry.live_readers());
    if let Some(milliseconds) = process::cpu_ms() {
        page.only(&names::PROCESS_CPU, seconds(milliseconds));
    }
    if let Some(bytes) = process::memory_bytes() {
        page.only(&names::PROCESS_MEMORY, bytes);
    }
    page.begin(&names::BUILD_INFO);
    page.sample(&names::BUILD_INFO, &[env!("CARGO_PKG_VERSION")], 1_u64);
}

fn fleet_of(page: &mut Page, fleet: &Fleet) {
    let gauges = &fleet.gauges;
    handler_gauges(page, gauges);
    page.only(&names::SUBMITTED, gauges.submitted.n);
    page.begin(&names::OUTBOX);
    for sink in &gauges.sinks {
        for (state, n) in by_state(sink) {
            page.sample(&names::OUTBOX, &[&sink.sink, state], n);
        }
    }
    page.begin(&names::OLDEST_PLANNED_AGE);
    for sink in &gauges.sinks {
        let age = seconds(sink.oldest_planned_ms.unwrap_or(0));
        page.sample(&names::OLDEST_PLANNED_AGE, &[&sink.sink], age);
    }
    page.begin(&names::HOSTS);
    for (state, n) in &fleet.hosts {
        page.sample(&names::HOSTS, &[state], *n);
    }
    if let Some(books) = &gauges.books {
        page.only(&names::BOOKS_HOLD, u8::from(books.holds));
        if let Ok(at) = books.at.parse::<jiff::Timestamp>() {
            page.only(&names::BOOKS_READ, at.as_duration().as_secs_f64());
        }
    }
    page.only(&names::GAUGES_READ, fleet.read_at.as_duration().as_secs_f64());
}

fn alerts_of(page: &mut Page, registry: &Registry, fleet: &Fleet) {
    page.begin(&names::ALERT_FIRING);
    for alert in registry.watched_alerts().union(&fleet.alerts) {
        let is_firing = u8::from(fleet.alerts.contains(alert));
        page.sample(&names::ALERT_FIRING, &[&alert.0, &alert.1], is_firing);
    }
}

fn handler_gauges(page: &mut Page, gauges: &Gauges) {
    let handlers = &gauges.handlers;
    page.gauge(&names::INBOX_DEPTH, handlers, |h| h.depth.n);
    page.gauge(&names::INBOX_DUE, handlers, |h| h.due.n);
    page.gauge(&names::OLDEST_DUE_AGE, handlers, |h| seconds(h.oldest_due_ms.unwrap_or(0)));
    page.gauge(&names::SCHEDULED_RETRIES, handlers, |h| h.scheduled_retries.n);
    page.gauge(&names::DEAD_LETTERS, handlers, |h| h.dead.n);
    page.sample(&names::DEAD_LETTERS, &[NO_HANDLER], gauges.parked.n);
    page.gauge(&names::OLDEST_DEAD_AGE, handlers, |h| seconds(h.oldest_dead_ms.unwrap_or(0)));
}

fn by_state(sink: &SinkGauges) -> [(&'static str, u64); 4] {
    [
        ("planned", sink.planned.n),
        ("sending", sink.sending.n),
        ("refused", sink.refused.n),
        ("unknown", sink.unknown.n),
    ]
}

fn seconds(milliseconds: u64) -> f64 {
    std::time::Duration::from_millis(milliseconds).as_secs_f64()
}

impl Page {
    pub(in crate::telemetry) fn families(&self) -> &[Family] {
        &self.0
    }

    fn begin(&mut self, metric: &'static Metric) {
        self.0.push(Family { metric, points: Vec::new() });
    }

    /// A number of the metric that was begun last.
    fn sample(&mut self, metric: &'static Metric, labels: &[&str], value: impl Into<Value>) {
        debug_assert_eq!(metric.labels.len(), labels.len(), "labels of {}", metric.name);
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        let family = self.0.last_mut().filter(|family| family.metric.name == metric.name);
        let family = family.expect("a metric is begun before its samples");
        family.points.push(Point { labels, value: value.into() });
    }

    /// A metric without labels.
    fn only(&mut self, metric: &'static Metric, value: impl Into<Value>) {
        self.begin(metric);
        self.sample(metric, &[], value);
    }

    /// One number a handler.
    fn each(
        &mut self,
        metric: &'static Metric,
        counted: &[(&str, Counters)],
        number: impl Fn(&Counters) -> u64,
    ) {
        self.begin(metric);
        for (handler, counters) in counted {
            self.sample(metric, &[handler], number(counters));
        }
    }

    /// One number a handler and word.
    fn words(
        &mut self,
        metric: &'static Metric,
        counted: &[(&str, Counters)],
        numbers: impl Fn(&Counters) -> &BTreeMap<String, u64>,
    ) {
        self.begin(metric);
        for (handler, counters) in counted {
            for (word, n) in numbers(counters) {
                self.sample(metric, &[handler, word], *n);
            }
        }
    }

    fn gauge<N: Into<Value>>(
        &mut self,
        metric: &'static Metric,
        handlers: &[HandlerGauges],
        number: impl Fn(&HandlerGauges) -> N,
    ) {
        self.begin(metric);
        for handler in handlers {
            self.sample(metric, &[&handler.handler], number(handler));
        }
    }
}

impl Distribution {
    fn of(bounds: &[u64], total: Total, per_unit: f64) -> Self {
        Self {
            count: total.count,
            sum: as_float(total.sum) / per_unit,
            bounds: bounds.iter().map(|bound| as_float(*bound) / per_unit).collect(),
            buckets: total.buckets,
        }
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Whole(number.into())
    }
}

impl From<u8> for Value {
    fn from(number: u8) -> Self {
        Self::Whole(number.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<Distribution> for Value {
    fn from(distribution: Distribution) -> Self {
        Self::Distribution(distribution)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a sum of microseconds is below 2^53 for 285 years")]
fn as_float(number: u64) -> f64 {
    number as f64
}
