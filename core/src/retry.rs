//! When a failed delivery is tried again: exponential backoff with a ceiling and jitter.
//! Knows nothing of why it failed.

use std::time::Duration;

use crate::delivery::Attempt;

/// No wait is longer, whatever a policy says: the database's clock must be able to add it.
pub const MAX_DELAY: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A handler's retry policy.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryPolicy {
    /// After this many attempts the delivery is dead.
    pub max_attempts: u32,
    /// The wait after the first failed attempt.
    pub first: Duration,
    /// Each further wait is the last one times this.
    pub factor: f64,
    /// No wait is longer, the guest's own wish included.
    pub ceiling: Duration,
    /// Up to this much is added, so that what failed together does not return together.
    pub jitter: Duration,
}

impl Default for RetryPolicy {
    /// 1 s doubling to 32 s plus up to 250 ms, 8 attempts: about two minutes in all, the
    /// floor of what users of queues expect.
    fn default() -> Self {
        Self {
            max_attempts: 8,
            first: Duration::from_secs(1),
            factor: 2.0,
            ceiling: Duration::from_secs(32),
            jitter: Duration::from_millis(250),
        }
    }
}

/// A random share in 0..1, drawn by the caller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jitter(pub f64);

impl RetryPolicy {
    /// The wait after `attempt` failed. The guest's `floor` counts up to the ceiling.
    #[must_use]
    pub fn delay(&self, attempt: Attempt, floor: Option<Duration>, jitter: Jitter) -> Duration {
        let ceiling = self.ceiling.min(MAX_DELAY);
        let steps = f64::from(attempt.0.saturating_sub(1));
        let grown = self.first.as_secs_f64() * self.factor.max(1.0).powf(steps);
        // No number, infinite or beyond a Duration: as far as it may grow.
        let grown = Duration::try_from_secs_f64(grown).unwrap_or(ceiling).min(ceiling);
        let floor = floor.unwrap_or(Duration::ZERO).min(ceiling);
        grown.max(floor) + jitter.of(self.jitter.min(MAX_DELAY))
    }
}

impl Jitter {
    /// This share of a span. What is not a share (NaN, negative) is none of it.
    fn of(self, span: Duration) -> Duration {
        let share = if self.0.is_nan() { 0.0 } else { self.0.clamp(0.0, 1.0) };
        // A long span rounds up by a nanosecond.
        span.mul_f64(share).min(span)
    }
}
