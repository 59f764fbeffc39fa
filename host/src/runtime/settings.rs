//! Translates the configuration into what each module takes. Modules have settings of their own
//! and have never heard of the file.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;

use anyhow::Context;
use uuid::Uuid;
use wonce_core::pointer::Pointer;
use wonce_core::relay::UnknownPolicy;

use super::boot::{self, Boot};
use crate::admin::{AdminSettings, AdminToken, Door};
use crate::config::{
    AdminListen, Config, HandlerConfig, OnUnknown, Secret, SinkConfig, SourceConfig,
    TypeRule as ConfiguredType, Unrouted as ConfiguredUnrouted,
};
use crate::pipeline::intake::{IntakeSettings, Unrouted};
use crate::pipeline::relay::RelaySettings;
use crate::sink::http::{self, HttpSink, HttpSinkSettings};
use crate::sink::{Sink, SinkSettings, Sinks};
use crate::source::http::HttpSettings;
use crate::source::webhook::{KeptHeaders, Place, TypeRule, Webhook};
use crate::telemetry::otlp::OtlpSettings;

/// Commits of the intake at once. Two keep the database busy while the next batch gathers.
const COMMITTERS: usize = 2;

pub(super) fn intake(config: &Config) -> IntakeSettings {
    IntakeSettings {
        queue: config.intake.queue as usize,
        commit_events: config.intake.commit_events as usize,
        committers: COMMITTERS,
        unrouted: unrouted(config),
    }
}

pub(super) fn unrouted(config: &Config) -> Unrouted {
    match config.intake.unrouted {
        ConfiguredUnrouted::Reject => Unrouted::Reject,
        ConfiguredUnrouted::Park => Unrouted::Park,
        ConfiguredUnrouted::Ignore => Unrouted::Ignore,
    }
}

pub(super) fn http(config: &Config, keep: &KeptHeaders) -> anyhow::Result<HttpSettings> {
    let sources = config
        .sources
        .iter()
        .map(|(name, source)| Ok((name.clone(), webhook(source, keep)?)))
        .collect::<anyhow::Result<_>>()?;
    Ok(HttpSettings {
        sources,
        undeclared: None,
        max_event_bytes: bytes(config.http.max_event_bytes),
        max_batch_bytes: bytes(config.http.max_batch_bytes),
        max_batch_events: config.http.max_batch_events as usize,
        body_timeout: config.http.request_timeout,
    })
}

fn webhook(source: &SourceConfig, keep: &KeptHeaders) -> anyhow::Result<Webhook> {
    let event_type = match &source.event_type {
        ConfiguredType::Header(name) => TypeRule::At(Place::Header(name.clone())),
        ConfiguredType::Pointer(pointer) => TypeRule::At(Place::Pointer(Pointer::parse(pointer)?)),
        ConfiguredType::Literal(text) => TypeRule::Literal(text.clone()),
    };
    let id = source.id.as_deref().map(place).transpose()?;
    Ok(Webhook { event_type, id, keep_headers: keep.clone() })
}

fn place(rule: &str) -> anyhow::Result<Place> {
    match rule.strip_prefix("header:") {
        Some(name) => Ok(Place::Header(name.to_ascii_lowercase())),
        None => Ok(Place::Pointer(Pointer::parse(rule)?)),
    }
}

pub(super) fn relay(config: &Config, boot: Uuid) -> RelaySettings {
    let defaults = RelaySettings::for_host(boot);
    let poll_ceiling = config.relay.poll_interval;
    RelaySettings { poll_floor: defaults.poll_floor.min(poll_ceiling), poll_ceiling, ..defaults }
}

pub(super) fn sinks(config: &Config) -> anyhow::Result<Sinks> {
    let client = http::client()?;
    let mut sinks = Sinks::default();
    for (name, sink) in &config.sinks {
        let http = HttpSink::new(client.clone(), &http_sink(sink))
            .with_context(|| format!("set up sink \"{name}\""))?;
        sinks.register(name.clone(), Arc::new(http), sink_settings(sink));
    }
    Ok(sinks)
}

