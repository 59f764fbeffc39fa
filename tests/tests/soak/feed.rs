//! Events at a steady rate, in batches over one connection, until all are accepted. A host that is
//! slower than the rate slows the feed, which never drops an event.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;
use wonce_tests::wait::bounded;

/// Batches a second.
const BATCHES: u64 = 25;
/// Before a batch is sent again that the host could not take.
const AGAIN: Duration = Duration::from_millis(100);

/// A running feed.
#[derive(Debug)]
pub(crate) struct Feed {
    accepted: Arc<AtomicU64>,
    events: u64,
    task: JoinHandle<()>,
}

impl Feed {
    pub(crate) fn start(http: SocketAddr, events: u64, rate: u64) -> Self {
        let accepted = Arc::new(AtomicU64::new(0));
        let task = tokio::spawn(run(http, events, (rate / BATCHES).max(1), Arc::clone(&accepted)));
        Self { accepted, events, task }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.accepted.load(Ordering::Relaxed) == self.events
    }

    /// # Panics
    /// When the host refused one.
    pub(crate) async fn all_accepted(self) {
        bounded("the last batch is answered", self.task).await.expect("no event is refused");
    }
}

async fn run(http: SocketAddr, events: u64, batch: u64, accepted: Arc<AtomicU64>) {
    let client = wonce_host::sink::http::client().expect("a client");
    let mut beat = tokio::time::interval(Duration::from_secs(1) / u32::try_from(BATCHES).expect("few"));
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut next = 0;
    while next < events {
        beat.tick().await;
        let end = (next + batch).min(events);
        let body = Value::from_iter((next..end).map(event)).to_string();
        while !taken(&client, http, &body).await {
            tokio::time::sleep(AGAIN).await;
        }
        next = end;
        accepted.store(next, Ordering::Relaxed);
    }
}

/// Each leaves one row.
fn event(n: u64) -> Value {
    let id = format!("e{n}");
    let steps = json!([{"sql": "insert into app.entry (event) values ($1)", "params": [id]}]);
    json!({
        "specversion": "1.0", "id": id, "source": "/soak", "type": "probe.run", "data": {"steps": steps},
    })
}

async fn taken(client: &Client, http: SocketAddr, body: &str) -> bool {
    let request = client
        .post(format!("http://{http}/events/test"))
        .header("content-type", "application/cloudevents-batch+json")
        .body(body.to_owned());
    let answer = bounded("a batch is answered", request.send()).await.expect("the host answers");
    let status = answer.status();
    if status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE {
        return false;
    }
    let said = answer.text().await.unwrap_or_default();
    assert!(status.is_success(), "a batch was answered with {status}: {said}");
    true
}
