//! The export to an OpenTelemetry receiver: OTLP, protobuf over HTTP. The messages are the official ones;
//! what is put into them is this process' one registry ([`metrics`]). A receiver that is
//! away costs nobody anything: what waits for it is bounded, and what does not fit is counted.
//! Knows nothing of what the numbers and names mean.
//!
//! OpenTelemetry's own SDK is not used: it brings a registry of its own, from which histograms like ours
//! cannot be exported, and a second way to spawn tasks and to stop.

use std::time::Duration;

use opentelemetry_proto::tonic::common::v1::InstrumentationScope;
use opentelemetry_proto::tonic::resource::v1::Resource;

mod metrics;
mod receiver;
mod words;

pub use metrics::MetricsExport;
use receiver::Receiver;

use super::metrics::Signal;

/// How long a stop may take to send what is still there. The receiver may be away.
const FLUSH_LIMIT: Duration = Duration::from_secs(2);

/// Why there can be no export.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("telemetry.otlp.endpoint is not usable: {reason}; write http:// or https://, a host and a port")]
    Endpoint { reason: String },
    #[error("header \"{name}\" of telemetry.otlp.headers is not usable: {reason}")]
    Header { name: String, reason: String },
}

/// Where exports go, and as whose.
#[derive(Clone)]
pub struct OtlpSettings {
    /// The signal's path is added to it.
    pub endpoint: String,
    /// Sent with every request, and never shown: they may hold secrets.
    pub headers: Vec<(String, String)>,
    /// From the connection's start to the whole answer.
    pub timeout: Duration,
    /// What is said of this process in every request.
    pub resource: Vec<(String, String)>,
}

impl std::fmt::Debug for OtlpSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OtlpSettings").field("resource", &self.resource).finish_non_exhaustive()
    }
}

/// One receiver, with what every request to it says of this process.
#[derive(Debug)]
struct Link {
    receiver: Receiver,
    resource: Resource,
}

impl Link {
    fn new(client: reqwest::Client, settings: &OtlpSettings, signal: Signal) -> Result<Self, Error> {
        let resource = settings.resource.iter().map(|(name, value)| words::text(name, value));
        Ok(Self {
            receiver: Receiver::new(client, settings, signal)?,
            resource: Resource { attributes: resource.collect(), ..Resource::default() },
        })
    }
}

/// Who measured.
fn scope(name: &str) -> InstrumentationScope {
    InstrumentationScope {
        name: name.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    }
}
