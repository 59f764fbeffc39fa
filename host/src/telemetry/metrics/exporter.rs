//! The registry of the process and its Prometheus text. It listens nowhere: the admin API serves
//! [`MetricsHandle::render`]. Knows nothing of single metrics but their buckets and descriptions.

use std::sync::OnceLock;
use std::time::Duration;

use metrics::{describe_counter, describe_gauge, describe_histogram, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio_util::sync::CancellationToken;

use super::names::{self, Kind};

/// Upper bounds of every time histogram: from half a millisecond (a guest) to an hour (an event
/// that waited for its retries).
const BUCKETS_SECONDS: [f64; 18] = [
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0, 600.0,
    3600.0,
];
/// Upper bounds of the batch sizes.
const BUCKETS_DELIVERIES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
/// How often recorded samples are folded into the buckets, so that they cannot pile up between
/// scrapes.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

static INSTALLED: OnceLock<MetricsHandle> = OnceLock::new();

/// The registry's reading side. Cheap to clone.
#[derive(Clone)]
pub struct MetricsHandle(PrometheusHandle);

impl std::fmt::Debug for MetricsHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MetricsHandle")
    }
}

/// Makes this process count, once; later calls (another host in the same process) get the same
/// registry.
pub fn install() -> MetricsHandle {
    INSTALLED.get_or_init(build).clone()
}

fn build() -> MetricsHandle {
    let recorder = PrometheusBuilder::new()
        .set_buckets(&BUCKETS_SECONDS)
        .and_then(|builder| {
            let batch = Matcher::Full(names::BATCH.name.to_owned());
            builder.set_buckets_for_metric(batch, &BUCKETS_DELIVERIES)
        })
        .expect("the lists of buckets are not empty")
        .build_recorder();
    let handle = MetricsHandle(recorder.handle());
    // Another registry can only be there when a test installed its own: then that one counts.
    if metrics::set_global_recorder(recorder).is_ok() {
        describe();
        gauge!(names::BUILD_INFO.name, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    }
    handle
}

fn describe() {
    for metric in names::ALL {
        match metric.kind {
            Kind::Counter => describe_counter!(metric.name, metric.help),
            Kind::Gauge => describe_gauge!(metric.name, metric.help),
            Kind::Histogram => describe_histogram!(metric.name, metric.help),
        }
    }
}

impl MetricsHandle {
    /// All metrics in Prometheus' text format.
    #[must_use]
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// Folds samples into buckets regularly, until told to stop.
    pub async fn run_upkeep(self, stop: CancellationToken) {
        let mut tick = tokio::time::interval(UPKEEP_EVERY);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            self.0.run_upkeep();
        }
    }
}

#[cfg(test)]
mod tests {
    use wonce_core::fault::FaultClass;
    use wonce_core::name::HandlerName;

    use super::super::{InvocationEnd, fault, invocation};
    use super::*;

    #[test]
    fn what_is_counted_is_rendered_with_its_help_and_buckets() {
        let metrics = install();
        let handler = HandlerName::parse("rendered").expect("a name");
        fault(&handler, FaultClass::Trap);
        invocation(&handler, InvocationEnd::Failed, Duration::from_millis(3));
        let text = install().render();
        assert!(text.contains(r#"wonce_faults_total{handler="rendered",class="trap"} 1"#), "{text}");
        assert!(text.contains("# HELP wonce_faults_total Classified failures"), "{text}");
        assert!(text.contains(r#"wonce_guest_seconds_bucket{le="0.005"}"#), "{text}");
        assert!(metrics.render().contains("wonce_build_info{version="), "one registry for the process");
    }
}
