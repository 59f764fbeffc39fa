//! When a failed delivery is tried again: exponential backoff with a ceiling and jitter.
//! Knows nothing of why it failed.

use std::time::Duration;

use crate::delivery::Attempt;

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
        let ceiling = self.ceiling.as_secs_f64();
        let steps = f64::from(attempt.0.saturating_sub(1));
        let grown = (self.first.as_secs_f64() * self.factor.max(1.0).powf(steps)).min(ceiling);
        let floor = floor.map_or(0.0, |f| f.as_secs_f64().min(ceiling));
        let share = jitter.0.clamp(0.0, 1.0);
        Duration::from_secs_f64(grown.max(floor)) + self.jitter.mul_f64(share)
    }
}
