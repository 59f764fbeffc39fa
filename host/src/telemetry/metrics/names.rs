//! Every metric: name, labels, meaning, scope and method. docs/metrics.md shows this table and a
//! test compares the two. Knows nothing of values.

use std::fmt;

/// Rows are counted up to here, so that no look ever walks millions of them; what there is more is
/// the planner's estimate.
pub const COUNT_CAP: u32 = 10_000;

/// What kind of number it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// What the number covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// This process since it started: add over hosts.
    Host,
    /// The database: every host shows the same, so take one, never the sum.
    Fleet,
}

/// How true the number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Exact,
    /// Exact up to [`COUNT_CAP`], the planner's estimate above.
    Estimated,
}

/// One metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    pub name: &'static str,
    pub kind: Kind,
    pub labels: &'static [&'static str],
    pub scope: Scope,
    pub method: Method,
    pub help: &'static str,
}

impl Metric {
    /// The unit of its numbers as OpenTelemetry has it (UCUM); nothing for plain counts.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        let name = self.name.strip_suffix("_total").unwrap_or(self.name);
        match name.rsplit('_').next() {
            Some("seconds") => "s",
            Some("bytes") => "By",
            Some(_) | None => "",
        }
    }
}

impl fmt::Display for Metric {
    /// The row of docs/metrics.md.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let scope = match self.scope {
            Scope::Host => "host",
            Scope::Fleet => "fleet",
        };
        let method = match self.method {
            Method::Exact => "exact",
            Method::Estimated => "exact to 10,000, then estimated",
        };
        let labels = self.labels.iter().map(|l| format!("`{l}`")).collect::<Vec<_>>().join(", ");
        write!(f, "| `{}` | {kind} | {labels} | {scope} | {method} | {} |", self.name, self.help)
    }
}

macro_rules! metrics {
    ($($ident:ident = $name:literal, $kind:ident [$($label:literal),*] $scope:ident $method:ident, $help:literal;)*) => {
        $(
            #[doc = $help]
            pub const $ident: Metric = Metric {
                name: $name,
                kind: Kind::$kind,
                labels: &[$($label),*],
                scope: Scope::$scope,
                method: Method::$method,
                help: $help,
            };
        )*
        /// All of them, in the order of the documentation.
        pub const ALL: &[Metric] = &[$($ident),*];
    };
}

