//! How fast the machine is at this moment: virtual ones have slow spells, and figures of different ones cannot be
//! compared. Ratios within a round can.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A few hundred milliseconds of work on an ordinary core.
const STEPS: u64 = 100_000_000;

/// The time that a fixed piece of work takes on one core.
pub(super) fn fixed_loop() -> Duration {
    let begun = Instant::now();
    // Each step needs the one before, so that no compiler shortens it.
    let end =
        (0..STEPS).fold(1_u64, |state, step| state.rotate_left(5).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ step);
    black_box(end);
    begun.elapsed()
}
