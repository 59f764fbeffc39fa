//! The two things that count: a number that only grows, and a histogram with what it took since
//! somebody last looked. Both are cheap enough for every event: no allocation, no text, and a lock
//! that is held for some tens of nanoseconds. Knows nothing of what they count.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hdrhistogram::Histogram;
use wonce_api::live::histogram::{HIGHEST, LOWEST, SIGNIFICANT_DIGITS};

/// A number that only grows.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    pub(super) fn add(&self, things: u64) {
        self.0.fetch_add(things, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters that are not zero, by the words of their enum.
pub(super) fn by_word<const N: usize>(counters: &[Counter; N], words: [&str; N]) -> BTreeMap<String, u64> {
    let pairs = words.into_iter().zip(counters.iter().map(Counter::get));
    pairs.filter(|(_, n)| *n > 0).map(|(word, n)| (word.to_owned(), n)).collect()
}

/// A histogram of the protocol's bounds in half the memory: about 13 KB.
pub(super) type Delta = Histogram<u32>;

/// An empty one.
pub(super) fn empty_delta() -> Delta {
    Histogram::new_with_bounds(LOWEST, HIGHEST, SIGNIFICANT_DIGITS)
        .expect("the bounds of the protocol are bounds of a histogram")
}

/// A histogram: totals in fixed buckets, and what came since the last [`Recorder::take`].
#[derive(Debug)]
pub(super) struct Recorder {
    /// Upper bounds of the buckets, rising.
    bounds: &'static [u64],
    recorded: Mutex<Recorded>,
}

#[derive(Debug)]
struct Recorded {
    total: Total,
    /// Made by the first sample.
    delta: Option<Delta>,
    /// Samples in `delta` that were above its bounds.
    over: u64,
}

/// Everything that a histogram took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Total {
    pub(super) count: u64,
    pub(super) sum: u64,
    /// One more than bounds: the last holds what is above all of them. Not cumulative.
    pub(super) buckets: Vec<u64>,
}

/// What a histogram took since it was last asked; the samples are in the caller's hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    /// All samples ever.
    pub(super) count: u64,
    /// New ones above the bounds.
    pub(super) over: u64,
}

impl Recorder {
    pub(super) fn new(bounds: &'static [u64]) -> Self {
        let total = Total { count: 0, sum: 0, buckets: vec![0; bounds.len() + 1] };
        Self { bounds, recorded: Mutex::new(Recorded { total, delta: None, over: 0 }) }
    }

    pub(super) fn record(&self, value: u64) {
        self.record_all(std::iter::once(value));
    }

    /// All of them under one lock.
    pub(super) fn record_all(&self, values: impl Iterator<Item = u64>) {
        let mut recorded = self.recorded();
        let Recorded { total, delta, over } = &mut *recorded;
        let delta = delta.get_or_insert_with(empty_delta);
        for value in values {
            total.count += 1;
            total.sum = total.sum.saturating_add(value);
            total.buckets[self.bounds.partition_point(|bound| *bound < value)] += 1;
            delta.saturating_record(value);
            *over += u64::from(value > HIGHEST);
        }
    }

    /// Leaves the new samples in `spare`, which must come empty; none when there are none.
    pub(super) fn take(&self, spare: &mut Delta) -> Option<Taken> {
        let mut recorded = self.recorded();
        let delta = recorded.delta.as_mut().filter(|delta| !delta.is_empty())?;
        std::mem::swap(delta, spare);
        let over = std::mem::take(&mut recorded.over);
        Some(Taken { count: recorded.total.count, over })
    }

    pub(super) fn bounds(&self) -> &'static [u64] {
        self.bounds
    }

    pub(super) fn total(&self) -> Total {
        self.recorded().total.clone()
    }

    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_in_the_first_bucket_that_holds_it_and_in_one_delta_only() {
        let recorder = Recorder::new(&[10, 100]);
        recorder.record_all([1, 10, 11, 100, 101].into_iter());
        let mut spare = empty_delta();
        assert_eq!(recorder.take(&mut spare), Some(Taken { count: 5, over: 0 }));
        assert_eq!((spare.len(), spare.max()), (5, 101));
        spare.reset();
        assert_eq!(recorder.take(&mut spare), None);
        recorder.record(HIGHEST + 1);
        assert_eq!(recorder.take(&mut spare), Some(Taken { count: 6, over: 1 }));
        assert_eq!(spare.len(), 1);
        let total = recorder.total();
        assert_eq!((total.count, total.buckets), (6, vec![2, 2, 2]));
    }
}