metrics! {
    ACCEPTED = "wonce_accepted_total", Counter ["handler"] Host Exact, "Deliveries accepted.";
    DUPLICATES = "wonce_duplicates_total", Counter ["handler", "found"] Host Exact, "Duplicates ignored: `early` by intake, `late` when claimed.";
    KEY_CONFLICTS = "wonce_key_conflicts_total", Counter ["handler"] Host Exact, "Keys that came again with another payload; each is kept as a dead letter.";
    PARKED = "wonce_parked_total", Counter ["reason"] Host Exact, "Events that could not become a delivery and were kept.";
    UNROUTED_IGNORED = "wonce_unrouted_ignored_total", Counter [] Host Exact, "Events that no handler wants and whose source ignores such.";
    INVOCATIONS = "wonce_invocations_total", Counter ["handler", "outcome"] Host Exact, "Runs of a guest: `done`, `ignored` or `failed`. `done` and `ignored` are the events processed.";
    FAULTS = "wonce_faults_total", Counter ["handler", "class"] Host Exact, "Classified failures, whether they counted as an attempt or not.";
    RETRIES = "wonce_retries_total", Counter ["handler", "class"] Host Exact, "Deliveries put off for another attempt.";
    DEAD = "wonce_dead_total", Counter ["handler", "reason"] Host Exact, "Deliveries that ended as a dead letter.";
    REPLAYS = "wonce_replays_total", Counter ["handler"] Host Exact, "Deliveries that people made of dead letters.";
    EFFECTS_COMMITTED = "wonce_effects_committed_total", Counter ["handler"] Host Exact, "Effects committed together with their delivery.";
    EFFECTS = "wonce_effects_total", Counter ["handler", "sink", "state"] Host Exact, "Effects that the relay moved into a state: `sending` counts attempts, `planned` retries, the rest results.";
    HTTP_REQUESTS = "wonce_http_requests_total", Counter ["source", "status"] Host Exact, "Answered requests of HTTP sources.";
    LOG_LINES_DROPPED = "wonce_log_lines_dropped_total", Counter [] Host Exact, "Log lines that a full queue or a used-up budget swallowed.";
    LIVE_LOG_LINES_MISSED = "wonce_live_log_lines_missed_total", Counter [] Host Exact, "Log lines that readers of the live stream were not sent because there were too many.";
    ALERT_NOTICES = "wonce_alert_notices_total", Counter ["result"] Host Exact, "Requests to the webhook for alerts: `sent`, `failed` (tried again) or `dropped` (given up).";
    OTLP_EXPORTS = "wonce_otlp_exports_total", Counter ["signal", "result"] Host Exact, "Requests to the OTLP receiver: `taken`, `failed` (it is away or busy) or `refused`.";
    POOL_WAIT = "wonce_pool_wait_seconds", Histogram ["handler"] Host Exact, "Wait for a permit, and so for a database connection.";
    CLAIM = "wonce_claim_seconds", Histogram ["handler"] Host Exact, "Time of a claim that found work.";
    WAIT = "wonce_wait_seconds", Histogram ["handler"] Host Exact, "From acceptance to the claim, once for each delivery and claim.";
    GUEST = "wonce_guest_seconds", Histogram ["handler"] Host Exact, "Time inside the guest, its SQL included.";
    COMMIT = "wonce_commit_seconds", Histogram ["handler"] Host Exact, "Time of one commit, with what was queued for it.";
    BATCH = "wonce_batch_deliveries", Histogram ["handler"] Host Exact, "Deliveries that one commit settled.";
    BATCHES_UNDONE = "wonce_batches_undone_total", Counter ["handler"] Host Exact, "Batches that were rolled back as a whole; their deliveries ran singly, and no attempt was counted.";
    END_TO_END = "wonce_end_to_end_seconds", Histogram ["handler"] Host Exact, "From acceptance to the commit that settled the delivery.";
    PERMITS_IN_USE = "wonce_permits_in_use", Gauge [] Host Exact, "Invocations that run at this moment.";
    PERMITS = "wonce_permits", Gauge [] Host Exact, "Invocations that may run at once.";
    LIVE_READERS = "wonce_live_readers", Gauge [] Host Exact, "Readers of the live stream.";
    PROCESS_CPU = "wonce_process_cpu_seconds_total", Counter [] Host Exact, "Processor time of this process.";
    PROCESS_MEMORY = "wonce_process_resident_memory_bytes", Gauge [] Host Exact, "Resident memory of this process.";
    BUILD_INFO = "wonce_build_info", Gauge ["version"] Host Exact, "Always 1; the label says which build runs.";
    INBOX_DEPTH = "wonce_inbox_depth", Gauge ["handler"] Fleet Estimated, "Deliveries accepted and not settled.";
    INBOX_DUE = "wonce_inbox_due", Gauge ["handler"] Fleet Estimated, "Deliveries that could run now, those behind an ordering key's head included.";
    OLDEST_DUE_AGE = "wonce_oldest_due_age_seconds", Gauge ["handler"] Fleet Exact, "How long the oldest due delivery has been due; 0 when none is.";
    SCHEDULED_RETRIES = "wonce_scheduled_retries", Gauge ["handler"] Fleet Estimated, "Deliveries that wait for their next attempt.";
    DEAD_LETTERS = "wonce_dead_letters", Gauge ["handler"] Fleet Estimated, "Dead letters that nobody has replayed or discarded. Parked events have the handler `-`.";
    OLDEST_DEAD_AGE = "wonce_oldest_dead_letter_age_seconds", Gauge ["handler"] Fleet Exact, "How long ago the first of these dead letters failed last; 0 when there is none.";
    SUBMITTED = "wonce_submitted", Gauge [] Fleet Estimated, "Events enqueued from SQL that no host has routed yet.";
    OUTBOX = "wonce_outbox", Gauge ["sink", "state"] Fleet Estimated, "Effects in a state; `confirmed` is counted by `wonce_effects_total` only.";
    OLDEST_PLANNED_AGE = "wonce_oldest_planned_effect_age_seconds", Gauge ["sink"] Fleet Exact, "How long ago the oldest effect that is not sent was committed; 0 when there is none.";
    ALERT_FIRING = "wonce_alert_firing", Gauge ["handler", "rule"] Fleet Exact, "1 while an alert of the handler fires, else 0. Rules that are not in the configuration are not shown.";
    HOSTS = "wonce_hosts", Gauge ["state"] Fleet Exact, "Hosts seen lately: `alive`, `silent` (nothing heard for 3 s) or `stopped` in order.";
    BOOKS_HOLD = "wonce_books_hold", Gauge [] Fleet Exact, "1 when the conservation law held for every handler at the last count, else 0.";
    BOOKS_READ = "wonce_books_counted_timestamp_seconds", Gauge [] Fleet Exact, "When the books were last counted, in seconds since 1970; the larger they are the rarer.";
    GAUGES_READ = "wonce_gauges_read_timestamp_seconds", Gauge [] Host Exact, "When this host last read the numbers of scope `fleet`, in seconds since 1970.";
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCS: &str = include_str!("../../../../docs/metrics.md");

    #[test]
    fn the_documented_table_is_the_one_in_the_code() {
        let documented: Vec<&str> = DOCS.lines().filter(|l| l.starts_with("| `wonce_")).collect();
        let known: Vec<String> = ALL.iter().map(Metric::to_string).collect();
        assert_eq!(documented, known, "docs/metrics.md should hold:\n{}", known.join("\n"));
    }

    #[test]
    fn a_name_says_its_unit_and_is_used_once() {
        for (index, metric) in ALL.iter().enumerate() {
            assert!(ALL[..index].iter().all(|m| m.name != metric.name), "{}", metric.name);
            match metric.kind {
                Kind::Counter => assert!(metric.name.ends_with("_total"), "{}", metric.name),
                Kind::Histogram => {
                    assert!(
                        ["_seconds", "_deliveries"].iter().any(|unit| metric.name.ends_with(unit)),
                        "{}",
                        metric.name
                    );
                }
                Kind::Gauge => assert!(!metric.name.ends_with("_total"), "{}", metric.name),
            }
        }
    }
}
