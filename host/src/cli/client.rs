//! Asks a host's admin API. Knows paths and documents, never how they are shown.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, IF_MATCH};
use reqwest::{Method, RequestBuilder, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wonce_api::Problem;

use super::Error;
use super::connect::{Address, Connect};

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// The host itself gives up a page after 30 s.
const ANSWER_LIMIT: Duration = Duration::from_secs(45);
/// Counting a large ledger takes a while; the host gives up after ten minutes.
pub(super) const LONG_ANSWER_LIMIT: Duration = Duration::from_secs(660);

#[derive(Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    base: Url,
    address: Address,
    token: Option<String>,
}

/// A document twice: as a value, and as the host wrote it.
#[derive(Debug)]
pub(super) struct Answer<T> {
    pub(super) value: T,
    pub(super) json: String,
}

impl Client {
    pub(super) fn new(connect: &Connect) -> Result<Self, Error> {
        // Fails only when a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let address = connect.address()?;
        let wrong = |reason: String| Error::Address { address: address.to_string(), reason };
        let builder = reqwest::Client::builder().connect_timeout(CONNECT_LIMIT).no_proxy();
        let (builder, base) = match &address {
            Address::Url(url) => (builder, url.clone()),
            Address::Unix(path) => {
                let base = Url::parse("http://localhost").map_err(|e| wrong(e.to_string()))?;
                (builder.unix_socket(path.as_path()), base)
            }
        };
        let http = builder.build().map_err(|e| wrong(root_cause(&e)))?;
        Ok(Self { http, base, address, token: connect.token().map(str::to_owned) })
    }

    /// `GET` of the path made of these parts, which may hold any text.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
        limit: Option<Duration>,
    ) -> Result<Answer<T>, Error> {
        let mut url = self.url(path)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.send(self.http.request(Method::GET, url).timeout(limit.unwrap_or(ANSWER_LIMIT))).await
    }

    /// `POST` of a document.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &(impl Serialize + Sync),
    ) -> Result<Answer<T>, Error> {
        let request = self.http.request(Method::POST, self.url(path)?).timeout(ANSWER_LIMIT).json(body);
        self.send(request).await
    }

    /// `POST` of a document whose request has a name, in this header.
    pub(super) async fn post_named<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &(impl Serialize + Sync),
        (header, name): (&str, &str),
    ) -> Result<Answer<T>, Error> {
        let request = self.http.request(Method::POST, self.url(path)?).timeout(ANSWER_LIMIT).json(body);
        self.send(request.header(header, name)).await
    }

    /// `POST` of a WebAssembly file.
    pub(super) async fn post_file<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: &[(&str, String)],
        file: Vec<u8>,
        limit: Duration,
    ) -> Result<Answer<T>, Error> {
        let mut url = self.url(path)?;
        url.query_pairs_mut().extend_pairs(query);
        let request = self.http.request(Method::POST, url).timeout(limit);
        self.send(request.header(CONTENT_TYPE, "application/wasm").body(file)).await
    }

    /// `PATCH` with a document.
    pub(super) async fn patch<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &(impl Serialize + Sync),
    ) -> Result<Answer<T>, Error> {
        let request = self.http.request(Method::PATCH, self.url(path)?).timeout(ANSWER_LIMIT).json(body);
        self.send(request).await
    }

    /// `PATCH` with a document, of what was read under this tag.
    pub(super) async fn patch_read<T: DeserializeOwned>(
        &self,
        path: &[&str],
        body: &(impl Serialize + Sync),
        tag: &str,
    ) -> Result<Answer<T>, Error> {
        let request = self.http.request(Method::PATCH, self.url(path)?).timeout(ANSWER_LIMIT).json(body);
        self.send(request.header(IF_MATCH, tag)).await
    }

    fn url(&self, path: &[&str]) -> Result<Url, Error> {
        let mut url = self.base.clone();
        match url.path_segments_mut() {
            Ok(mut segments) => segments.pop_if_empty().extend(path),
            Err(()) => {
                let reason = "it can have no path".to_owned();
                return Err(Error::Address { address: self.address.to_string(), reason });
            }
        };
        Ok(url)
    }

    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<Answer<T>, Error> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let response = request.send().await.map_err(|e| self.unreachable(&e))?;
        let status = response.status();
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or("").to_owned();
        let json = response.text().await.map_err(|e| self.unreachable(&e))?;
        let not_wonce = |reason: String| Error::NotWonce { address: self.address.to_string(), reason };
        if !status.is_success() {
            let problem: Problem = serde_json::from_str(&json)
                .map_err(|_| not_wonce(format!("status {status}, content type \"{kind}\"")))?;
            return Err(Error::Refused(Box::new(problem)));
        }
        let value = serde_json::from_str(&json).map_err(|e| not_wonce(e.to_string()))?;
        Ok(Answer { value, json })
    }

    fn unreachable(&self, error: &reqwest::Error) -> Error {
        let (address, reason) = (self.address.to_string(), root_cause(error));
        if error.is_timeout() && !error.is_connect() {
            Error::TooSlow { address, reason }
        } else {
            Error::NotRunning { address, reason }
        }
    }
}

fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
