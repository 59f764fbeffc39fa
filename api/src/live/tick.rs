//! What one host counted: counters since its boot, and what its histograms took since the tick
//! before. Ticks of one host can be put together into one that covers the time of both. Knows
//! nothing of what the database holds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::histogram::{Samples, Unreadable};
use super::is_zero;
use crate::Time;

/// A frame of the stream: the hosts that were heard since the frame before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tick {
    /// Of the frame; the `seq` of its [`super::Cursor`].
    pub seq: u64,
    /// At most one a host.
    pub hosts: Vec<HostTick>,
}

/// One host's tick: only what changed, apart from the host's own numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostTick {
    pub boot: String,
    /// Of the tick, from 1 in every boot. A hole means lost histograms, never lost counts.
    pub seq: u64,
    /// The end of the time it covers, by the host's clock.
    pub at: Time,
    /// How long it covers, in milliseconds.
    pub covers_ms: u64,
    pub vitals: Vitals,
    /// By name; one without a change is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handlers: Vec<HandlerTick>,
    /// By name; one without a change is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceTick>,
    /// By name; one without a change is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sinks: Vec<SinkTick>,
    /// Events that became no delivery.
    #[serde(default)]
    pub strays: Strays,
}

/// The state of the host's own process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Vitals {
    /// Invocations that run.
    pub permits_in_use: u32,
    /// And may run.
    pub permits: u32,
    /// Processor time since boot, in milliseconds; absent where the system does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<u64>,
    /// Resident memory; absent where the system does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Readers of this stream at this host.
    #[serde(default)]
    pub subscribers: u32,
    /// Log lines that a full queue or a used-up budget swallowed, since boot.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub log_lines_dropped: u64,
    /// For how long the host has not reached its database, in seconds; absent when it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_away_seconds: Option<f64>,
}

/// Events that were kept or ignored without a delivery, since boot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strays {
    /// By reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parked: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unrouted_ignored: u64,
}

/// One handler at one host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HandlerTick {
    pub handler: String,
    /// Since boot.
    pub counters: Counters,
    /// By [`Stage`]'s id: what the histogram took in this tick. One that took nothing is left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub times: BTreeMap<String, Timing>,
}

/// What happened to one handler's deliveries at one host since its boot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Deliveries accepted here.
    #[serde(skip_serializing_if = "is_zero")]
    pub accepted: u64,
    /// Deliveries committed; with `ignored` these are the events processed.
    #[serde(skip_serializing_if = "is_zero")]
    pub done: u64,
    /// Committed with nothing to do, as the guest said.
    #[serde(skip_serializing_if = "is_zero")]
    pub ignored: u64,
    /// Runs that the handler itself failed; with `done` and `ignored` these are all runs.
    #[serde(skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// Duplicates that intake ignored.
    #[serde(skip_serializing_if = "is_zero")]
    pub duplicates_early: u64,
    /// Duplicates that the claim ignored.
    #[serde(skip_serializing_if = "is_zero")]
    pub duplicates_late: u64,
    /// Keys that came again with another payload.
    #[serde(skip_serializing_if = "is_zero")]
    pub key_conflicts: u64,
    /// Dead letters that people sent back.
    #[serde(skip_serializing_if = "is_zero")]
    pub replays: u64,
    /// Batches rolled back as a whole; no attempt was counted.
    #[serde(skip_serializing_if = "is_zero")]
    pub batches_undone: u64,
    /// Effects committed with the deliveries.
    #[serde(skip_serializing_if = "is_zero")]
    pub effects_committed: u64,
    /// Classified failures, counted as an attempt or not, by fault class.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub faults: BTreeMap<String, u64>,
    /// Deliveries put off for another attempt, by fault class.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub retries: BTreeMap<String, u64>,
    /// Deliveries that ended as a dead letter, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dead: BTreeMap<String, u64>,
    /// What the relay did with the handler's effects, by state entered: `sending` counts attempts,
    /// `planned` retries, the rest results.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub effects: BTreeMap<String, u64>,
}

/// One source at one host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceTick {
    /// `other` for requests to sources that do not exist.
    pub source: String,
    /// Answered requests since boot, by HTTP status.
    pub answers: BTreeMap<String, u64>,
}

/// One sink at one host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SinkTick {
    pub sink: String,
    /// Since boot, by the state that effects entered, as in [`Counters::effects`].
    pub effects: BTreeMap<String, u64>,
}

/// What one histogram took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// All samples since boot, to see how many a gap has lost.
    pub count: u64,
    /// Those of this tick.
    pub samples: Samples,
    /// Of these, how many were above [`super::histogram::HIGHEST`] and are recorded as it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub over: u64,
}

