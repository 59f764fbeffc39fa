//! Follows the live stream for as long as somebody listens: reads it, comes back when it breaks off,
//! goes to the next host when one is gone, and says how it stands. What was missed is asked for by
//! the id of the last frame. Knows nothing of what the messages mean but for greeting and goodbye.

use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, Instant};

use reqwest::{Method, Response, StatusCode, header};
use tokio::sync::mpsc::Sender;
use wonce_api::Problem;
use wonce_api::live::{self, LogQuery, Message};

use super::backoff::{Backoff, HEALTHY};
use super::error::root_cause;
use super::sse::{Event, Parser};
use super::target::{Host, Hosts};
use crate::live::{Link, Moment};

/// Reports that wait for the console; a full queue stops the reading, and the host puts together
/// what was not read.
pub const MAX_REPORTS: usize = 64;
/// The first answer takes no longer.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// A line on which nothing came for so long is dead; the host's own pace counts once it is known.
const SILENCE: Duration = Duration::from_secs(10);
/// Waits that a host may ask for.
const LONGEST_ASKED: Duration = Duration::from_secs(60);
/// The text of a refusal is not read any further.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;

/// What became known, and when.
#[derive(Debug, Clone, PartialEq)]
pub enum Report {
    Link(Moment, Link),
    Message(Moment, Box<Message>),
    /// An event of a kind that this version does not know, or with data that it cannot read.
    Skipped(Moment),
}

/// The console's clock. Copies show the same time.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    /// It shows zero now.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "two of them are never the same")]
    pub fn new() -> Self {
        Self(Instant::now())
    }

    #[must_use]
    pub fn now(self) -> Moment {
        Moment::from_millis(u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

/// Why a stream is over.
#[derive(Debug)]
enum End {
    /// Nobody listens any more.
    Unheard,
    /// A person must act.
    Refused(String),
    /// It may be tried again, not before a while if the host asked for one.
    Broken { reason: String, not_before: Option<Duration> },
}

/// Which stream of a host is followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feed {
    /// Numbers and edges of the fleet.
    Live,
    /// Log lines of the host itself.
    Logs(LogQuery),
}

impl Feed {
    fn path(&self) -> &'static str {
        match self {
            Feed::Live => live::PATH,
            Feed::Logs(_) => live::LOGS_PATH,
        }
    }

    fn query(&self) -> Vec<(&str, &str)> {
        match self {
            Feed::Live => Vec::new(),
            Feed::Logs(LogQuery { level, handler }) => [("level", level), ("handler", handler)]
                .into_iter()
                .filter_map(|(name, value)| Some((name, value.as_deref()?)))
                .collect(),
        }
    }
}

/// Follows a stream until nobody listens, or until no host lets it in, which is its last report.
/// `label` makes of a report what the listener wants to hear.
pub async fn follow<T, L>(hosts: Hosts, feed: Feed, clock: Clock, out: Sender<T>, label: L)
where
    T: Send,
    L: Fn(Report) -> T + Send + Sync,
{
    let mut follower =
        Follower { hosts, feed, clock, out, label, last_id: None, heard: None, silence: SILENCE };
    follower.run().await;
}

struct Follower<T, L> {
    hosts: Hosts,
    feed: Feed,
    clock: Clock,
    out: Sender<T>,
    label: L,
    last_id: Option<String>,
    /// When something was heard last.
    heard: Option<Moment>,
    silence: Duration,
}

