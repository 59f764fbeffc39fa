//! Who sends events: over HTTP, to any host that is there, and again until one answers.

use std::net::SocketAddr;
use std::time::Duration;

use rand::seq::IndexedRandom;
use reqwest::{Client, StatusCode};
use serde_json::Value;
use tokio::sync::watch;

use crate::wait::Looking;

/// A host that does not answer in this time is asked again.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// What the guest is told to do, under an id.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub id: String,
    pub script: Value,
}

/// The hosts that are there just now.
pub type Hosts = watch::Sender<Vec<SocketAddr>>;

/// Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sender {
    client: Client,
    hosts: watch::Receiver<Vec<SocketAddr>>,
}

impl Sender {
    /// One, and where to say which hosts there are.
    #[must_use]
    pub fn new(hosts: &[SocketAddr]) -> (Self, Hosts) {
        let client = wonce_host::sink::http::client().expect("a client");
        let (said, hosts) = watch::channel(hosts.to_vec());
        (Self { client, hosts }, said)
    }

    /// Sends one event and repeats it until a host takes responsibility.
    pub async fn send(&self, event: &Event) {
        let looking = Looking::for_condition(&format!("event {} is answered", event.id));
        while !self.try_once(event).await {
            looking.pause().await;
        }
    }

    async fn try_once(&self, event: &Event) -> bool {
        let Some(host) = self.hosts.borrow().choose(&mut rand::rng()).copied() else { return false };
        let request = self
            .client
            .post(format!("http://{host}/events/test"))
            .timeout(ANSWER_LIMIT)
            .header("ce-specversion", "1.0")
            .header("ce-id", &event.id)
            .header("ce-source", "/tests")
            .header("ce-type", "probe.run")
            .header("content-type", "application/json")
            .body(event.script.to_string());
        // No answer: the host died, and nobody knows whether it had committed.
        let Ok(answer) = request.send().await else { return false };
        let status = answer.status();
        let later = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
        if !later {
            let said = answer.text().await.unwrap_or_default();
            assert!(status.is_success(), "event {} was answered with {status}: {said}", event.id);
        }
        !later
    }
}
