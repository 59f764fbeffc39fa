//! The registry of the process: everything that is counted, in fixed places that are found by name
//! once an event and changed without a lock. Three faces read it: the text for Prometheus, the tick
//! of the live stream, the export. Knows nothing of who counts and why.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock, Weak};

use tokio::sync::Semaphore;
use wonce_api::live::gauges::Gauges;
use wonce_api::live::tick::{Counters, Stage};
use wonce_core::decide::DeadReason;
use wonce_core::effect::EffectState;
use wonce_core::fault::FaultClass;
use wonce_core::route::ParkReason;

use super::count::{Counter, Recorder, by_word};
use super::{Exported, Signal, Told};

/// Upper bounds of every time histogram in µs: from a tenth of a millisecond (a claim) to an hour
/// (an event that waited for its retries).
const BUCKETS_MICROS: [u64; 20] = [
    100,
    200,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    30_000_000,
    120_000_000,
    600_000_000,
    3_600_000_000,
];
/// Upper bounds of the batch sizes.
const BUCKETS_DELIVERIES: [u64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// The only one.
pub(super) static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::default);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Registry {
    pub(super) handlers: Table<HandlerMeters>,
    pub(super) sources: Table<SourceMeters>,
    pub(super) parked: [Counter; ParkReason::ALL.len()],
    pub(super) unrouted_ignored: Counter,
    pub(super) log_lines_dropped: Counter,
    pub(super) live_log_lines_missed: Counter,
    pub(super) alert_notices: [Counter; Told::ALL.len()],
    pub(super) otlp_exports: [[Counter; Exported::ALL.len()]; Signal::ALL.len()],
    pub(super) live_readers: AtomicU32,
    /// Handler and rule of every alert that may fire.
    watched: Mutex<BTreeSet<(String, String)>>,
    permits: Mutex<Option<(Weak<Semaphore>, u32)>>,
    fleet: Mutex<Option<Arc<Fleet>>>,
}

/// What the database knows, as this host last read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fleet {
    pub gauges: Gauges,
    /// When this host read it.
    pub read_at: jiff::Timestamp,
    /// Hosts by state.
    pub hosts: BTreeMap<String, u32>,
    /// Handler and rule of every alert that fires.
    pub alerts: BTreeSet<(String, String)>,
}

/// Named things of one kind; they are few, come with the configuration and stay.
#[derive(Debug)]
pub(super) struct Table<M>(RwLock<BTreeMap<String, Arc<M>>>);

/// One handler.
#[derive(Debug)]
pub(super) struct HandlerMeters {
    pub(super) accepted: Counter,
    pub(super) done: Counter,
    pub(super) ignored: Counter,
    pub(super) failed: Counter,
    pub(super) duplicates_early: Counter,
    pub(super) duplicates_late: Counter,
    pub(super) key_conflicts: Counter,
    pub(super) replays: Counter,
    pub(super) batches_undone: Counter,
    pub(super) effects_committed: Counter,
    pub(super) faults: [Counter; FaultClass::ALL.len()],
    pub(super) retries: [Counter; FaultClass::ALL.len()],
    pub(super) dead: [Counter; DeadReason::ALL.len()],
    pub(super) sinks: Table<SinkMeters>,
    stages: [Recorder; Stage::ALL.len()],
}

/// The effects of one handler for one sink, by the state that they entered.
#[derive(Debug, Default)]
pub(super) struct SinkMeters(pub(super) [Counter; EffectState::ALL.len()]);

/// One source: answered requests by status.
#[derive(Debug, Default)]
pub(super) struct SourceMeters(Mutex<BTreeMap<u16, u64>>);

impl<M> Default for Table<M> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<M: Default> Table<M> {
    /// Lets `count` count under this name.
    pub(super) fn with(&self, name: &str, count: impl FnOnce(&M)) {
        if let Some(meters) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return count(meters);
        }
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        count(table.entry(name.to_owned()).or_default());
    }

    /// All of them, by name.
    pub(super) fn all(&self) -> Vec<(String, Arc<M>)> {
        let table = self.0.read().unwrap_or_else(PoisonError::into_inner);
        table.iter().map(|(name, meters)| (name.clone(), Arc::clone(meters))).collect()
    }
}

impl Default for HandlerMeters {
    fn default() -> Self {
        Self {
            accepted: Counter::default(),
            done: Counter::default(),
            ignored: Counter::default(),
            failed: Counter::default(),
            duplicates_early: Counter::default(),
            duplicates_late: Counter::default(),
            key_conflicts: Counter::default(),
            replays: Counter::default(),
            batches_undone: Counter::default(),
            effects_committed: Counter::default(),
            faults: Default::default(),
            retries: Default::default(),
            dead: Default::default(),
            sinks: Table::default(),
            stages: Stage::ALL.map(|stage| Recorder::new(bounds_of(stage))),
        }
    }
}

