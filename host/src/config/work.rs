//! `[intake]`, `[dispatch]` and `[relay]`: how much is done at once and how often it is
//! looked for. Knows nothing of how it is done.

use std::num::NonZero;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::reader::Reader;

const DEFAULT_QUEUE: u32 = 4_096;
const MAX_QUEUE: u32 = 1_000_000;
const DEFAULT_COMMIT_EVENTS: u32 = 256;
const MAX_COMMIT_EVENTS: u32 = 10_000;
const INVOCATIONS_PER_CORE: u32 = 4;
const MAX_INVOCATIONS: u32 = 1_024;
const POLL: RangeInclusive<Duration> = Duration::from_millis(10)..=Duration::from_secs(60);
const DEFAULT_POLL: Duration = Duration::from_millis(500);
const DEFAULT_DRAIN: Duration = Duration::from_secs(20);
const MAX_DRAIN: Duration = Duration::from_secs(600);

/// How events are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intake {
    /// Events waiting for a commit; beyond this the sender is told to come back later.
    pub queue: u32,
    /// Most events in one shared commit.
    pub commit_events: u32,
    pub unrouted: Unrouted,
}

/// What becomes of an event that no handler subscribes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unrouted {
    /// The sender hears that it was not accepted.
    Reject,
    /// It is accepted and kept for people.
    Park,
    /// It is accepted, counted and forgotten.
    Ignore,
}

/// How deliveries are invoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispatch {
    /// Invocations that run at once on this host, all handlers together. Each holds a connection.
    pub invocations: u32,
    /// How often to look for due deliveries when nobody called.
    pub poll_interval: Duration,
    /// How long a graceful stop waits for running invocations.
    pub drain: Duration,
}

/// How effects are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relay {
    /// How often to look for due effects when nobody called.
    pub poll_interval: Duration,
}

pub(crate) fn read_intake(table: &mut Reader<'_, '_>) -> Intake {
    let choices = [("reject", Unrouted::Reject), ("park", Unrouted::Park), ("ignore", Unrouted::Ignore)];
    Intake {
        queue: table.count("queue", 1..=MAX_QUEUE, DEFAULT_QUEUE),
        commit_events: table.count("commit_events", 1..=MAX_COMMIT_EVENTS, DEFAULT_COMMIT_EVENTS),
        unrouted: table.choice("unrouted", &choices, Unrouted::Reject),
    }
}

pub(crate) fn read_dispatch(table: &mut Reader<'_, '_>) -> Dispatch {
    Dispatch {
        invocations: table.count("invocations", 1..=MAX_INVOCATIONS, default_invocations()),
        poll_interval: table.duration("poll_interval", POLL, DEFAULT_POLL),
        drain: table.duration("drain", Duration::ZERO..=MAX_DRAIN, DEFAULT_DRAIN),
    }
}

pub(crate) fn read_relay(table: &mut Reader<'_, '_>) -> Relay {
    Relay { poll_interval: table.duration("poll_interval", POLL, DEFAULT_POLL) }
}

fn default_invocations() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let cores = u32::try_from(cores).unwrap_or(u32::MAX);
    cores.saturating_mul(INVOCATIONS_PER_CORE).min(MAX_INVOCATIONS)
}
