//! What one handler did, by time and over all hosts. Knows nothing of hosts.

use std::collections::{BTreeMap, VecDeque};

use wonce_api::live::HandlerTick;
use wonce_api::live::tick::{Counters, Stage};

use crate::live::timeline::{Last, Millis, Named, Piece, Span, Timeline, share_of};
use crate::live::{Counts, Distribution};

/// The depth's slope is read from samples of the last so many milliseconds.
const SLOPE_MS: Millis = 30_000;
/// A slope needs samples that are so far apart.
const SLOPE_LEAST_MS: Millis = 5_000;
/// Depths that stay for the slope.
const DEPTHS: usize = 60;

/// What one handler did in a column of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Done {
    pub(crate) counts: Counts,
    pub(crate) faults: Named,
    pub(crate) dead: Named,
    pub(crate) times: BTreeMap<Stage, Distribution>,
    pub(crate) over: BTreeMap<Stage, u64>,
}

/// One handler's past.
#[derive(Debug, Default)]
pub(crate) struct Series {
    pub(crate) done: Timeline<Done>,
    pub(crate) depth: Timeline<Last>,
    depths: VecDeque<(Millis, u64)>,
}

impl Done {
    /// What a tick adds to what its boot had counted before.
    pub(crate) fn of(now: &Counters, before: &Counters) -> Self {
        Self {
            counts: counts(now).each(&counts(before), u64::saturating_sub),
            faults: Named::since(&now.faults, Some(&before.faults)),
            dead: Named::since(&now.dead, Some(&before.dead)),
            ..Self::default()
        }
    }

    /// Takes the samples of a tick, and gives how many stages could not be read.
    pub(crate) fn time(&mut self, tick: &HandlerTick) -> u64 {
        let mut unread = 0;
        for stage in Stage::ALL {
            let Some(timing) = tick.timing(stage) else { continue };
            match Distribution::read(&timing.samples) {
                Ok(samples) => {
                    self.times.insert(stage, samples);
                    self.over.insert(stage, timing.over);
                }
                Err(_) => unread += 1,
            }
        }
        unread
    }

    pub(crate) fn size(&self) -> usize {
        self.times.values().map(Distribution::size).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The counters of a host as what is shown of them.
pub(crate) fn counts(counters: &Counters) -> Counts {
    let sum = |numbers: &BTreeMap<String, u64>| numbers.values().sum();
    Counts {
        accepted: counters.accepted,
        done: counters.done,
        ignored: counters.ignored,
        failed: counters.failed,
        retries: sum(&counters.retries),
        dead: sum(&counters.dead),
        duplicates_early: counters.duplicates_early,
        duplicates_late: counters.duplicates_late,
        key_conflicts: counters.key_conflicts,
        replays: counters.replays,
        batches_undone: counters.batches_undone,
        effects_committed: counters.effects_committed,
    }
}

impl Piece for Counts {
    fn add(&mut self, other: &Self) {
        *self += *other;
    }

    fn share(&self, from: u64, to: u64, of: u64) -> Self {
        self.each(self, |n, _| share_of(n, from, to, of))
    }
}

impl Piece for Done {
    fn add(&mut self, other: &Self) {
        self.counts += other.counts;
        self.faults.add(&other.faults);
        self.dead.add(&other.dead);
        for (stage, samples) in &other.times {
            self.times.entry(*stage).or_default().add(samples);
        }
        other.over.iter().for_each(|(stage, n)| *self.over.entry(*stage).or_default() += n);
    }

    fn share(&self, from: u64, to: u64, of: u64) -> Self {
        if from == 0 && to == of {
            return self.clone();
        }
        let times = self.times.iter().map(|(stage, samples)| (*stage, samples.share(from, to, of)));
        let over = self.over.iter().map(|(stage, n)| (*stage, share_of(*n, from, to, of)));
        Self {
            counts: self.counts.share(from, to, of),
            faults: self.faults.share(from, to, of),
            dead: self.dead.share(from, to, of),
            times: times.filter(|(_, samples)| !samples.is_empty()).collect(),
            over: over.filter(|(_, n)| *n > 0).collect(),
        }
    }
}

impl Series {
    pub(crate) fn see_depth(&mut self, at: Millis, depth: u64) {
        self.depth.add(Span::before(at, 1), &Last(Some(depth)));
        self.depths.push_back((at, depth));
        while self.depths.len() > DEPTHS {
            self.depths.pop_front();
        }
    }

    /// How the depth changes, per second.
    #[expect(clippy::cast_precision_loss, reason = "a slope for people")]
    pub(crate) fn slope(&self) -> Option<f64> {
        let (now, last) = self.depths.back()?;
        let (then, first) = self.depths.iter().find(|(at, _)| now - at <= SLOPE_MS)?;
        let apart = now - then;
        (apart >= SLOPE_LEAST_MS).then(|| (*last as f64 - *first as f64) * 1_000.0 / apart as f64)
    }

    pub(crate) fn pass(&mut self, now: Millis) {
        self.done.pass(now);
        self.depth.pass(now);
    }
}
