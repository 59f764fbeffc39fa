//! The fleet at one moment through one window, ready to be drawn. Plain values; knows nothing of
//! how they came about or how they are drawn.

use std::time::Duration;

use serde::Serialize;
use wonce_api::action::Action;
use wonce_api::live::{Alert, Count, Hello, Op};

use super::{Counts, HandlerRow, HostRow, Link, Quantiles, Rates, SinkRow, SourceRow, Verdict, Window};

/// All that the first screen shows.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Overview {
    pub window: Window,
    /// How much of the window the console has heard of, at most its span. Counts reach no further.
    #[serde(rename = "known_seconds", serialize_with = "super::json::seconds")]
    pub known: Duration,
    pub link: Link,
    /// How old the numbers are.
    #[serde(rename = "age_seconds", serialize_with = "super::json::seconds")]
    pub age: Duration,
    /// Now, RFC 3339, by the answering host's clock; empty when nobody has answered yet.
    pub now: String,
    /// Who answers; none when nobody has yet.
    pub hello: Option<Hello>,
    pub verdict: Verdict,
    pub totals: Totals,
    /// None until the books were counted.
    pub books: Option<BooksLine>,
    /// How old the numbers of the database are; none when there are none.
    #[serde(rename = "gauges_age_seconds", serialize_with = "super::json::some_seconds")]
    pub gauges_age: Option<Duration>,
    /// The worst first.
    pub handlers: Vec<HandlerRow>,
    /// The answering one first, then by name.
    pub hosts: Vec<HostRow>,
    /// By name.
    pub sinks: Vec<SinkRow>,
    /// By name.
    pub sources: Vec<SourceRow>,
    /// Those that fire, the oldest first.
    pub alerts: Vec<Alert>,
    /// What people did, the latest first.
    pub changes: Vec<Action>,
    /// Bulk operations that have not ended, and those that ended while the console looked.
    pub ops: Vec<Op>,
    /// Parked events that wait for people.
    pub parked: Option<Count>,
    /// Events that SQL callers enqueued and no host has routed yet.
    pub submitted: Option<Count>,
}

/// All handlers together.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Totals {
    pub hosts_alive: usize,
    pub hosts: usize,
    pub rates: Rates,
    /// Over the window.
    pub counts: Counts,
    /// The sum over handlers; an estimate when one of them is.
    pub depth: Option<Count>,
    pub slope: Option<f64>,
    /// Of all handlers.
    #[serde(rename = "oldest_due_seconds", serialize_with = "super::json::some_seconds")]
    pub oldest_due: Option<Duration>,
    pub dead_letters: Option<Count>,
    pub scheduled_retries: Option<Count>,
    /// All handlers and hosts, added before they are read.
    pub wait: Quantiles,
    pub run: Quantiles,
    pub end_to_end: Quantiles,
    /// See [`HandlerRow::done_series`].
    pub accepted_series: Vec<Option<f64>>,
    pub done_series: Vec<Option<f64>>,
    pub failed_series: Vec<Option<f64>>,
    pub depth_series: Vec<Option<f64>>,
    /// The p99 inside the guest of each column, in milliseconds.
    pub p99_series: Vec<Option<f64>>,
    /// Samples that were counted and never heard: percentiles are of the others.
    pub samples_lost: u64,
    /// Documents that could not be read, and events of a kind that this version does not know.
    pub skipped: u64,
}

/// The conservation law over all handlers:
/// `accepted = pending + done + ignored + dead + discarded + duplicates late + expired`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BooksLine {
    pub holds: bool,
    /// When they were counted, by the database's clock.
    pub at: String,
    /// How long ago.
    #[serde(rename = "age_seconds", serialize_with = "super::json::some_seconds")]
    pub age: Option<Duration>,
    pub accepted: i64,
    pub pending: i64,
    pub done: i64,
    pub ignored: i64,
    pub dead: i64,
    pub discarded: i64,
    pub duplicates_late: i64,
    pub expired: i64,
    /// Handlers whose books do not hold, with the right side minus the left: negative is lost.
    pub differ: Vec<(String, i64)>,
}

impl BooksLine {
    /// The equation with its numbers; terms that are zero are left out. The mark says whether it holds.
    #[must_use]
    pub fn equation(&self) -> String {
        let terms = [
            (self.pending, "pending"),
            (self.done, "done"),
            (self.ignored, "ignored"),
            (self.dead, "dead"),
            (self.discarded, "discarded"),
            (self.duplicates_late, "dup late"),
            (self.expired, "expired"),
        ];
        let shown: Vec<String> =
            terms.into_iter().filter(|(n, _)| *n != 0).map(|(n, name)| format!("{n} {name}")).collect();
        let right = if shown.is_empty() { "0".to_owned() } else { shown.join(" + ") };
        let (sign, mark) = if self.holds { ("=", "✓") } else { ("≠", "✗") };
        format!("accepted {} {sign} {right} {mark}", self.accepted)
    }
}
