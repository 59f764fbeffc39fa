//! Rows of tables: one handler, host, sink or source. Plain values, all of them with a `Default`
//! that is empty; knows nothing of how they came about or how they are drawn.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::time::Duration;

use serde::Serialize;
use wonce_api::live::Count;

use super::Quantiles;

/// How something is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// Nothing was heard of it lately.
    #[default]
    Unknown,
    Fine,
    /// A person stopped it.
    Paused,
    Warning,
    Bad,
}

/// What was counted in a window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Deliveries accepted.
    pub accepted: u64,
    /// Deliveries committed by the handler.
    pub done: u64,
    /// Committed with nothing to do.
    pub ignored: u64,
    /// Runs that the handler failed.
    pub failed: u64,
    /// Deliveries put off for another attempt.
    pub retries: u64,
    /// Deliveries that became dead letters.
    pub dead: u64,
    /// Duplicates that intake ignored.
    pub duplicates_early: u64,
    /// Duplicates that the claim ignored.
    pub duplicates_late: u64,
    /// Keys that came again with another payload.
    pub key_conflicts: u64,
    /// Dead letters that people sent back.
    pub replays: u64,
    /// Batches rolled back as a whole.
    pub batches_undone: u64,
    /// Effects committed with deliveries.
    pub effects_committed: u64,
}

impl Counts {
    #[must_use]
    pub fn duplicates(&self) -> u64 {
        self.duplicates_early + self.duplicates_late
    }

    /// Invocations that came to an end.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.done + self.ignored + self.failed
    }

    /// Failed runs of all runs, 0 to 1; none without runs.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    pub fn error_share(&self) -> Option<f64> {
        let runs = self.runs();
        (runs > 0).then(|| self.failed as f64 / runs as f64)
    }

    pub(super) fn each(&self, other: &Counts, with: impl Fn(u64, u64) -> u64) -> Counts {
        Counts {
            accepted: with(self.accepted, other.accepted),
            done: with(self.done, other.done),
            ignored: with(self.ignored, other.ignored),
            failed: with(self.failed, other.failed),
            retries: with(self.retries, other.retries),
            dead: with(self.dead, other.dead),
            duplicates_early: with(self.duplicates_early, other.duplicates_early),
            duplicates_late: with(self.duplicates_late, other.duplicates_late),
            key_conflicts: with(self.key_conflicts, other.key_conflicts),
            replays: with(self.replays, other.replays),
            batches_undone: with(self.batches_undone, other.batches_undone),
            effects_committed: with(self.effects_committed, other.effects_committed),
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        *self = self.each(&other, u64::saturating_add);
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        let mut sum = Counts::default();
        all.for_each(|counts| sum += counts);
        sum
    }
}

/// Per second, over the last ten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Rates {
    pub accepted: f64,
    pub done: f64,
    pub ignored: f64,
    pub failed: f64,
    pub retries: f64,
}

impl Rates {
    /// Runs that ended well.
    #[must_use]
    pub fn ended_well(&self) -> f64 {
        self.done + self.ignored
    }
}

/// Whether a handler claims deliveries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HandlerState {
    /// The database was not asked yet, or does not know it.
    #[default]
    Unknown,
    Active,
    Paused,
}

/// One handler, over all hosts.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HandlerRow {
    pub name: String,
    pub health: Health,
    /// What is wrong with it, in a few words; empty when nothing is.
    pub why: String,
    pub state: HandlerState,
    /// The author's own text for the active version; empty when it is not known.
    pub version: String,
    /// Of the active version, in hex.
    pub digest: String,
    /// `ordered` or `unordered`; empty when it is not known.
    pub ordering: String,
    pub rates: Rates,
    /// Over the window.
    pub counts: Counts,
    /// Accepted and not settled.
    pub depth: Option<Count>,
    /// Of those, due by now.
    pub due: Option<Count>,
    /// Of those, waiting for their next attempt.
    pub scheduled_retries: Option<Count>,
    /// How the depth changes, per second; negative drains.
    pub slope: Option<f64>,
    /// For how long the oldest due delivery has been due; none when none is.
    #[serde(rename = "oldest_due_seconds", serialize_with = "super::json::some_seconds")]
    pub oldest_due: Option<Duration>,
    /// Open dead letters.
    pub dead_letters: Option<Count>,
    /// How long ago the oldest open dead letter failed last.
    #[serde(rename = "oldest_dead_seconds", serialize_with = "super::json::some_seconds")]
    pub oldest_dead: Option<Duration>,
    /// From acceptance to the claim, over the window and all hosts.
    pub wait: Quantiles,
    /// Inside the guest.
    pub run: Quantiles,
    /// From acceptance to the commit that settled it.
    pub end_to_end: Quantiles,
    /// Runs that ended well, per second, for each column of the window, oldest first; none where
    /// nothing was heard.
    pub done_series: Vec<Option<f64>>,
    /// Failed runs per second, likewise.
    pub failed_series: Vec<Option<f64>>,
    /// The depth at the end of each column, likewise.
    pub depth_series: Vec<Option<f64>>,
}

/// How a host is, as the answering host sees it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HostState {
    Alive,
    /// Nothing is heard of it; it may be dead.
    #[default]
    Silent,
    /// It said goodbye.
    Stopped,
}

/// One boot of one host.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HostRow {
    pub name: String,
    pub boot: String,
    pub version: String,
    pub state: HostState,
    pub health: Health,
    /// What is wrong with it, in a few words; empty when nothing is.
    pub why: String,
    /// Whether it is the one that the console follows.
    pub is_answering: bool,
    pub started_at: String,
    /// How long ago it was heard.
    #[serde(rename = "heard_seconds", serialize_with = "super::json::seconds")]
    pub heard: Duration,
    pub permits_in_use: u32,
    pub permits: u32,
    /// Processors in use, over the last ten seconds: 1.5 is one and a half.
    pub processors: Option<f64>,
    pub memory_bytes: Option<u64>,
    /// Readers of the live stream.
    pub readers: u32,
    /// Log lines lost since boot.
    pub log_lines_dropped: u64,
    /// For how long it has not reached its database; none when it does.
    #[serde(rename = "database_away_seconds", serialize_with = "super::json::some_seconds")]
    pub database_away: Option<Duration>,
    pub rates: Rates,
    /// Over the window.
    pub counts: Counts,
    /// Ticks of it that were never heard.
    pub ticks_missed: u64,
}

/// One sink, over all hosts.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SinkRow {
    pub name: String,
    pub health: Health,
    /// What is wrong with it, in a few words; empty when nothing is.
    pub why: String,
    pub planned: Option<Count>,
    pub sending: Option<Count>,
    pub refused: Option<Count>,
    pub unknown: Option<Count>,
    /// How long ago the oldest effect that is not sent was committed.
    #[serde(rename = "oldest_planned_seconds", serialize_with = "super::json::some_seconds")]
    pub oldest_planned: Option<Duration>,
    /// Effects confirmed per second, over the last ten.
    pub confirmed_per_second: f64,
    /// Over the window, by the state that effects entered: `sending` counts attempts, `planned`
    /// retries, the rest results.
    pub entered: BTreeMap<String, u64>,
}

/// One source, over all hosts.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SourceRow {
    pub name: String,
    pub health: Health,
    /// What is wrong with it, in a few words; empty when nothing is.
    pub why: String,
    /// Answers per second, over the last ten.
    pub answers_per_second: f64,
    /// Over the window, by HTTP status.
    pub answers: BTreeMap<String, u64>,
}