fn bounds_of(stage: Stage) -> &'static [u64] {
    match stage {
        Stage::PoolWait | Stage::Claim | Stage::Guest | Stage::Commit | Stage::Wait | Stage::EndToEnd => {
            &BUCKETS_MICROS
        }
        Stage::Batch => &BUCKETS_DELIVERIES,
    }
}

impl HandlerMeters {
    pub(super) fn stage(&self, stage: Stage) -> &Recorder {
        &self.stages[stage as usize]
    }

    pub(super) fn counters(&self) -> Counters {
        let mut effects = BTreeMap::new();
        for (_, sink) in self.sinks.all() {
            for (state, n) in sink.by_state() {
                *effects.entry(state).or_default() += n;
            }
        }
        Counters {
            accepted: self.accepted.get(),
            done: self.done.get(),
            ignored: self.ignored.get(),
            failed: self.failed.get(),
            duplicates_early: self.duplicates_early.get(),
            duplicates_late: self.duplicates_late.get(),
            key_conflicts: self.key_conflicts.get(),
            replays: self.replays.get(),
            batches_undone: self.batches_undone.get(),
            effects_committed: self.effects_committed.get(),
            faults: by_word(&self.faults, FaultClass::ALL.map(FaultClass::as_str)),
            retries: by_word(&self.retries, FaultClass::ALL.map(FaultClass::as_str)),
            dead: by_word(&self.dead, DeadReason::ALL.map(DeadReason::as_str)),
            effects,
        }
    }
}

impl SinkMeters {
    pub(super) fn by_state(&self) -> BTreeMap<String, u64> {
        by_word(&self.0, EffectState::ALL.map(EffectState::as_str))
    }
}

impl SourceMeters {
    pub(super) fn answered(&self, status: u16) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(status).or_default() += 1;
    }

    pub(super) fn answers(&self) -> BTreeMap<String, u64> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().map(|(status, n)| (status.to_string(), *n)).collect()
    }
}

impl Registry {
    pub(super) fn parked_by_reason(&self) -> BTreeMap<String, u64> {
        by_word(&self.parked, ParkReason::ALL.map(ParkReason::as_str))
    }

    /// Where invocations take their permits, and how many there are.
    pub(super) fn watch_permits(&self, permits: &Arc<Semaphore>, most: u32) {
        *self.permits.lock().unwrap_or_else(PoisonError::into_inner) = Some((Arc::downgrade(permits), most));
    }

    /// Permits in use, and all of them.
    pub(super) fn permits(&self) -> (u32, u32) {
        let permits = self.permits.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((permits, most)) = &*permits else { return (0, 0) };
        let free = permits
            .upgrade()
            .map_or(*most, |permits| u32::try_from(permits.available_permits()).unwrap_or(u32::MAX));
        (most.saturating_sub(free), *most)
    }

    /// What is shown as quiet until it fires.
    pub(super) fn watch_alert(&self, handler: &str, rule: String) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.insert((handler.to_owned(), rule));
    }

    pub(super) fn watched_alerts(&self) -> BTreeSet<(String, String)> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_fleet(&self, fleet: Fleet) {
        *self.fleet.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(fleet));
    }

    pub(super) fn fleet(&self) -> Option<Arc<Fleet>> {
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn live_readers(&self) -> u32 {
        self.live_readers.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_an_enum_has_the_place_that_its_number_says() {
        assert!(FaultClass::ALL.iter().enumerate().all(|(place, class)| *class as usize == place));
        assert!(DeadReason::ALL.iter().enumerate().all(|(place, reason)| *reason as usize == place));
        assert!(EffectState::ALL.iter().enumerate().all(|(place, state)| *state as usize == place));
        assert!(ParkReason::ALL.iter().enumerate().all(|(place, reason)| *reason as usize == place));
        assert!(Told::ALL.iter().enumerate().all(|(place, told)| *told as usize == place));
        assert!(Signal::ALL.iter().enumerate().all(|(place, signal)| *signal as usize == place));
        assert!(Exported::ALL.iter().enumerate().all(|(place, exported)| *exported as usize == place));
        assert!(Stage::ALL.iter().enumerate().all(|(place, stage)| *stage as usize == place));
    }

    #[test]
    fn permits_of_a_host_that_is_gone_are_not_in_use() {
        let registry = Registry::default();
        let permits = Arc::new(Semaphore::new(4));
        registry.watch_permits(&permits, 4);
        let taken = permits.try_acquire().expect("there are four");
        assert_eq!(registry.permits(), (1, 4));
        drop(taken);
        drop(permits);
        assert_eq!(registry.permits(), (0, 4));
    }
}
