//! How many deliveries the next claim of a handler may take: as many as are quick enough to share
//! a transaction, and one where sharing went wrong. Knows nothing of claims or clocks: the durations
//! are handed in.

use std::time::Duration;

/// A batch stops starting guests after this long: it bounds how long the first waits for the
/// commit, and how long its locks are held.
pub const BATCH_TIME: Duration = Duration::from_millis(20);
/// A handler of which more than one run in twenty takes longer than this runs singly: its
/// neighbours would wait for it.
pub const SLOW_RUN: Duration = Duration::from_millis(5);
/// That one in twenty.
const SLOW_SHARE: f64 = 0.05;
/// The weight of one run in the moving share of slow ones: about fifty runs are remembered.
const MEMORY: f64 = 0.02;

/// The most deliveries that one claim takes; at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatchLimit(u16);

impl BatchLimit {
    pub const ONE: BatchLimit = BatchLimit(1);

    /// `deliveries`, or one for nothing.
    #[must_use]
    pub fn new(deliveries: u16) -> Self {
        Self(deliveries.max(1))
    }

    #[must_use]
    pub fn get(self) -> u16 {
        self.0
    }
}

/// What a handler's recent runs say about the size of its next batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Pace {
    most: BatchLimit,
    /// Doubled by every claim that was full and went well.
    limit: BatchLimit,
    /// Claims that still have to be single after a batch was undone.
    apart: u32,
    /// Share of recent runs that took longer than [`SLOW_RUN`].
    slow: f64,
}

impl Pace {
    /// Starts with single claims: nothing is known of the handler yet.
    #[must_use]
    pub fn new(most: BatchLimit) -> Self {
        Self { most, limit: BatchLimit::ONE, apart: 0, slow: 0.0 }
    }

    /// The limit of a claim that is about to be made.
    pub fn next_limit(&mut self) -> BatchLimit {
        if self.apart > 0 {
            self.apart -= 1;
            return BatchLimit::ONE;
        }
        if self.slow > SLOW_SHARE { BatchLimit::ONE } else { self.limit.min(self.most) }
    }

    /// A guest ran for this long, its statements included.
    pub fn ran(&mut self, took: Duration) {
        let slow = if took > SLOW_RUN { 1.0 } else { 0.0 };
        self.slow += MEMORY * (slow - self.slow);
    }

    /// A claim of this many deliveries was settled in one commit.
    pub fn went_well(&mut self, deliveries: usize) {
        if deliveries >= usize::from(self.limit.0) {
            self.limit = BatchLimit(self.limit.0.saturating_mul(2)).min(self.most);
        }
    }

    /// A batch of this many had to be undone as a whole: each of them gets a claim of its own.
    pub fn undone(&mut self, deliveries: usize) {
        let deliveries = u32::try_from(deliveries).unwrap_or(u32::MAX);
        self.apart = self.apart.max(deliveries);
        self.limit = BatchLimit::ONE;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{BatchLimit, Pace, SLOW_RUN};

    fn grown() -> Pace {
        let mut pace = Pace::new(BatchLimit::new(32));
        for deliveries in [1, 2, 4, 8, 16, 32] {
            pace.went_well(deliveries);
        }
        pace
    }

    #[test]
    fn full_claims_that_go_well_double_the_limit_up_to_the_most() {
        let mut pace = Pace::new(BatchLimit::new(32));
        let mut limits = Vec::new();
        for _ in 0..7 {
            let limit = pace.next_limit();
            limits.push(limit.get());
            pace.went_well(usize::from(limit.get()));
        }
        assert_eq!(limits, [1, 2, 4, 8, 16, 32, 32]);
    }

    #[test]
    fn a_claim_that_was_not_full_says_nothing_about_larger_ones() {
        let mut pace = grown();
        pace.undone(0);
        pace.went_well(1);
        assert_eq!(pace.next_limit(), BatchLimit::new(2));
        pace.went_well(1);
        assert_eq!(pace.next_limit(), BatchLimit::new(2));
    }

    #[test]
    fn after_an_undone_batch_each_of_its_deliveries_is_claimed_singly() {
        let mut pace = grown();
        pace.undone(3);
        for _ in 0..3 {
            assert_eq!(pace.next_limit(), BatchLimit::ONE);
            pace.went_well(1);
        }
        assert!(pace.next_limit() > BatchLimit::ONE);
    }

    #[test]
    fn a_handler_with_more_than_one_slow_run_in_twenty_runs_singly_until_it_is_quick_again() {
        let mut pace = grown();
        for run in 0..200 {
            pace.ran(if run % 10 == 0 { SLOW_RUN * 2 } else { Duration::ZERO });
        }
        assert_eq!(pace.next_limit(), BatchLimit::ONE);
        for _ in 0..200 {
            pace.ran(Duration::ZERO);
        }
        assert_eq!(pace.next_limit(), BatchLimit::new(32));
    }

    #[test]
    fn a_single_slow_run_now_and_then_changes_nothing() {
        let mut pace = grown();
        for run in 0..500 {
            pace.ran(if run % 100 == 0 { SLOW_RUN * 2 } else { Duration::ZERO });
        }
        assert_eq!(pace.next_limit(), BatchLimit::new(32));
    }
}
