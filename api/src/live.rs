//! The live stream, `GET /v1/live`: server-sent events that let a console follow the whole fleet
//! through any one host. One file per idea; this one says how they travel. Plain data and the
//! arithmetic that both ends must share; knows nothing of HTTP, SQL or screens.
//!
//! ```text
//! GET /v1/live                                  text/event-stream; one subscriber
//!   event: hello      who answers, in which protocol; first and once
//!   event: snapshot   everything that is known now; second, and again after a gap
//!   event: tick       what the hosts counted since the last frame; about 1 Hz
//!   event: gauges     what the database knows, sampled once for the fleet; about 0.5 Hz
//!   event: host | alert | change | op             edges, as they happen
//!   event: bye        the host ends the stream and says why; last
//! GET /v1/live/logs                             the same form: `hello`, then `log` batches
//! ```
//!
//! * **Resuming.** Every frame's `id:` is a [`Cursor`]. Sent back as `Last-Event-ID` it gets what
//!   was missed as *one* coalesced tick, or a snapshot when the gap is too long or the host is
//!   another boot. A reader that is too slow gets the same treatment without asking.
//! * **Scopes.** A [`tick::HostTick`] belongs to one boot of one host: add over hosts. [`Gauges`]
//!   belong to the database: take one, never the sum.
//! * **Counters** are cumulative since the host's boot, so that a lost tick costs no count. Another
//!   boot id starts from zero.
//! * **Histograms** are deltas. Add them over handlers, hosts and time, read the percentiles last.
//! * **Growth.** A reader ignores unknown fields and skips unknown events ([`Message::parse`]
//!   answers `None`). Open vocabularies (classes, reasons, stages, rules, verbs) are text. What an
//!   old reader would get wrong raises [`PROTOCOL`].

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub mod edge;
pub mod gauges;
pub mod histogram;
pub mod message;
pub mod snapshot;
pub mod tick;

pub use edge::{Alert, AlertState, Bye, Change, LogBatch, LogLine, LogQuery, Op};
pub use gauges::{Count, Gauges, HandlerGauges, Method, SinkGauges};
pub use histogram::Samples;
pub use message::Message;
pub use snapshot::{Hello, HostSeen, HostState, Snapshot};
pub use tick::{HandlerTick, HostTick, Stage, Tick, Timing, coalesce};

/// Raised when an old reader would misread a new stream. A reader refuses a greater one.
pub const PROTOCOL: u32 = 1;
/// The stream of numbers and edges.
pub const PATH: &str = "/v1/live";
/// The stream of log lines, apart, so that a flood of lines delays no number.
pub const LOGS_PATH: &str = "/v1/live/logs";
/// A host of which nothing was heard for so long is silent, in seconds.
pub const SILENT_AFTER_SECONDS: f64 = 3.0;

/// Where a reader stands in one host's stream: the `id:` of a frame, `<boot>:<seq>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The boot of the host that answers.
    pub boot: String,
    /// Of the frame; one more for each.
    pub seq: u64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.boot, self.seq)
    }
}

/// A text is no [`Cursor`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoCursor;

impl fmt::Display for NoCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it does not read `<boot>:<seq>`")
    }
}

impl std::error::Error for NoCursor {}

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let (boot, seq) = text.rsplit_once(':').ok_or(NoCursor)?;
        let seq = seq.parse().map_err(|_| NoCursor)?;
        if boot.is_empty() { Err(NoCursor) } else { Ok(Self { boot: boot.to_owned(), seq }) }
    }
}

/// One line of JSON: an event's `data:`.
fn data_of<T: Serialize>(document: &T) -> Result<String, serde_json::Error> {
    serde_json::to_string(document)
}

fn read<T: DeserializeOwned>(data: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(data)
}

/// Whether a number may be left out of a document: most are zero, most of the time.
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests;
