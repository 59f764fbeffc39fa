//! The registry as ticks of the live stream: what changed since the tick before, and now and then
//! everything, so that whoever comes late knows the totals soon. Knows nothing of where ticks go.

use std::collections::BTreeMap;
use std::time::Instant;

use jiff::Timestamp;
use wonce_api::live::histogram::Samples;
use wonce_api::live::tick::{
    Counters, HandlerTick, HostTick, SinkTick, SourceTick, Stage, Strays, Timing, Vitals,
};

use super::count::{Delta, empty_delta};
use super::process;
use super::registry::{HandlerMeters, REGISTRY, Registry};

/// Every so many ticks one holds all counters, changed or not.
pub const FULL_EVERY: u64 = 10;

/// Takes ticks. There is one a host: each takes the samples away.
pub struct Ticker {
    registry: &'static Registry,
    boot: String,
    seq: u64,
    last: Instant,
    sent: BTreeMap<String, Counters>,
    sent_sinks: BTreeMap<String, BTreeMap<String, u64>>,
    sent_sources: BTreeMap<String, BTreeMap<String, u64>>,
    /// Empty between two histograms.
    spare: Delta,
}

impl std::fmt::Debug for Ticker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticker").field("boot", &self.boot).field("seq", &self.seq).finish_non_exhaustive()
    }
}

impl Ticker {
    /// For this boot.
    #[must_use]
    pub fn new(boot: String) -> Self {
        Self::of(&REGISTRY, boot)
    }

    fn of(registry: &'static Registry, boot: String) -> Self {
        Self {
            registry,
            boot,
            seq: 0,
            last: Instant::now(),
            sent: BTreeMap::new(),
            sent_sinks: BTreeMap::new(),
            sent_sources: BTreeMap::new(),
            spare: empty_delta(),
        }
    }

    /// What was counted since the last one.
    pub fn take(&mut self, database_away_seconds: Option<f64>) -> HostTick {
        let is_full = self.seq.is_multiple_of(FULL_EVERY);
        self.seq += 1;
        let now = Instant::now();
        let covers = now.duration_since(self.last);
        self.last = now;
        let handlers = self.registry.handlers.all();
        let sinks = sinks_of(&handlers);
        HostTick {
            boot: self.boot.clone(),
            seq: self.seq,
            at: Timestamp::now().to_string(),
            covers_ms: u64::try_from(covers.as_millis()).unwrap_or(u64::MAX),
            vitals: self.vitals(database_away_seconds),
            handlers: handlers
                .iter()
                .filter_map(|(name, meters)| self.handler(name, meters, is_full))
                .collect(),
            sources: self.sources(is_full),
            sinks: changed(&mut self.sent_sinks, sinks, is_full)
                .map(|(sink, effects)| SinkTick { sink, effects })
                .collect(),
            strays: Strays {
                parked: self.registry.parked_by_reason(),
                unrouted_ignored: self.registry.unrouted_ignored.get(),
            },
        }
    }

    fn vitals(&self, database_away_seconds: Option<f64>) -> Vitals {
        let (permits_in_use, permits) = self.registry.permits();
        Vitals {
            permits_in_use,
            permits,
            cpu_ms: process::cpu_ms(),
            memory_bytes: process::memory_bytes(),
            subscribers: self.registry.live_readers(),
            log_lines_dropped: self.registry.log_lines_dropped.get(),
            database_away_seconds,
        }
    }

    fn handler(&mut self, name: &str, meters: &HandlerMeters, is_full: bool) -> Option<HandlerTick> {
        let times: BTreeMap<String, Timing> = Stage::ALL
            .into_iter()
            .filter_map(|stage| Some((stage.id().to_owned(), self.timing(meters, stage)?)))
            .collect();
        let counters = meters.counters();
        let is_changed = self.sent.get(name) != Some(&counters) || !times.is_empty();
        if !is_changed && !is_full {
            return None;
        }
        self.sent.insert(name.to_owned(), counters.clone());
        Some(HandlerTick { handler: name.to_owned(), counters, times })
    }

