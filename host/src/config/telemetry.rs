//! `[telemetry.otlp]`: where traces and metrics are exported to, and which. OpenTelemetry's own variables
//! count too. Knows nothing of how one is sent.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use percent_encoding::percent_decode_str;

use super::reader::{Reader, choose};
use super::report::Complaint;
use super::secret::Secret;
use super::sink::{header, headers, http_url};

const HEADERS_VARIABLE: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const RESOURCE_VARIABLE: &str = "OTEL_RESOURCE_ATTRIBUTES";
const DEFAULT_SERVICE_NAME: &str = "wonce";
const INTERVAL: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(3_600);
const DEFAULT_INTERVAL: Duration = Duration::from_secs(15);
const TIMEOUT: RangeInclusive<Duration> = Duration::from_millis(10)..=Duration::from_secs(60);
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
const QUEUE: RangeInclusive<u32> = 1..=1_000_000;
const DEFAULT_QUEUE: u32 = 8_192;

/// What the host tells an OpenTelemetry receiver.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Telemetry {
    /// None while no endpoint is given: then nothing is traced and nothing is sent.
    pub otlp: Option<Otlp>,
}

/// An OTLP receiver, and what it gets.
#[derive(Debug, Clone, PartialEq)]
pub struct Otlp {
    /// Without `/v1/traces`; a path of its own is kept. It may hold a password.
    pub endpoint: Secret,
    pub protocol: OtlpProtocol,
    /// Lower-case names; sent with every request.
    pub headers: BTreeMap<String, Secret>,
    pub traces: bool,
    pub metrics: bool,
    /// Between two exports of the metrics.
    pub interval: Duration,
    /// From the connection's start to the whole answer.
    pub timeout: Duration,
    /// The share of new traces that is recorded, 0 to 1. Who comes with a trace has decided already.
    pub sampling_ratio: f64,
    /// Spans that may wait for the receiver.
    pub queue: u32,
    pub service_name: String,
    /// Attributes of the resource, besides those that wonce knows.
    pub resource: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtlpProtocol {
    /// Protobuf in HTTP requests. gRPC is not spoken.
    HttpProtobuf,
}

pub(crate) fn read(table: &mut Reader<'_, '_>) -> Telemetry {
    Telemetry { otlp: table.section("otlp", read_otlp) }
}

fn read_otlp(table: &mut Reader<'_, '_>) -> Option<Otlp> {
    let endpoint = table.parsed("endpoint", http_url);
    let protocols = [("http/protobuf", OtlpProtocol::HttpProtobuf)];
    let protocol = table.parsed("protocol", |text| match text {
        "grpc" => {
            let remedy = "write \"http/protobuf\" and the receiver's port for it, 4318 by custom";
            Err(Complaint::new("wonce does not speak OTLP over gRPC", remedy))
        }
        other => choose(other, &protocols),
    });
    let mut all_headers = headers(table);
    all_headers.extend(headers_of_variable(table));
    let mut resource = table.map("resource");
    resource.extend(pairs_of_variable(table, RESOURCE_VARIABLE));
    let traces = table.boolean("traces", true);
    let metrics = table.boolean("metrics", true);
    let interval = table.duration("interval", INTERVAL, DEFAULT_INTERVAL);
    let timeout = table.duration("timeout", TIMEOUT, DEFAULT_TIMEOUT);
    let sampling_ratio = table.float("sampling_ratio", 0.0..=1.0, 1.0);
    let queue = table.count("queue", QUEUE, DEFAULT_QUEUE);
    let service_name = table.text("service_name").unwrap_or_else(|| DEFAULT_SERVICE_NAME.to_owned());
    Some(Otlp {
        endpoint: endpoint?,
        protocol: protocol.unwrap_or(OtlpProtocol::HttpProtobuf),
        headers: all_headers,
        traces,
        metrics,
        interval,
        timeout,
        sampling_ratio,
        queue,
        service_name,
        resource,
    })
}

/// The complaints never repeat the variable's text: it may be secret.
fn headers_of_variable(table: &mut Reader<'_, '_>) -> BTreeMap<String, Secret> {
    let mut headers = BTreeMap::new();
    for (name, value) in pairs_of_variable(table, HEADERS_VARIABLE) {
        match header(&name, &value) {
            Ok(value) => drop(headers.insert(name.to_ascii_lowercase(), value)),
            Err(complaint) => table.walk.complain_variable(HEADERS_VARIABLE, complaint),
        }
    }
    headers
}

fn pairs_of_variable(table: &mut Reader<'_, '_>, variable: &str) -> Vec<(String, String)> {
    let Some(text) = table.walk.variable(variable) else { return Vec::new() };
    pairs(text).unwrap_or_else(|| {
        let reason = "it is not name=value,name=value with percent-encoded UTF-8 values";
        let remedy = "write it as OpenTelemetry has it, such as \"api-key=abc,tenant=a%20b\"";
        table.walk.complain_variable(variable, Complaint::new(reason, remedy));
        Vec::new()
    })
}

/// Reads `name=value,name=value`.
fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let members = text.split(',').map(str::trim).filter(|member| !member.is_empty());
    let pair = |member: &str| {
        let (name, value) = member.split_once('=')?;
        let decoded = |text: &str| percent_decode_str(text.trim()).decode_utf8().ok().map(String::from);
        Some((decoded(name).filter(|name| !name.is_empty())?, decoded(value)?))
    };
    members.map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variables_list_is_read_as_opentelemetry_writes_it() {
        let read = |text| pairs(text).map(|pairs| format!("{pairs:?}"));
        assert_eq!(read("a=1, b = x%20y ,").as_deref(), Some(r#"[("a", "1"), ("b", "x y")]"#));
        assert_eq!(read("a=b=c").as_deref(), Some(r#"[("a", "b=c")]"#));
        assert_eq!(read("").as_deref(), Some("[]"));
        for text in ["a", "=1", "a=%ff"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
