//! The figures that have a name, a unit and perhaps a goal: the rows of the table and the stable keys of
//! `report.json`. Pure.

/// One figure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Metric {
    pub(crate) key: &'static str,
    pub(crate) unit: Unit,
    pub(crate) goal: Option<Goal>,
    /// For people.
    pub(crate) says: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Ratio,
    PerSecond,
    Milliseconds,
    Microseconds,
    Mebibytes,
    Bytes,
    Count,
}

/// What a figure should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    pub(crate) fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(bound) => value >= bound,
            Self::AtMost(bound) => value <= bound,
        }
    }
}

impl Unit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ratio => "ratio",
            Self::PerSecond => "1/s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Mebibytes => "MiB",
            Self::Bytes => "B",
            Self::Count => "count",
        }
    }

    /// A value as people read it.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::Ratio => format!("{value:.2}x"),
            Self::PerSecond => grouped(value),
            Self::Milliseconds => format!("{value:.2} ms"),
            Self::Microseconds => format!("{value:.1} µs"),
            Self::Mebibytes => format!("{value:.1} MiB"),
            Self::Bytes => format!("{} B", grouped(value)),
            Self::Count => format!("{value:.2}"),
        }
    }
}

/// The unit of a figure: as the catalog says, else from the end of its key.
pub(crate) fn unit(key: &str) -> Unit {
    CATALOG.iter().find(|metric| metric.key == key).map_or_else(|| unit_of_end(key), |metric| metric.unit)
}

fn unit_of_end(key: &str) -> Unit {
    let last = key.rsplit('.').next().unwrap_or(key);
    match last {
        "events_per_s" => Unit::PerSecond,
        "wal_bytes" => Unit::Bytes,
        _ if last.ends_with("_mib") => Unit::Mebibytes,
        _ if last.ends_with("_ms") => Unit::Milliseconds,
        _ if last.ends_with("_us") || last.ends_with("us_per_event") => Unit::Microseconds,
        _ if last.contains("_vs_") || last.starts_with("vs_") => Unit::Ratio,
        _ => Unit::Count,
    }
}

/// Whole, with commas between thousands.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

const fn metric(key: &'static str, unit: Unit, goal: Option<Goal>, says: &'static str) -> Metric {
    Metric { key, unit, goal, says }
}

use Goal::{AtLeast, AtMost};

/// In the order of the table.
pub(crate) const CATALOG: &[Metric] = &[
    metric("drain.vs_hand_one", Unit::Ratio, Some(AtLeast(8.0)), "blind drain, against by hand one by one"),
    metric("drain.vs_hand_batch", Unit::Ratio, Some(AtLeast(2.0)), "blind drain, against by hand in batches"),
    metric(
        "drain.vs_ceiling",
        Unit::Ratio,
        Some(AtLeast(0.6)),
        "blind drain, against pgbench in pipelined batches",
    ),
    metric(
        "payment.vs_hand_batch",
        Unit::Ratio,
        Some(AtLeast(1.5)),
        "payment drain, against by hand in batches",
    ),
    metric(
        "single.vs_hand_one",
        Unit::Ratio,
        Some(AtLeast(1.6)),
        "one delivery a transaction, against by hand",
    ),
    metric(
        "latency.p50_vs_hand",
        Unit::Ratio,
        Some(AtMost(1.2)),
        "accepted to committed at 100/s, p50, against by hand",
    ),
    metric(
        "latency.p99_vs_hand",
        Unit::Ratio,
        Some(AtMost(1.5)),
        "accepted to committed at 100/s, p99, against by hand",
    ),
    metric(
        "intake.accepts_per_s",
        Unit::PerSecond,
        Some(AtLeast(10_000.0)),
        "durable accepts over HTTP, 64 connections",
    ),
    metric(
        "intake.p99_ms_at_half",
        Unit::Milliseconds,
        Some(AtMost(25.0)),
        "answer to an event at half that rate, p99",
    ),
    metric(
        "cpu_us_per_event.host",
        Unit::Microseconds,
        Some(AtMost(30.0)),
        "the host's processor time an event, blind drain",
    ),
    metric(
        "cpu_us_per_event.postgres",
        Unit::Microseconds,
        None,
        "Postgres's processor time an event, blind drain",
    ),
    metric("rss_mib", Unit::Mebibytes, Some(AtMost(100.0)), "the host's memory after the drain"),
    metric(
        "backlog.claim_ratio",
        Unit::Ratio,
        Some(AtMost(1.3)),
        "time of 20,000 events before 1,000,000 waiting ones, against 10,000",
    ),
    metric("backlog.memory_ratio", Unit::Ratio, Some(AtMost(1.3)), "the host's memory there"),
    metric(
        "faults.retry_1pct_vs_clean",
        Unit::Ratio,
        Some(AtLeast(0.8)),
        "drain with 1 % retries, against clean",
    ),
    metric(
        "faults.dead_1pct_vs_clean",
        Unit::Ratio,
        Some(AtLeast(0.8)),
        "drain with 1 % dead letters, against clean",
    ),
    metric(
        "ordered.vs_unordered",
        Unit::Ratio,
        Some(AtLeast(0.7)),
        "drain of 10,000 ordering keys, against unordered",
    ),
    metric("hosts.two_vs_one", Unit::Ratio, Some(AtLeast(0.9)), "two hosts on one database, against one"),
    metric(
        "hot_key.others_vs_without",
        Unit::Ratio,
        Some(AtLeast(0.9)),
        "cold keys beside a hot one, against alone",
    ),
    metric("wal_bytes_per_event", Unit::Bytes, None, "write-ahead log an event, blind drain"),
    metric("dead_tuples_per_event", Unit::Count, None, "rows that die an event, intake included"),
];

/// What `--quick` refuses, whatever the goals are.
pub(crate) const QUICK_LIMITS: &[(&str, Goal)] =
    &[("drain.vs_hand_batch", AtLeast(1.0)), ("latency.p50_vs_hand", AtMost(2.0))];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_at_its_bound() {
        assert!(AtLeast(2.0).is_met(2.0) && !AtLeast(2.0).is_met(1.99));
        assert!(AtMost(1.5).is_met(1.5) && !AtMost(1.5).is_met(1.51));
        assert!(!AtLeast(1.0).is_met(f64::NAN) && !AtMost(1.0).is_met(f64::NAN));
    }

    #[test]
    fn thousands_are_grouped() {
        let shown = [7.0, 999.0, 1000.0, 38_868.4, 1_234_567.0].map(|value| Unit::PerSecond.show(value));
        assert_eq!(shown, ["7", "999", "1,000", "38,868", "1,234,567"]);
    }

    #[test]
    fn a_key_is_there_once() {
        let mut keys: Vec<&str> = CATALOG.iter().map(|metric| metric.key).collect();
        keys.sort_unstable();
        let all = keys.len();
        keys.dedup();
        assert_eq!(keys.len(), all);
        assert!(QUICK_LIMITS.iter().all(|(key, _)| keys.contains(key)));
    }

    #[test]
    fn the_end_of_a_key_says_its_unit() {
        let keys = [
            "blind.wonce.events_per_s",
            "latency.hand.p50_ms",
            "blind.wonce.worker_us",
            "payment.vs_hand_one",
        ];
        assert_eq!(keys.map(unit), [Unit::PerSecond, Unit::Milliseconds, Unit::Microseconds, Unit::Ratio]);
    }
}
