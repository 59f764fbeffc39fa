//! Who receives the effects: takes all of them and keeps count under which idempotency keys each
//! event's effect arrived.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;

/// A sink's other end.
#[derive(Debug)]
pub struct Receiver {
    pub address: SocketAddr,
    seen: Seen,
    alerts: Alerts,
}

/// What came to the webhook for alerts, in order.
type Alerts = Arc<Mutex<Vec<Value>>>;

/// Event by event.
type Seen = Arc<Mutex<BTreeMap<String, Received>>>;

/// What arrived for one event.
#[derive(Debug, Clone, Default)]
pub struct Received {
    /// With every repeat.
    pub times: u64,
    pub idempotency_keys: BTreeSet<String>,
}

impl Receiver {
    /// Listens for as long as the test runs.
    pub async fn start() -> Self {
        let seen = Seen::default();
        let alerts = Alerts::default();
        let told = Router::new().route("/alerts", post(hear)).with_state(Arc::clone(&alerts));
        let routes = Router::new().route("/effects", post(take)).with_state(Arc::clone(&seen)).merge(told);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, seen, alerts }
    }

    /// What the webhook for alerts was told so far.
    #[must_use]
    pub fn alerts(&self) -> Vec<Value> {
        self.alerts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Everything so far.
    #[must_use]
    pub fn received(&self) -> BTreeMap<String, Received> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn hear(State(alerts): State<Alerts>, body: String) {
    let alert = serde_json::from_str(&body).expect("a JSON document");
    alerts.lock().unwrap_or_else(PoisonError::into_inner).push(alert);
}

async fn take(State(seen): State<Seen>, headers: HeaderMap, body: String) {
    let body: Value = serde_json::from_str(&body).expect("the guest emits JSON");
    let event = body["event"].as_str().expect("it names its event").to_owned();
    let key = headers.get("idempotency-key").expect("every effect has one");
    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let received = seen.entry(event).or_default();
    received.times += 1;
    received.idempotency_keys.insert(key.to_str().expect("visible text").to_owned());
}
