//! `report.json`: the figures under stable keys with the machine and the settings they were made on.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;

use crate::catalog::{CATALOG, Goal, unit};
use crate::measure::{Extent, Size};
use crate::record::Record;

/// Grows when a key changes its meaning.
const FORMAT: u32 = 1;

/// The whole document.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    format: u32,
    /// By the server's clock.
    pub(crate) made_at: String,
    pub(crate) wonce: String,
    extent: &'static str,
    rounds: u32,
    events: u64,
    pub(crate) machine: Machine,
    pub(crate) postgres: BTreeMap<String, String>,
    results: BTreeMap<String, Figure>,
    /// What could not be measured, and why.
    not_measured: BTreeMap<String, String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    cores: usize,
    processor: String,
    memory_mib: u64,
    kernel: String,
}

#[derive(Debug, Serialize)]
struct Figure {
    unit: &'static str,
    median: f64,
    min: f64,
    max: f64,
    rounds: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    met: Option<bool>,
}

impl Report {
    /// The figures of a record; machine and server are told by the caller.
    pub(crate) fn new(
        record: &Record,
        size: Size,
        failures: impl IntoIterator<Item = (String, String)>,
        machine: Machine,
    ) -> Self {
        let results = record.keys().filter_map(|key| Some((key.to_owned(), figure(record, key)?))).collect();
        Self {
            format: FORMAT,
            made_at: String::new(),
            wonce: String::new(),
            extent: match size.extent {
                Extent::Quick => "quick",
                Extent::Usual => "usual",
                Extent::Full => "full",
            },
            rounds: size.rounds,
            events: size.events,
            machine,
            postgres: BTreeMap::new(),
            results,
            not_measured: failures.into_iter().collect(),
        }
    }

    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let mut text = serde_json::to_string_pretty(self).context("write the report")?;
        text.push('\n');
        std::fs::write(path, text).with_context(|| format!("write \"{}\"", path.display()))
    }
}

fn figure(record: &Record, key: &str) -> Option<Figure> {
    let summary = record.summary(key)?;
    let metric = CATALOG.iter().find(|metric| metric.key == key);
    let goal = metric.and_then(|metric| metric.goal);
    Some(Figure {
        unit: unit(key).name(),
        median: rounded(summary.median),
        min: rounded(summary.min),
        max: rounded(summary.max),
        rounds: record.rounds(key).iter().copied().map(rounded).collect(),
        goal: goal.map(|goal| match goal {
            Goal::AtLeast(bound) => format!(">= {bound}"),
            Goal::AtMost(bound) => format!("<= {bound}"),
        }),
        met: goal.map(|goal| goal.is_met(summary.median)),
    })
}

/// Three decimals: more would be noise that changes with every run.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

impl Machine {
    /// This one.
    pub(crate) fn here() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
            line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
        };
        let kib = field(&read("/proc/meminfo"), "MemTotal");
        Self {
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            processor: field(&read("/proc/cpuinfo"), "model name"),
            memory_mib: kib.trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1024,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_the_figure_under_its_key_with_goal_and_rounds() {
        let mut record = Record::default();
        record.put("drain.vs_hand_batch", 2.5);
        record.put("drain.vs_hand_batch", 1.5);
        record.put("blind.wonce.events_per_s", 30_000.123_456);
        let size = Size { extent: Extent::Usual, rounds: 2, events: 10, warm_up: 1, latency_events: 1 };
        let failures = [("HotKey".to_owned(), "no time".to_owned())];
        let report = Report::new(&record, size, failures, Machine::here());
        let json = serde_json::to_value(&report).unwrap();
        let figure = &json["results"]["drain.vs_hand_batch"];
        assert_eq!(figure["median"].as_f64(), Some(2.0));
        assert_eq!(figure["goal"], ">= 2");
        assert_eq!(figure["met"], true);
        assert_eq!(figure["rounds"].as_array().map(Vec::len), Some(2));
        assert_eq!(json["results"]["blind.wonce.events_per_s"]["median"].as_f64(), Some(30_000.123));
        assert_eq!(json["not_measured"]["HotKey"], "no time");
    }
}