/// What a histogram measures. Its id is the key in [`HandlerTick::times`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// The wait for a database connection, once a claim.
    PoolWait,
    /// A claim that found work.
    Claim,
    /// Inside the guest, its SQL included, once a run.
    Guest,
    /// One commit, with what was queued for it.
    Commit,
    /// From acceptance to the claim, once a delivery and attempt.
    Wait,
    /// From acceptance to the commit that settled the delivery.
    EndToEnd,
    /// Not a time: deliveries that one commit settled.
    Batch,
}

impl Stage {
    pub const ALL: [Stage; 7] = [
        Stage::PoolWait,
        Stage::Claim,
        Stage::Guest,
        Stage::Commit,
        Stage::Wait,
        Stage::EndToEnd,
        Stage::Batch,
    ];

    /// The key of the histogram in a tick. The metric is `wonce_<id>_seconds`, for [`Stage::Batch`]
    /// `wonce_batch_deliveries`.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Stage::PoolWait => "pool_wait",
            Stage::Claim => "claim",
            Stage::Guest => "guest",
            Stage::Commit => "commit",
            Stage::Wait => "wait",
            Stage::EndToEnd => "end_to_end",
            Stage::Batch => "batch",
        }
    }
}

impl HandlerTick {
    /// What a stage took in this tick; none when it took nothing.
    #[must_use]
    pub fn timing(&self, stage: Stage) -> Option<&Timing> {
        self.times.get(stage.id())
    }
}

/// Ticks of one boot, oldest first, as one that covers the time of all; none for none.
///
/// # Errors
/// When a histogram of one is not one.
pub fn coalesce(ticks: impl IntoIterator<Item = HostTick>) -> Result<Option<HostTick>, Unreadable> {
    let mut ticks = ticks.into_iter();
    let Some(mut sum) = ticks.next() else { return Ok(None) };
    let mut samples: BTreeMap<(String, String), Vec<Samples>> = BTreeMap::new();
    for later in ticks {
        sum.seq = later.seq;
        sum.at = later.at;
        sum.covers_ms = sum.covers_ms.saturating_add(later.covers_ms);
        sum.vitals = later.vitals;
        sum.strays = later.strays;
        replace(&mut sum.sources, later.sources, |source| &source.source);
        replace(&mut sum.sinks, later.sinks, |sink| &sink.sink);
        for handler in later.handlers {
            match sum.handlers.binary_search_by(|known| known.handler.cmp(&handler.handler)) {
                Ok(at) => absorb(&mut sum.handlers[at], handler, &mut samples),
                Err(at) => sum.handlers.insert(at, handler),
            }
        }
    }
    for ((handler, stage), more) in samples {
        let known = sum.handlers.iter_mut().find(|known| known.handler == handler);
        if let Some(timing) = known.and_then(|known| known.times.get_mut(&stage)) {
            timing.samples = Samples::sum(std::iter::once(&timing.samples).chain(&more))?;
        }
    }
    Ok(Some(sum))
}

/// Everything but the samples, which are put aside: adding many at once is far cheaper.
fn absorb(
    known: &mut HandlerTick,
    later: HandlerTick,
    samples: &mut BTreeMap<(String, String), Vec<Samples>>,
) {
    known.counters = later.counters;
    for (stage, timing) in later.times {
        let sum = known.times.entry(stage.clone()).or_default();
        sum.count = timing.count;
        sum.over = sum.over.saturating_add(timing.over);
        samples.entry((known.handler.clone(), stage)).or_default().push(timing.samples);
    }
}

impl HostTick {
    /// Puts a later tick of the same boot behind this one: it covers the time of both then.
    ///
    /// # Errors
    /// When a histogram of either is not one.
    pub fn absorb(&mut self, later: HostTick) -> Result<(), Unreadable> {
        if let Some(both) = coalesce([self.clone(), later])? {
            *self = both;
        }
        Ok(())
    }

    /// The counters alone.
    #[must_use]
    pub fn without_samples(mut self) -> Self {
        self.handlers.iter_mut().for_each(|handler| handler.times.clear());
        self
    }
}

/// Cumulative numbers: the later ones hold. Both lists are sorted by name.
fn replace<T>(known: &mut Vec<T>, later: Vec<T>, name: impl Fn(&T) -> &String) {
    for item in later {
        match known.binary_search_by(|other| name(other).cmp(name(&item))) {
            Ok(at) => known[at] = item,
            Err(at) => known.insert(at, item),
        }
    }
}
