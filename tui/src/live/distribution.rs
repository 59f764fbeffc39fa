//! The samples of a histogram, kept small: only the buckets that hold something. They are added
//! over handlers, hosts and time, and percentiles are read from the sum, never added or averaged.
//! Knows nothing of what was measured.

use std::collections::BTreeMap;

use serde::Serialize;
use wonce_api::live::Samples;
use wonce_api::live::histogram::{self, Unreadable};

use super::timeline::share_of;

/// Below so many samples nothing is said about the slowest.
pub const FEW_SAMPLES: u64 = 20;
/// Below so many samples a p99 is a guess.
pub const SOME_SAMPLES: u64 = 100;

/// Values with how often they came, in the buckets of the protocol: told within 1 %.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Distribution {
    /// Ascending by value, the highest of its bucket; no count is zero.
    buckets: Vec<(u32, u32)>,
}

/// Read from one distribution. Times are in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Quantiles {
    /// How many samples they are read from. Without any, the others are zero and mean nothing.
    pub samples: u64,
    pub p50: u64,
    pub p90: u64,
    pub p95: u64,
    pub p99: u64,
    pub p999: u64,
    pub max: u64,
}

impl Quantiles {
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.samples == 0
    }
}

impl Distribution {
    /// The samples of a tick.
    ///
    /// # Errors
    /// When they are no histogram of the protocol.
    pub fn read(samples: &Samples) -> Result<Self, Unreadable> {
        if samples.is_empty() {
            return Ok(Self::default());
        }
        let mut dense = histogram::empty();
        samples.add_to(&mut dense)?;
        let buckets = dense
            .iter_recorded()
            .map(|step| (clamp(step.value_iterated_to()), clamp(step.count_since_last_iteration())));
        Ok(Self { buckets: buckets.collect() })
    }

    /// These values, each once.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = u64>) -> Self {
        let mut dense = histogram::empty();
        values.into_iter().for_each(|value| dense.saturating_record(value));
        Self::read(&Samples::of(&dense)).unwrap_or_default()
    }

    /// All of these together.
    #[must_use]
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Distribution>) -> Self {
        let mut sum: BTreeMap<u32, u32> = BTreeMap::new();
        for (value, n) in all.into_iter().flat_map(|one| &one.buckets) {
            let count = sum.entry(*value).or_default();
            *count = count.saturating_add(*n);
        }
        Self { buckets: sum.into_iter().collect() }
    }

    pub fn add(&mut self, other: &Distribution) {
        if self.buckets.is_empty() {
            self.buckets.clone_from(&other.buckets);
        } else if !other.buckets.is_empty() {
            *self = Self::sum([&*self, other]);
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// How many samples there are.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.buckets.iter().map(|(_, n)| u64::from(*n)).sum()
    }

    /// How many samples are at least `low` and below `high`.
    #[must_use]
    pub fn between(&self, low: u64, high: u64) -> u64 {
        let from = self.buckets.partition_point(|(value, _)| u64::from(*value) < low);
        let within = self.buckets[from..].iter().take_while(|(value, _)| u64::from(*value) < high);
        within.map(|(_, n)| u64::from(*n)).sum()
    }

    #[must_use]
    pub fn quantiles(&self) -> Quantiles {
        let samples = self.samples();
        if samples == 0 {
            return Quantiles::default();
        }
        Quantiles {
            samples,
            p50: self.at(samples, 500),
            p90: self.at(samples, 900),
            p95: self.at(samples, 950),
            p99: self.at(samples, 990),
            p999: self.at(samples, 999),
            max: self.buckets.last().map_or(0, |(value, _)| u64::from(*value)),
        }
    }

    /// The part between `from` and `to` of `of` steps; all parts together are it again.
    pub(super) fn share(&self, from: u64, to: u64, of: u64) -> Self {
        let shares = self.buckets.iter().map(|(value, n)| (*value, share_of((*n).into(), from, to, of)));
        Self { buckets: shares.filter(|(_, n)| *n > 0).map(|(value, n)| (value, clamp(n))).collect() }
    }

    /// How much memory it takes, in buckets.
    pub(super) fn size(&self) -> usize {
        self.buckets.len()
    }

    /// The least value that `permille` of the samples do not exceed.
    fn at(&self, samples: u64, permille: u64) -> u64 {
        let rank = u128::from(samples) * u128::from(permille);
        let rank = rank.div_ceil(1_000).max(1);
        let mut seen = 0_u128;
        for (value, n) in &self.buckets {
            seen += u128::from(*n);
            if seen >= rank {
                return u64::from(*value);
            }
        }
        self.buckets.last().map_or(0, |(value, _)| u64::from(*value))
    }
}

fn clamp(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