    fn timing(&mut self, meters: &HandlerMeters, stage: Stage) -> Option<Timing> {
        let taken = meters.stage(stage).take(&mut self.spare)?;
        let samples = Samples::of(&self.spare);
        self.spare.reset();
        Some(Timing { count: taken.count, samples, over: taken.over })
    }

    fn sources(&mut self, is_full: bool) -> Vec<SourceTick> {
        let sources = self.registry.sources.all().into_iter();
        let answers = sources.map(|(name, source)| (name, source.answers())).collect();
        changed(&mut self.sent_sources, answers, is_full)
            .map(|(source, answers)| SourceTick { source, answers })
            .collect()
    }
}

type Numbers = BTreeMap<String, BTreeMap<String, u64>>;

/// Each sink's effects over all handlers.
fn sinks_of(handlers: &[(String, std::sync::Arc<HandlerMeters>)]) -> Numbers {
    let mut sinks = Numbers::new();
    for (_, meters) in handlers {
        for (sink, effects) in meters.sinks.all() {
            let sum = sinks.entry(sink).or_default();
            effects.by_state().into_iter().for_each(|(state, n)| *sum.entry(state).or_default() += n);
        }
    }
    sinks
}

/// Those whose numbers are not the ones that were sent last, by name.
fn changed(
    sent: &mut Numbers,
    now: Numbers,
    is_full: bool,
) -> impl Iterator<Item = (String, BTreeMap<String, u64>)> {
    let before = std::mem::replace(sent, now.clone());
    now.into_iter().filter(move |(name, numbers)| is_full || before.get(name) != Some(numbers))
}

#[cfg(test)]
mod tests {
    use wonce_api::live::histogram::empty;

    use super::*;

    /// A registry of its own, for as long as the process lives.
    fn ticker() -> (Ticker, &'static Registry) {
        let registry = Box::leak(Box::new(Registry::default()));
        (Ticker::of(registry, "b".to_owned()), registry)
    }

    fn names(tick: &HostTick) -> Vec<&str> {
        tick.handlers.iter().map(|handler| handler.handler.as_str()).collect()
    }

    #[test]
    fn a_tick_holds_what_changed_and_every_tenth_holds_all() {
        let (mut ticker, registry) = ticker();
        registry.handlers.with("quiet", |meters| meters.done.add(1));
        assert_eq!(names(&ticker.take(None)), ["quiet"]);
        for _ in 1..FULL_EVERY {
            registry.handlers.with("busy", |meters| meters.done.add(1));
            assert_eq!(names(&ticker.take(None)), ["busy"]);
        }
        let full = ticker.take(None);
        assert_eq!((full.seq, names(&full)), (FULL_EVERY + 1, vec!["busy", "quiet"]));
        assert_eq!(full.handlers[0].counters.done, FULL_EVERY - 1);
    }

    #[test]
    fn samples_are_in_one_tick_and_counts_are_for_ever() {
        let (mut ticker, registry) = ticker();
        let guest = |micros| registry.handlers.with("a", |meters| meters.stage(Stage::Guest).record(micros));
        guest(700);
        guest(900);
        let first = ticker.take(None);
        let timing = first.handlers[0].timing(Stage::Guest).expect("two samples");
        assert_eq!(timing.count, 2);
        guest(1_000);
        let second = ticker.take(None);
        let timing = second.handlers[0].timing(Stage::Guest).expect("one sample");
        let mut samples = empty();
        timing.samples.add_to(&mut samples).expect("a histogram");
        assert_eq!((timing.count, samples.len()), (3, 1));
        assert_eq!(ticker.take(None).handlers, []);
    }

    #[test]
    fn a_sinks_effects_are_those_of_all_handlers() {
        let (mut ticker, registry) = ticker();
        for handler in ["a", "b"] {
            registry.handlers.with(handler, |meters| meters.sinks.with("crm", |sink| sink.0[2].add(2)));
        }
        let tick = ticker.take(Some(1.5));
        assert_eq!(tick.sinks[0].effects, BTreeMap::from([("confirmed".to_owned(), 4)]));
        assert_eq!(tick.handlers[1].counters.effects["confirmed"], 2);
        assert_eq!(tick.vitals.database_away_seconds, Some(1.5));
        assert_eq!(ticker.take(None).sinks, []);
    }
}
