//! `[sinks.<name>]`: where effects go. Knows nothing of how one is sent.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::{HeaderValue, Uri};
use wonce_core::name::SinkName;
use wonce_core::retry::RetryPolicy;

use super::policy::read_retry;
use super::reader::{Reader, choose};
use super::report::Complaint;
use super::rules::header_name;
use super::secret::Secret;
use super::source::named;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_TIMEOUT: Duration = Duration::from_secs(300);
const DEFAULT_CONCURRENCY: u32 = 4;
const MAX_CONCURRENCY: u32 = 1_024;
/// A receiver may be away for longer than a handler's database.
const DEFAULT_ATTEMPTS: u32 = 12;
const DEFAULT_CEILING: Duration = Duration::from_secs(600);

/// One receiver of effects.
#[derive(Debug, Clone, PartialEq)]
pub struct SinkConfig {
    pub kind: SinkKind,
    /// Where effects are posted to.
    pub url: Secret,
    /// From the connection's start to the whole answer.
    pub timeout: Duration,
    /// Effects sent at once by one host.
    pub concurrency: u32,
    /// Lower-case names; sent with every effect.
    pub headers: BTreeMap<String, Secret>,
    pub retry: RetryPolicy,
    pub on_unknown: OnUnknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinkKind {
    Http,
}

/// What becomes of an effect that may have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnUnknown {
    /// Send it again under the same idempotency key, for receivers that honour it.
    Resend,
    /// Keep it for people.
    Hold,
}

pub(crate) fn read(tables: &mut Reader<'_, '_>) -> BTreeMap<SinkName, SinkConfig> {
    let sinks = tables.named("sinks", |table, name| {
        let name = named(table, name, SinkName::parse);
        let sink = sink(table);
        Some((name?, sink?))
    });
    sinks.into_values().flatten().collect()
}

fn sink(table: &mut Reader<'_, '_>) -> Option<SinkConfig> {
    let kinds = [("http", SinkKind::Http)];
    let kind = table.required("kind", "write kind = \"http\"", |text| choose(text, &kinds));
    let url = table.required("url", "write url = \"https://…\"", http_url);
    let timeout = table.duration("timeout", Duration::from_millis(10)..=MAX_TIMEOUT, DEFAULT_TIMEOUT);
    let concurrency = table.count("concurrency", 1..=MAX_CONCURRENCY, DEFAULT_CONCURRENCY);
    let headers = headers(table);
    let retry =
        RetryPolicy { max_attempts: DEFAULT_ATTEMPTS, ceiling: DEFAULT_CEILING, ..RetryPolicy::default() };
    let retry = table.section("retry", |table| read_retry(table, &retry));
    let choices = [("resend", OnUnknown::Resend), ("hold", OnUnknown::Hold)];
    let on_unknown = table.choice("on_unknown", &choices, OnUnknown::Resend);
    Some(SinkConfig { kind: kind?, url: url?, timeout, concurrency, headers, retry, on_unknown })
}

/// The `headers` table; `"env:NAME"` is the value of that variable.
pub(crate) fn headers(table: &mut Reader<'_, '_>) -> BTreeMap<String, Secret> {
    let given = table.map("headers");
    let path = table.path("headers");
    let mut headers = BTreeMap::new();
    for (name, text) in given {
        let value = match text.strip_prefix("env:") {
            None => Some(text.as_str()),
            Some(variable) => table.walk.variable(variable),
        };
        let checked = match value {
            None => Err(Complaint::new(
                format!("the environment has no variable \"{}\"", text.trim_start_matches("env:")),
                "set it where wonce is started",
            )),
            Some(value) => header(&name, value),
        };
        match checked {
            Ok(value) => drop(headers.insert(name.to_ascii_lowercase(), value)),
            Err(complaint) => table.walk.complain(&path.name(&name), complaint),
        }
    }
    headers
}

/// The complaint never repeats the value: it may be secret.
pub(crate) fn header(name: &str, value: &str) -> Result<Secret, Complaint> {
    if !header_name(name) {
        let remedy = "use letters, digits and '-', such as Authorization";
        return Err(Complaint::new(format!("\"{name}\" is not the name of a header"), remedy));
    }
    if HeaderValue::from_str(value).is_err() {
        return Err(Complaint::new(
            "the value holds characters that a header cannot carry",
            "use visible ASCII",
        ));
    }
    Ok(Secret::new(value))
}

pub(crate) fn http_url(text: &str) -> Result<Secret, Complaint> {
    let remedy =
        "write http:// or https://, a host and a path, such as \"https://billing.example.com/effects\"";
    match text.parse::<Uri>() {
        Ok(uri)
            if matches!(uri.scheme_str(), Some("http" | "https"))
                && uri.host().is_some_and(|h| !h.is_empty()) =>
        {
            Ok(Secret::new(text))
        }
        Ok(_) => Err(Complaint::new("the URL has no http or https scheme, or no host", remedy)),
        Err(error) => Err(Complaint::new(format!("the URL does not parse: {error}"), remedy)),
    }
}