impl<T: Send, L: Fn(Report) -> T + Send + Sync> Follower<T, L> {
    async fn run(&mut self) {
        let (started, mut backoff) = (self.clock.now(), Backoff::default());
        let (mut place, mut attempt) = (0, 1);
        let first = Link::Connecting { to: self.hosts.at(0).target.to_string(), since: started, attempt };
        if self.link(first).await.is_err() {
            return;
        }
        loop {
            let host = self.hosts.at(place).clone();
            let before = Instant::now();
            let (reason, not_before) = match self.once(&host).await {
                Err(End::Unheard) => return,
                Err(End::Refused(reason)) => {
                    // Nothing follows; whether anybody hears it makes no difference.
                    let _ = self.link(Link::Refused { since: self.clock.now(), reason }).await;
                    return;
                }
                Err(End::Broken { reason, not_before }) => (reason, not_before),
                Ok(never) => match never {},
            };
            if before.elapsed() >= HEALTHY {
                (attempt, _) = (0, backoff.reset());
            }
            place += 1;
            attempt += 1;
            // Another host is asked at once; a round of all of them takes its time.
            let is_round = place.is_multiple_of(self.hosts.len());
            let wait =
                if is_round { not_before.unwrap_or_else(|| backoff.next(dice())) } else { Duration::ZERO };
            let now = self.clock.now();
            let link = Link::Stale {
                since: self.heard.unwrap_or(started),
                to: self.hosts.at(place).target.to_string(),
                reason,
                attempt,
                next: now.plus(wait),
            };
            if self.link(link).await.is_err() {
                return;
            }
            tokio::select! {
                () = self.out.closed() => return,
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    async fn link(&self, link: Link) -> Result<(), End> {
        self.report(Report::Link(self.clock.now(), link)).await
    }

    async fn report(&self, report: Report) -> Result<(), End> {
        self.out.send((self.label)(report)).await.map_err(|_| End::Unheard)
    }

    /// One connection, until it is over.
    async fn once(&mut self, host: &Host) -> Result<std::convert::Infallible, End> {
        let mut response = self.open(host).await?;
        let (mut parser, mut is_live) = (Parser::default(), false);
        loop {
            let chunk = tokio::select! {
                () = self.out.closed() => return Err(End::Unheard),
                chunk = tokio::time::timeout(self.silence, response.chunk()) => chunk,
            };
            let address = &host.target;
            let bytes = match chunk {
                Err(_) => {
                    return Err(broken(format!(
                        "nothing came from {address} for {} s",
                        self.silence.as_secs()
                    )));
                }
                Ok(Err(error)) => {
                    return Err(broken(format!("the line to {address} broke: {}", root_cause(&error))));
                }
                Ok(Ok(None)) => return Err(broken(format!("{address} ended the stream"))),
                Ok(Ok(Some(bytes))) => bytes,
            };
            self.heard = Some(self.clock.now());
            if !is_live {
                is_live = true;
                self.link(Link::Live { at: address.to_string(), since: self.clock.now() }).await?;
            }
            let events = parser.feed(&bytes).map_err(|error| broken(format!("{address}: {error}")))?;
            for event in events {
                self.take(event, host).await?;
            }
        }
    }

    async fn open(&self, host: &Host) -> Result<Response, End> {
        let path: Vec<&str> = self.feed.path().split('/').filter(|part| !part.is_empty()).collect();
        let request = self.hosts.request(host, Method::GET, &path, &self.feed.query());
        let request = request.map_err(|error| End::Refused(error.to_string()))?;
        let request = match &self.last_id {
            Some(id) => request.header("last-event-id", id),
            None => request,
        };
        let address = &host.target;
        let answer = tokio::select! {
            () = self.out.closed() => return Err(End::Unheard),
            answer = tokio::time::timeout(ANSWER_LIMIT, request.send()) => answer,
        };
        let response = match answer {
            Err(_) => {
                return Err(broken(format!("{address} did not answer in {} s", ANSWER_LIMIT.as_secs())));
            }
            Ok(Err(error)) => {
                return Err(broken(format!("no host answers at {address}: {}", root_cause(&error))));
            }
            Ok(Ok(response)) => response,
        };
        match response.status() {
            status if status.is_success() => Ok(response),
            status => Err(turned_away(&address.to_string(), status, response).await),
        }
    }

    async fn take(&mut self, event: Event, host: &Host) -> Result<(), End> {
        let now = self.clock.now();
        let parsed = Message::parse(&event.name, &event.data);
        let report = match parsed {
            Ok(Some(Message::Hello(hello))) if hello.protocol > live::PROTOCOL => {
                return Err(End::Refused(format!(
                    "{} speaks protocol {} of the live stream, this console {}; update the console",
                    host.target,
                    hello.protocol,
                    live::PROTOCOL
                )));
            }
            Ok(Some(Message::Bye(bye))) => {
                let reason = format!("{} said goodbye: {}", host.target, bye.reason);
                let not_before = Some(Duration::from_millis(bye.retry_ms).min(LONGEST_ASKED));
                return Err(End::Broken { reason, not_before });
            }
            Ok(Some(message)) => {
                if let Message::Hello(hello) = &message {
                    self.silence = Duration::from_millis(hello.keep_alive_ms.saturating_mul(2)).max(SILENCE);
                }
                Report::Message(now, Box::new(message))
            }
            Ok(None) => Report::Skipped(now),
            Err(error) => {
                tracing::debug!(event = event.name, error = %error, "a document of the live stream cannot be read");
                Report::Skipped(now)
            }
        };
        self.report(report).await?;
        // Only what was handed over is had.
        if event.id.is_some() {
            self.last_id = event.id;
        }
        Ok(())
    }
}

fn broken(reason: String) -> End {
    End::Broken { reason, not_before: None }
}

/// An answer that is no stream.
async fn turned_away(address: &str, status: StatusCode, mut response: Response) -> End {
    let asked =
        response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let asked = asked.map(|seconds| Duration::from_secs(seconds).min(LONGEST_ASKED));
    let detail = refusal(&mut response).await;
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => End::Refused(format!(
            "{address} does not let this console in ({status}): {detail}; set WONCE_TOKEN to the token of its [admin] table"
        )),
        StatusCode::NOT_FOUND => {
            broken(format!("{address} has no live stream: it is no wonce admin API, or an older one"))
        }
        _ => End::Broken {
            reason: format!("{address} refused the stream ({status}): {detail}"),
            not_before: asked,
        },
    }
}

/// What a refusal says.
async fn refusal(response: &mut Response) -> String {
    let mut body = Vec::new();
    while let Ok(Ok(Some(bytes))) = tokio::time::timeout(ANSWER_LIMIT, response.chunk()).await {
        body.extend_from_slice(&bytes);
        if body.len() > MAX_REFUSAL_BYTES {
            break;
        }
    }
    match serde_json::from_slice::<Problem>(&body) {
        Ok(problem) => problem.detail,
        Err(_) => "it does not say why".to_owned(),
    }
}

/// Any number: the standard library seeds its hashers anew.
fn dice() -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests;
