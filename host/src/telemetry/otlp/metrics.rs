//! The registry as OTLP metrics, sent every so often. Names, labels and units are the page's; counters and
//! histograms are cumulative since the process started, so a lost export loses no count and none is
//! tried twice. Knows nothing of how the numbers came to be.

use std::time::{Duration, SystemTime};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum, metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::{Error, FLUSH_LIMIT, Link, OtlpSettings, scope, words};
use crate::telemetry::metrics::names::{Kind, Scope};
use crate::telemetry::metrics::page::{Distribution, Family, Page, Point, Value};
use crate::telemetry::metrics::{MetricsHandle, Signal};

/// Numbers of one process: add them over hosts.
const HOST_SCOPE: &str = "wonce.host";
/// Numbers of the database: every host says the same.
const FLEET_SCOPE: &str = "wonce.fleet";

/// The service that sends metrics.
#[derive(Debug)]
pub struct MetricsExport {
    link: Link,
    registry: MetricsHandle,
    every: Duration,
}

impl MetricsExport {
    /// Sends what `registry` holds, once in `every`.
    ///
    /// # Errors
    /// When the settings are not usable.
    pub fn new(
        client: reqwest::Client,
        settings: &OtlpSettings,
        registry: MetricsHandle,
        every: Duration,
    ) -> Result<Self, Error> {
        Ok(Self { link: Link::new(client, settings, Signal::Metrics)?, registry, every })
    }

    /// Sends until told to stop, then once more.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut tick = tokio::time::interval(self.every);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            stop.run_until_cancelled(self.send()).await;
        }
        // Cut off or not: the receiver's own log would say no more.
        let _in_time = tokio::time::timeout(FLUSH_LIMIT, self.send()).await;
    }

    async fn send(&mut self) {
        let page = self.registry.page();
        let times = Times { since: self.registry.since(), now: SystemTime::now() };
        let request = request(&page, &times, self.link.resource.clone());
        self.link.receiver.send(&request).await;
    }
}

struct Times {
    since: SystemTime,
    now: SystemTime,
}

fn request(page: &Page, times: &Times, resource: Resource) -> ExportMetricsServiceRequest {
    let of = |wanted: Scope, name: &str| ScopeMetrics {
        scope: Some(scope(name)),
        metrics: page
            .families()
            .iter()
            .filter(|family| family.metric.scope == wanted && !family.points.is_empty())
            .map(|family| metric(family, times))
            .collect(),
        schema_url: String::new(),
    };
    let scopes = [of(Scope::Host, HOST_SCOPE), of(Scope::Fleet, FLEET_SCOPE)];
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(resource),
            scope_metrics: scopes.into_iter().filter(|scope| !scope.metrics.is_empty()).collect(),
            schema_url: String::new(),
        }],
    }
}

fn metric(family: &Family, times: &Times) -> Metric {
    let cumulative = AggregationTemporality::Cumulative.into();
    let data = match family.metric.kind {
        Kind::Counter => metric::Data::Sum(Sum {
            data_points: numbers(family, times),
            aggregation_temporality: cumulative,
            is_monotonic: true,
        }),
        Kind::Gauge => metric::Data::Gauge(Gauge { data_points: numbers(family, times) }),
        Kind::Histogram => metric::Data::Histogram(Histogram {
            data_points: family.points.iter().filter_map(|point| histogram(family, point, times)).collect(),
            aggregation_temporality: cumulative,
        }),
    };
    Metric {
        name: family.metric.name.to_owned(),
        description: family.metric.help.to_owned(),
        unit: family.metric.unit().to_owned(),
        data: Some(data),
        ..Metric::default()
    }
}

fn numbers(family: &Family, times: &Times) -> Vec<NumberDataPoint> {
    let number = |point: &Point| {
        let value = match point.value {
            Value::Whole(number) => {
                number_data_point::Value::AsInt(i64::try_from(number).unwrap_or(i64::MAX))
            }
            Value::Real(number) => number_data_point::Value::AsDouble(number),
            Value::Distribution(_) => return None,
        };
        Some(NumberDataPoint {
            attributes: attributes(family, point),
            start_time_unix_nano: match family.metric.kind {
                Kind::Counter => words::nanos(times.since),
                Kind::Gauge | Kind::Histogram => 0,
            },
            time_unix_nano: words::nanos(times.now),
            value: Some(value),
            ..NumberDataPoint::default()
        })
    };
    family.points.iter().filter_map(number).collect()
}

fn histogram(family: &Family, point: &Point, times: &Times) -> Option<HistogramDataPoint> {
    let Value::Distribution(Distribution { count, sum, bounds, buckets }) = &point.value else { return None };
    Some(HistogramDataPoint {
        attributes: attributes(family, point),
        start_time_unix_nano: words::nanos(times.since),
        time_unix_nano: words::nanos(times.now),
        count: *count,
        sum: Some(*sum),
        bucket_counts: buckets.clone(),
        explicit_bounds: bounds.clone(),
        ..HistogramDataPoint::default()
    })
}

fn attributes(family: &Family, point: &Point) -> Vec<KeyValue> {
    let labels = family.metric.labels.iter().zip(&point.labels);
    labels.map(|(name, value)| words::text(name, value)).collect()
}
