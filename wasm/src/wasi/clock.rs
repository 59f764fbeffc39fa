//! The two clocks of a sealed guest. The wall clock stands still at the transaction's start,
//! equal to SQL `now()`. The monotonic one starts at 0 and really runs, so that a guest that
//! waits for it gets on; it is coarse, so that it measures nothing of the host.

use std::time::{Duration, Instant};

use wasmtime_wasi::{HostMonotonicClock, HostWallClock};
use wonce_core::event::Micros;

/// The monotonic clock's step.
const STEP: Duration = Duration::from_millis(1);

pub(super) struct FixedClock(pub(super) Micros);

impl HostWallClock for FixedClock {
    fn resolution(&self) -> Duration {
        Duration::from_micros(1)
    }

    fn now(&self) -> Duration {
        // WASI has no time before 1970.
        Duration::from_micros(u64::try_from(self.0.0).unwrap_or(0))
    }
}

pub(super) struct Elapsed(pub(super) Instant);

impl HostMonotonicClock for Elapsed {
    fn resolution(&self) -> u64 {
        nanos(STEP)
    }

    fn now(&self) -> u64 {
        let elapsed = nanos(self.0.elapsed());
        elapsed - elapsed % nanos(STEP)
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
