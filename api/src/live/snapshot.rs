//! How a stream begins, and begins again after a gap: who answers, and all that is known now.
//! Knows nothing of how it came to be known.

use serde::{Deserialize, Serialize};

use super::edge::{Alert, Change, Op};
use super::gauges::Gauges;
use super::tick::HostTick;
use crate::Time;

/// The first event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`super::PROTOCOL`] of the host.
    pub protocol: u32,
    /// The boot that answers.
    pub boot: String,
    /// Its host's name.
    pub host: String,
    /// Of wonce.
    pub version: String,
    /// Names the database, whichever host answers: gauges of one database are never added.
    pub database: String,
    /// By the host's clock.
    pub now: Time,
    /// The pace of ticks.
    pub tick_ms: u64,
    /// A comment comes after so long without a frame; a reader may take twice that for a dead line.
    pub keep_alive_ms: u64,
    /// How many frames back a reader may resume.
    pub resumable_frames: u64,
}

/// All that is known now. It replaces whatever the reader knew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Of the last frame that is in it; the `seq` of its [`super::Cursor`].
    pub seq: u64,
    /// By the answering host's clock.
    pub now: Time,
    /// The answering one first, then by name. Stopped and silent boots are among them for a while.
    pub hosts: Vec<HostState>,
    /// Coalesced ticks of the recent past, oldest first, to draw history from. Each is read as a
    /// live tick is; all that it holds is in the hosts' totals already.
    pub history: Vec<HostTick>,
    /// What each boot had counted before its history begins, without samples. One that is missing
    /// had counted nothing: it was followed from its first tick.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<HostTick>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gauges: Option<Gauges>,
    /// Those that fire.
    pub alerts: Vec<Alert>,
    /// The latest actions, oldest first.
    pub changes: Vec<Change>,
    /// Bulk operations that have not ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<Op>,
}

/// A host and everything it has counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostState {
    pub seen: HostSeen,
    /// All its counters, changed lately or not; no histograms. Absent when nothing was heard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<HostTick>,
}

/// One boot of one host, as the answering host sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostSeen {
    pub boot: String,
    pub name: String,
    pub version: String,
    /// `alive`, `silent` (nothing was heard for [`super::SILENT_AFTER_SECONDS`]; it may be dead),
    /// `stopped` (it said goodbye) or, in a `host` event only, `gone` (drop it: it is long over, or
    /// its next boot took its place).
    pub state: String,
    pub started_at: Time,
    /// How long ago it was last heard, in seconds.
    pub heard_seconds_ago: f64,
}
