//! How fast the machine is at this moment: virtual ones have slow spells, and figures of different ones cannot be
//! compared. Ratios within a round can.

use std::hint::black_box;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::Context;

/// A fifth of a second of work on an ordinary core.
const STEPS: u64 = 100_000_000;
const TURNS: u32 = 5000;

/// The time that a fixed piece of work takes on one core.
pub(super) fn fixed_loop() -> Duration {
    let begun = Instant::now();
    // Each step needs the one before, so that no compiler shortens it.
    let end =
        (0..STEPS).fold(1_u64, |state, step| state.rotate_left(5).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ step);
    black_box(end);
    begun.elapsed()
}

/// The time of one round trip between two threads: system calls and task switches, of which a server and its client
/// are full, and which a loop does not see.
///
/// # Errors
/// When the system gives no sockets.
pub(super) fn round_trip() -> anyhow::Result<Duration> {
    let (mut near, mut far) = UnixStream::pair().context("make a pair of sockets")?;
    let echo = std::thread::spawn(move || {
        let mut byte = [0];
        while far.read_exact(&mut byte).is_ok() && far.write_all(&byte).is_ok() {}
    });
    let begun = Instant::now();
    let mut byte = [1];
    for _ in 0..TURNS {
        near.write_all(&byte).context("send through a pair of sockets")?;
        near.read_exact(&mut byte).context("read from a pair of sockets")?;
    }
    let each = begun.elapsed() / TURNS;
    drop(near);
    anyhow::ensure!(echo.join().is_ok(), "the echo broke");
    Ok(each)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_round_trip_takes_some_time_and_ends() {
        assert!(!super::round_trip().unwrap().is_zero());
    }
}
