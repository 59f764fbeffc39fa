//! How long to wait before the next try. Pure; the randomness comes in.

use std::time::Duration;

/// The longest first wait, and the longest of all.
const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(8);
/// A stream that lived for so long was healthy: the next wait is a first one.
pub const HEALTHY: Duration = Duration::from_secs(10);

/// Doubles from try to try; each wait is a random part of it, so that a host that comes back is not
/// asked by everybody at once.
#[derive(Debug, Clone, Default)]
pub struct Backoff {
    rounds: u32,
}

impl Backoff {
    /// The next wait. `dice` is any number.
    pub fn next(&mut self, dice: u64) -> Duration {
        let most = FIRST.saturating_mul(2_u32.saturating_pow(self.rounds)).min(LONGEST);
        self.rounds = self.rounds.saturating_add(1);
        let most = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(dice % most.saturating_add(1))
    }

    /// It went well.
    pub fn reset(&mut self) {
        self.rounds = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least number whose rest is the whole wait.
    fn longest(backoff: &mut Backoff) -> Duration {
        let mut probe = backoff.clone();
        let most = (0..=8_000_u64).map(|dice| probe.clone().next(dice)).max().expect("some");
        probe.rounds += 1;
        *backoff = probe;
        most
    }

    #[test]
    fn waits_double_up_to_a_limit_and_begin_again_after_health() {
        let mut backoff = Backoff::default();
        let waits: Vec<u128> = (0..8).map(|_| longest(&mut backoff).as_millis()).collect();
        assert_eq!(waits, [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
        backoff.reset();
        assert_eq!(longest(&mut backoff).as_millis(), 250);
        for _ in 0..200 {
            backoff.next(u64::MAX);
        }
        assert!(backoff.next(u64::MAX) <= LONGEST);
    }
}
