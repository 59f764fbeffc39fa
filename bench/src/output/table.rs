//! The table for people. Pure: it makes text.

use std::fmt::Write as _;

use crate::catalog::{CATALOG, Goal, unit};
use crate::record::Record;

/// The figures with goals first, then everything that was recorded besides.
pub(crate) fn table(record: &Record) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{:<30} {:>12} {:>25}  {:<14} what", "figure", "median", "min … max", "goal");
    for metric in CATALOG {
        let Some(summary) = record.summary(metric.key) else { continue };
        let show = |value| metric.unit.show(value);
        let range = format!("{} … {}", show(summary.min), show(summary.max));
        let goal = metric.goal.map_or_else(String::new, |goal| {
            let mark = if goal.is_met(summary.median) { "met" } else { "MISSED" };
            match goal {
                Goal::AtLeast(bound) => format!("≥ {} {mark}", short(bound)),
                Goal::AtMost(bound) => format!("≤ {} {mark}", short(bound)),
            }
        });
        let _ = writeln!(
            out,
            "{:<30} {:>12} {range:>25}  {goal:<14} {}",
            metric.key,
            show(summary.median),
            metric.says
        );
    }
    out.push('\n');
    for key in record.keys().filter(|key| CATALOG.iter().all(|metric| metric.key != *key)) {
        let Some(summary) = record.summary(key) else { continue };
        let show = |value| unit(key).show(value);
        let range = format!("{} … {}", show(summary.min), show(summary.max));
        let _ = writeln!(out, "{key:<38} {:>14} {range:>28}", show(summary.median));
    }
    out
}

fn short(bound: f64) -> String {
    if bound >= 1000.0 { format!("{bound:.0}") } else { format!("{bound}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_median_range_goal_and_whether_it_is_met() {
        let mut record = Record::default();
        for value in [2.4, 2.0, 2.9] {
            record.put("drain.vs_hand_batch", value);
        }
        record.put("latency.p50_vs_hand", 1.7);
        record.put("blind.wonce.events_per_s", 38_868.0);
        let table = table(&record);
        let row = |key: &str| table.lines().find(|line| line.starts_with(key)).unwrap();
        let drain = row("drain.vs_hand_batch");
        assert!(
            drain.contains("2.40x") && drain.contains("2.00x … 2.90x") && drain.contains("≥ 2 met"),
            "{drain}"
        );
        assert!(row("latency.p50_vs_hand").contains("≤ 1.2 MISSED"));
        assert!(row("blind.wonce.events_per_s").contains("38,868"));
        assert!(!table.contains("hot_key"), "what was not measured has no row");
    }
}
