//! One path of the OTLP receiver: a request goes out, and its answer is one of three. Says once when the
//! receiver goes away or comes back. Knows nothing of what is sent.

use std::time::Duration;

use prost::Message;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};

use super::{Error, OtlpSettings};
use crate::telemetry::metrics::{self, Exported, Signal};

/// The most that is read of an answer, in bytes.
const MAX_ANSWER: usize = 64 << 10;
/// The most of an answer that is repeated in a log line, in bytes.
const MAX_SAID: usize = 200;

/// What became of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// With the answer's body.
    Taken(Vec<u8>),
    /// Try again, not before this if it said so.
    NotNow(Option<Duration>),
    /// Never try this again.
    Refused,
}

/// Where one signal goes.
#[derive(Debug)]
pub(super) struct Receiver {
    client: Client,
    url: Url,
    headers: HeaderMap,
    timeout: Duration,
    signal: Signal,
    /// What the last answer was; the log is told of changes.
    last: Option<Exported>,
}

impl Receiver {
    pub(super) fn new(client: Client, settings: &OtlpSettings, signal: Signal) -> Result<Self, Error> {
        let unusable = |reason: &str| Error::Endpoint { reason: reason.to_owned() };
        let mut url = Url::parse(&settings.endpoint).map_err(|e| unusable(&e.to_string()))?;
        url.path_segments_mut()
            .map_err(|()| unusable("it has no path"))?
            .pop_if_empty()
            .extend(["v1", signal.as_str()]);
        let mut headers = HeaderMap::new();
        for (name, value) in &settings.headers {
            let bad = |reason: String| Error::Header { name: name.clone(), reason };
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|e| bad(e.to_string()))?;
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| bad("its value holds characters that no header may hold".to_owned()))?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        Ok(Self { client, url, headers, timeout: settings.timeout, signal, last: None })
    }

    /// Sends one message.
    pub(super) async fn send(&mut self, message: &impl Message) -> Answer {
        let request = self.client.post(self.url.clone()).timeout(self.timeout);
        let request = request.headers(self.headers.clone()).body(message.encode_to_vec());
        let (answer, reason) = match request.send().await {
            Ok(response) => judge(response).await,
            Err(error) => (Answer::NotNow(None), root_cause(error)),
        };
        self.tell(&answer, &reason);
        answer
    }

    /// Counts each answer, and logs one that is not like the last.
    fn tell(&mut self, answer: &Answer, reason: &str) {
        let exported = match answer {
            Answer::Taken(_) => Exported::Taken,
            Answer::NotNow(_) => Exported::Failed,
            Answer::Refused => Exported::Refused,
        };
        metrics::otlp_export(self.signal, exported);
        if self.last.replace(exported) == Some(exported) {
            return;
        }
        let (signal, receiver) = (self.signal.as_str(), self.url.origin().ascii_serialization());
        match exported {
            Exported::Taken => tracing::info!(signal, receiver, "the OTLP receiver takes what is exported"),
            Exported::Failed => tracing::warn!(
                signal,
                receiver,
                error = reason,
                "the OTLP receiver takes nothing at present; the host goes on, and what does not fit its queue is dropped and counted"
            ),
            Exported::Refused => tracing::warn!(
                signal,
                receiver,
                error = reason,
                "the OTLP receiver refuses what is exported; check telemetry.otlp and the receiver"
            ),
        }
    }
}

/// As the protocol has it: only these statuses ask for another try.
async fn judge(response: Response) -> (Answer, String) {
    let status = response.status();
    let after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let body = match body(response).await {
        Ok(body) => body,
        Err(error) => return (Answer::NotNow(None), root_cause(error)),
    };
    let is_passing = matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    );
    match status.is_success() {
        true => (Answer::Taken(body), String::new()),
        false if is_passing => (Answer::NotNow(after.map(Duration::from_secs)), said(status, &body)),
        false => (Answer::Refused, said(status, &body)),
    }
}

async fn body(mut response: Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = MAX_ANSWER - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() >= room {
            break;
        }
    }
    Ok(body)
}

fn said(status: StatusCode, body: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(&body[..body.len().min(MAX_SAID)])
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    format!("{status} {text}").trim_end().to_owned()
}

/// The innermost reason: the outer ones repeat the address, which may hold a password.
fn root_cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if error.is_timeout() { "no answer in time".to_owned() } else { cause.to_string() }
}
