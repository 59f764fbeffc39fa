//! A pause that doubles from a floor to a ceiling while nothing happens. Knows nothing of why.

use std::time::Duration;

/// The next pause.
#[derive(Debug)]
pub(super) struct Pause {
    floor: Duration,
    ceiling: Duration,
    next: Duration,
}

impl Pause {
    pub(super) fn new(floor: Duration, ceiling: Duration) -> Self {
        let floor = floor.min(ceiling);
        Self { floor, ceiling, next: floor }
    }

    /// This pause; the next one is twice as long.
    pub(super) fn take(&mut self) -> Duration {
        let pause = self.next;
        self.next = pause.saturating_mul(2).min(self.ceiling);
        pause
    }

    /// Something happened: start small again.
    pub(super) fn reset(&mut self) {
        self.next = self.floor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_doubles_to_its_ceiling_and_starts_small_again() {
        let ms = Duration::from_millis;
        let mut pause = Pause::new(ms(50), ms(180));
        let taken: Vec<_> = (0..4).map(|_| pause.take()).collect();
        assert_eq!(taken, [ms(50), ms(100), ms(180), ms(180)]);
        pause.reset();
        assert_eq!(pause.take(), ms(50));
    }
}
