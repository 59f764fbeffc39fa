//! An OpenTelemetry receiver: takes OTLP over HTTP as the official protocol has it, and keeps what it
//! decoded. Knows nothing of wonce's own names.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::{Metric, metric, number_data_point};
use prost::Message;
use tokio::net::TcpListener;

/// See the module.
#[derive(Debug, Clone)]
pub struct Collector {
    pub address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Debug, Default)]
struct Seen {
    metrics: Vec<ExportMetricsServiceRequest>,
    headers: HeaderMap,
    /// What every request is answered with; none is 200.
    answer: Option<u16>,
}

impl Collector {
    /// Listens for as long as the test runs.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let seen = Arc::default();
        let routes = Router::new().route("/v1/metrics", post(metrics)).with_state(Arc::clone(&seen));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, seen }
    }

    /// The table that sends a host's exports here, with more lines of it.
    #[must_use]
    pub fn table(&self, lines: &str) -> String {
        format!("[telemetry.otlp]\nendpoint = \"http://{}\"\ninterval = \"100ms\"\n{lines}\n", self.address)
    }

    /// Answers every request so from now on.
    pub fn answer(&self, status: u16) {
        self.lock().answer = Some(status);
    }

    /// The headers of the last request.
    #[must_use]
    pub fn headers(&self) -> HeaderMap {
        self.lock().headers.clone()
    }

    /// The last export of metrics as lines of Prometheus' text, its names with the scope before them.
    #[must_use]
    pub fn metric_lines(&self) -> BTreeSet<String> {
        let seen = self.lock();
        let Some(last) = seen.metrics.last() else { return BTreeSet::new() };
        let scopes = last.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
        scopes.flat_map(|scope| &scope.metrics).flat_map(lines).collect()
    }

    /// The metrics of the last export by scope.
    #[must_use]
    pub fn metrics(&self, scope: &str) -> Vec<Metric> {
        let seen = self.lock();
        let Some(last) = seen.metrics.last() else { return Vec::new() };
        let scopes = last.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
        let is_it = |name: &str| name == scope;
        let of = scopes.filter(|metrics| metrics.scope.as_ref().is_some_and(|s| is_it(&s.name)));
        of.flat_map(|scope| scope.metrics.clone()).collect()
    }

    /// What the last export says of its sender.
    #[must_use]
    pub fn resource(&self, name: &str) -> Option<String> {
        let seen = self.lock();
        let resource = seen.metrics.last()?.resource_metrics.first()?.resource.as_ref()?;
        text_of(&resource.attributes, name)
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn metrics(State(seen): State<Arc<Mutex<Seen>>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let message = ExportMetricsServiceRequest::decode(body).expect("OTLP in protobuf");
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    seen.metrics.push(message);
    seen.take(headers)
}

impl Seen {
    fn take(&mut self, headers: HeaderMap) -> StatusCode {
        self.headers = headers;
        StatusCode::from_u16(self.answer.unwrap_or(200)).expect("a planned answer is a status")
    }
}

/// An attribute that is text.
fn text_of(attributes: &[KeyValue], name: &str) -> Option<String> {
    match attributes.iter().find(|pair| pair.key == name)?.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        _ => None,
    }
}

fn lines(metric: &Metric) -> Vec<String> {
    let name = &metric.name;
    let number = |value: Option<number_data_point::Value>| match value.expect("a point has a value") {
        number_data_point::Value::AsInt(number) => number.to_string(),
        number_data_point::Value::AsDouble(number) => number.to_string(),
    };
    match metric.data.as_ref().expect("a metric has data") {
        metric::Data::Sum(sum) => {
            let points = sum.data_points.iter();
            points.map(|p| format!("{name}{} {}", labels(&p.attributes, None), number(p.value))).collect()
        }
        metric::Data::Gauge(gauge) => {
            let points = gauge.data_points.iter();
            points.map(|p| format!("{name}{} {}", labels(&p.attributes, None), number(p.value))).collect()
        }
        metric::Data::Histogram(histogram) => {
            let mut lines = Vec::new();
            for point in &histogram.data_points {
                let plain = labels(&point.attributes, None);
                lines.push(format!("{name}_count{plain} {}", point.count));
                lines.push(format!("{name}_sum{plain} {}", point.sum.expect("it has a sum")));
                let edges = point.explicit_bounds.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
                let mut below = 0;
                for (edge, n) in edges.zip(&point.bucket_counts) {
                    below += n;
                    lines.push(format!("{name}_bucket{} {below}", labels(&point.attributes, Some(&edge))));
                }
            }
            lines
        }
        other => panic!("{name} has data of a kind that nobody promised: {other:?}"),
    }
}

fn labels(attributes: &[KeyValue], edge: Option<&str>) -> String {
    let pairs = attributes.iter().map(|pair| {
        let value = text_of(std::slice::from_ref(pair), &pair.key).expect("labels are texts");
        format!("{}=\"{value}\"", pair.key)
    });
    let pairs: Vec<String> = pairs.chain(edge.map(|edge| format!("le=\"{edge}\""))).collect();
    if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) }
}