/// Who is told of alerts; nobody when none is configured.
pub(super) fn alert_webhook(config: &Config) -> anyhow::Result<Option<Arc<dyn Sink>>> {
    let Some(url) = &config.alert.webhook else { return Ok(None) };
    let settings = HttpSinkSettings {
        url: url.expose().to_owned(),
        headers: Vec::new(),
        timeout: crate::pipeline::notice::TIMEOUT,
    };
    let webhook = HttpSink::new(http::client()?, &settings).context("set up the webhook of [alert]")?;
    Ok(Some(Arc::new(webhook)))
}

fn http_sink(sink: &SinkConfig) -> HttpSinkSettings {
    HttpSinkSettings {
        url: sink.url.expose().to_owned(),
        headers: exposed(&sink.headers),
        timeout: sink.timeout,
    }
}

fn exposed(headers: &BTreeMap<String, Secret>) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect()
}

fn sink_settings(sink: &SinkConfig) -> SinkSettings {
    SinkSettings {
        concurrency: NonZeroUsize::new(sink.concurrency as usize).unwrap_or(NonZeroUsize::MIN),
        timeout: sink.timeout,
        retry: sink.retry.clone(),
        unknown: match sink.on_unknown {
            OnUnknown::Resend => UnknownPolicy::Resend,
            OnUnknown::Hold => UnknownPolicy::Hold,
        },
    }
}

/// The export to an OpenTelemetry receiver; none without an endpoint.
pub(super) fn otlp(config: &Config, boot: &Boot) -> Option<OtlpSettings> {
    let otlp = config.telemetry.otlp.as_ref()?;
    let known = [
        ("service.name", otlp.service_name.as_str()),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("service.instance.id", &boot.id.to_string()),
        ("host.name", &boot::node()),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let given = otlp.resource.iter().map(|(name, value)| (name.clone(), value.clone()));
    // What people say wins.
    let resource: BTreeMap<String, String> = known.into_iter().chain(given).collect();
    Some(OtlpSettings {
        endpoint: otlp.endpoint.expose().to_owned(),
        headers: exposed(&otlp.headers),
        timeout: otlp.timeout,
        resource: resource.into_iter().collect(),
    })
}

pub(super) fn admin(config: &Config, bound: Option<SocketAddr>) -> AdminSettings {
    AdminSettings {
        token: config.admin.token.as_ref().map(|token| AdminToken::new(token.expose())),
        door: bound.map_or(Door::Unix, Door::Tcp),
    }
}

pub(super) fn admin_text(config: &Config, bound: Option<SocketAddr>) -> String {
    match (&config.admin.listen, bound) {
        (AdminListen::Unix(path), _) => format!("unix:{}", path.display()),
        (AdminListen::Tcp(address), bound) => bound.unwrap_or(*address).to_string(),
    }
}

/// The effective policy, for `wonce handler show`.
pub(super) fn policy(handler: &HandlerConfig) -> serde_json::Value {
    let (retry, limits) = (&handler.retry, &handler.limits);
    serde_json::json!({
        "concurrency": handler.concurrency,
        "retry": {
            "max_attempts": retry.max_attempts,
            "first_ms": millis(retry.first),
            "factor": retry.factor.to_string(),
            "ceiling_ms": millis(retry.ceiling),
            "jitter_ms": millis(retry.jitter),
        },
        "limits": {
            "deadline_ms": millis(limits.deadline),
            "memory_bytes": limits.memory_bytes,
            "statements": limits.statements,
            "result_rows": limits.result_rows,
            "result_bytes": limits.result_bytes,
        },
        "subscriptions": handler.subscriptions.iter().map(|subscription| serde_json::json!({
            "types": subscription.types,
            "sources": subscription.sources,
            "key": subscription.key,
            "order_by": subscription.order_by,
            "hash_ignore": subscription.hash_ignore,
        })).collect::<Vec<_>>(),
        "emits": handler.emits,
        "alert": handler.alert,
    })
}

/// A size of the configuration as memory has it.
pub(super) fn bytes(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
