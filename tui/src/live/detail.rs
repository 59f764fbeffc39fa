//! One handler, as its own screen shows it. Plain values; knows nothing of how they are drawn.

use std::time::Duration;

use wonce_api::action::Action;
use wonce_api::live::{Alert, Stage};

use super::{Counts, Distribution, HandlerRow, Quantiles, Rates, Window};

/// All that the screen of one handler shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HandlerDetail {
    pub window: Window,
    /// How much of the window the console has heard of.
    pub known: Duration,
    pub row: HandlerRow,
    /// Where the time goes: every stage that took samples.
    pub stages: Vec<StageRow>,
    /// Faults by class over the window, the most first.
    pub faults: Vec<ClassRow>,
    /// Dead letters by reason over the window, the most first.
    pub dead: Vec<ClassRow>,
    /// By host, the one with the most runs first.
    pub hosts: Vec<HostShare>,
    /// Since the boots that are known: what the hosts say, summed.
    pub since_boot: Counts,
    /// Those of this handler that fire.
    pub alerts: Vec<Alert>,
    /// What people did with it, the latest first.
    pub changes: Vec<Action>,
}

/// One stage with its history. Times are in microseconds, those of [`Stage::Batch`] are deliveries.
#[derive(Debug, Clone, PartialEq)]
pub struct StageRow {
    pub stage: Stage,
    /// Over the window and all hosts: the sum of all columns, read once.
    pub quantiles: Quantiles,
    /// For each column of the window, oldest first; none where nothing was heard.
    pub columns: Vec<Option<HeatColumn>>,
    /// Samples above an hour, recorded as one.
    pub over: u64,
}

/// What one stage took in one column of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatColumn {
    /// For the cells: ask it for [`Distribution::between`].
    pub samples: Distribution,
    /// For the marks, read from this column's samples.
    pub quantiles: Quantiles,
}

/// How often one class or reason came in the window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClassRow {
    pub name: String,
    pub count: u64,
    /// Over the last ten seconds.
    pub per_second: f64,
    /// Per second for each column of the window, oldest first; none where nothing was heard.
    pub series: Vec<Option<f64>>,
}

/// What one host did for a handler.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostShare {
    pub host: String,
    pub boot: String,
    /// Over the last ten seconds.
    pub rates: Rates,
    /// Since its boot.
    pub since_boot: Counts,
}

impl HandlerDetail {
    /// What is known of a stage; none when it took no samples in the window.
    #[must_use]
    pub fn stage(&self, stage: Stage) -> Option<&StageRow> {
        self.stages.iter().find(|row| row.stage == stage)
    }
}
