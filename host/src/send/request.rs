//! One event over HTTP, again and again until it is answered or the patience is over. Knows
//! nothing of where events come from.

use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use tokio::time::{Instant, sleep};
use wonce_api::problem::Problem;
use wonce_api::receipt::EventReceipt;

use super::{Answer, SendOptions};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// From sending a request to the end of its answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// The first wait before another try; it doubles.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// No wait is longer, whatever the host says.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
const STRUCTURED: HeaderValue = HeaderValue::from_static("application/cloudevents+json");

/// A request that can be repeated. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Outgoing {
    /// A CloudEvent in JSON.
    pub(super) fn structured(line: Vec<u8>) -> Self {
        Self { headers: HeaderMap::from_iter([(CONTENT_TYPE, STRUCTURED)]), body: line.into() }
    }
}

/// The way to one source of one host.
#[derive(Debug)]
pub(super) struct Sender {
    client: Client,
    url: Url,
    patience: Duration,
}

/// What one try gave.
enum Try {
    Answered(Answer),
    Again { reason: String, after: Option<Duration> },
}

impl Sender {
    pub(super) fn new(options: &SendOptions) -> anyhow::Result<Self> {
        let base = options.url.trim_end_matches('/');
        let url = format!("{base}/events/{}", options.source);
        let url = Url::parse(&url).with_context(|| {
            format!("\"{}\" is not the address of a host; write it as http://127.0.0.1:8080", options.url)
        })?;
        // Another part of the process may have installed one already: that one is as good.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().connect_timeout(CONNECT_TIMEOUT).timeout(ANSWER_TIMEOUT).build()?;
        Ok(Self { client, url, patience: options.patience })
    }

    /// Sends until there is an answer: the host knows a repeated event again.
    pub(super) async fn send(&self, outgoing: &Outgoing) -> Answer {
        let deadline = Instant::now() + self.patience;
        let mut wait = FIRST_WAIT;
        loop {
            let (reason, after) = match self.attempt(outgoing).await {
                Try::Answered(answer) => return answer,
                Try::Again { reason, after } => (reason, after),
            };
            let pause = after.unwrap_or(wait).min(LONGEST_WAIT);
            let pause = pause + pause.mul_f64(rand::random_range(0.0..0.25));
            if Instant::now() + pause > deadline {
                let tried = self.patience.as_secs();
                return Answer::Unsent(format!(
                    "{reason}; tried for {tried} s, sending it again is harmless"
                ));
            }
            sleep(pause).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    async fn attempt(&self, outgoing: &Outgoing) -> Try {
        let request = self.client.post(self.url.clone());
        let request = request.headers(outgoing.headers.clone()).body(outgoing.body.clone());
        match request.send().await {
            Ok(response) => self.read(response).await,
            Err(error) => self.no_answer(&error),
        }
    }

    async fn read(&self, response: Response) -> Try {
        let status = response.status();
        let after = response.headers().get(RETRY_AFTER).and_then(|v| v.to_str().ok()?.parse().ok());
        let after = after.map(Duration::from_secs);
        let body = match response.bytes().await {
            Ok(body) => body,
            Err(error) => return self.no_answer(&error),
        };
        if status.is_success() {
            return match serde_json::from_slice::<EventReceipt>(&body) {
                Ok(receipt) => Try::Answered(Answer::Kept(receipt)),
                Err(_) => Try::Answered(Answer::Rejected(format!(
                    "{} answered {status}, but not as a wonce host does; check the address",
                    self.url
                ))),
            };
        }
        let problem = serde_json::from_slice::<Problem>(&body).ok();
        let reason =
            problem.as_ref().map_or_else(|| format!("the answer was {status}"), |p| p.detail.clone());
        match status {
            StatusCode::CONFLICT => {
                let deliveries = problem.map(|p| p.deliveries).unwrap_or_default();
                Try::Answered(Answer::Conflict(EventReceipt { deliveries }, reason))
            }
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::BAD_GATEWAY
            | StatusCode::GATEWAY_TIMEOUT
            | StatusCode::REQUEST_TIMEOUT => Try::Again { reason, after },
            _ => Try::Answered(Answer::Rejected(reason)),
        }
    }

    fn no_answer(&self, error: &reqwest::Error) -> Try {
        let mut cause: &dyn std::error::Error = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        Try::Again { reason: format!("{} does not answer: {cause}", self.url), after: None }
    }
}
