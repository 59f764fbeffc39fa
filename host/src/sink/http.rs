//! A sink that POSTs each effect to one URL: body as emitted, CloudEvents attributes and the
//! dedup key (`Idempotency-Key`) as headers. Knows what HTTP answers mean, and nothing of retries.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};
use wonce_core::relay::SendOutcome;

use super::{OutgoingEffect, Sink};

mod answer;
mod headers;

/// A receiver that does not take the connection in this time is down.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Idle connections are given up before most servers do so: a request on a connection that the
/// server just closed would be an unknown.
const IDLE_CONNECTION: Duration = Duration::from_secs(15);
const USER_AGENT: &str = concat!("wonce/", env!("CARGO_PKG_VERSION"));

/// Why a sink cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("sink url \"{url}\" is not usable: {reason}; write an absolute http:// or https:// address")]
    Url { url: String, reason: String },
    #[error("header \"{name}\" of a sink is not usable: {reason}")]
    Header { name: String, reason: String },
    #[error("cannot prepare the HTTP client: {reason}")]
    Client { reason: String },
}

/// What the operator says of an HTTP sink.
#[derive(Clone)]
pub struct HttpSinkSettings {
    pub url: String,
    /// Sent with every request, and never shown: they may hold secrets.
    pub headers: Vec<(String, String)>,
    /// From the first byte of the request to the answer.
    pub timeout: Duration,
}

impl fmt::Debug for HttpSinkSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("HttpSinkSettings").field("headers", &names).finish_non_exhaustive()
    }
}

/// The sink.
pub struct HttpSink {
    client: Client,
    url: Url,
    headers: HeaderMap,
    timeout: Duration,
}

impl fmt::Debug for HttpSink {
    /// Scheme and host only: the path of a webhook may be its password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = self.url.origin().ascii_serialization();
        f.debug_struct("HttpSink").field("origin", &origin).finish_non_exhaustive()
    }
}

/// The HTTP client of all sinks: no redirects (an effect goes where the operator said), no proxy
/// from the environment, the system's certificates.
///
/// # Errors
/// When the client cannot be built.
pub fn client() -> Result<Client, Error> {
    Client::builder()
        .tls_backend_preconfigured(tls_config()?)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE_CONNECTION)
        .user_agent(USER_AGENT)
        .build()
        .map_err(|e| Error::Client { reason: answer::root_cause(&e) })
}

/// Brings its own crypto provider: the process-wide default is nobody's business here.
fn tls_config() -> Result<rustls::ClientConfig, Error> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| Error::Client { reason: e.to_string() })?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

impl HttpSink {
    /// Checks the settings.
    ///
    /// # Errors
    /// When the URL is not absolute http(s) or a header is malformed.
    pub fn new(client: Client, settings: &HttpSinkSettings) -> Result<Self, Error> {
        let url = parse_url(&settings.url)?;
        let mut headers = HeaderMap::new();
        for (name, value) in &settings.headers {
            let bad = |reason: String| Error::Header { name: name.clone(), reason };
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|e| bad(e.to_string()))?;
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| bad("its value holds characters that no header may hold".to_owned()))?;
            value.set_sensitive(true);
            headers.append(header, value);
        }
        Ok(Self { client, url, headers, timeout: settings.timeout })
    }
}

fn parse_url(text: &str) -> Result<Url, Error> {
    let bad = |reason: String| Error::Url { url: without_secrets(text), reason };
    let url = Url::parse(text).map_err(|e| bad(e.to_string()))?;
    match (url.scheme(), url.host()) {
        ("http" | "https", Some(_)) => Ok(url),
        (scheme, _) => Err(bad(format!("its scheme is \"{scheme}\""))),
    }
}

/// The address up to its path; user and password cut.
fn without_secrets(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if scheme.is_empty() { format!("{host}…") } else { format!("{scheme}://{host}…") }
}

#[async_trait]
impl Sink for HttpSink {
    async fn send(&self, effect: &OutgoingEffect) -> SendOutcome {
        let headers = match headers::of(effect, &self.headers) {
            Ok(headers) => headers,
            Err(reason) => return SendOutcome::Refused { reason },
        };
        let request = self
            .client
            .post(self.url.clone())
            .timeout(self.timeout)
            .headers(headers)
            .body(effect.effect.data.clone());
        match request.send().await {
            Ok(response) => answer::classify(response).await,
            Err(error) => answer::classify_failure(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sink(url: &str, headers: &[(&str, &str)]) -> Result<HttpSink, Error> {
        let headers = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        let settings = HttpSinkSettings { url: url.to_owned(), headers, timeout: Duration::from_secs(1) };
        HttpSink::new(client().expect("a client"), &settings)
    }

    #[test]
    fn a_url_that_is_not_http_is_refused_without_its_secrets() {
        for url in ["ftp://me:hush@example.com/hush", "mailto:hush@example.com", "example.com/hush"] {
            let error = sink(url, &[]).expect_err("not http").to_string();
            assert!(!error.contains("hush@") && !error.contains("/hush"), "{error}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let sink = sink("https://example.com/hush", &[("authorization", "Bearer hush")]).expect("fine");
        assert!(!format!("{sink:?} {:?}", sink.headers).contains("hush"));
        let error = HttpSinkSettings {
            url: "https://example.com/hush".to_owned(),
            headers: vec![("authorization".to_owned(), "hush".to_owned())],
            timeout: Duration::from_secs(1),
        };
        assert!(!format!("{error:?}").contains("hush"));
    }

    #[test]
    fn a_malformed_header_is_named() {
        let error = sink("https://example.com", &[("x-token", "a\nb")]).expect_err("malformed");
        assert!(error.to_string().contains("\"x-token\""), "{error}");
        assert!(!error.to_string().contains("a\nb"), "{error}");
    }
}
