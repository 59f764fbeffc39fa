//! The export to an OpenTelemetry receiver, if one is configured. Knows nothing of what is exported.

use anyhow::Context;

use super::boot::Boot;
use super::settings;
use crate::config::Config;
use crate::service::Services;
use crate::sink::http;
use crate::telemetry::metrics::MetricsHandle;
use crate::telemetry::otlp::MetricsExport;

/// Built, and not running yet.
#[derive(Debug, Default)]
pub(super) struct Exports {
    metrics: Option<MetricsExport>,
}

impl Exports {
    /// By the configuration; nothing at all without an endpoint.
    pub(super) fn new(config: &Config, boot: &Boot, registry: MetricsHandle) -> anyhow::Result<Self> {
        let (Some(otlp), Some(settings)) = (&config.telemetry.otlp, settings::otlp(config, boot)) else {
            return Ok(Self::default());
        };
        let client = http::client().context("set up the export to telemetry.otlp.endpoint")?;
        let metrics = otlp.metrics.then(|| MetricsExport::new(client, &settings, registry, otlp.interval));
        Ok(Self { metrics: metrics.transpose()? })
    }

    /// Starts what there is.
    pub(super) fn serve(self, services: &mut Services) {
        if let Some(metrics) = self.metrics {
            services.spawn("export of metrics", |stop| metrics.run(stop));
        }
    }
}
