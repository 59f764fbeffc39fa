//! A receiver of effects as real ones are: it fails now and then, and drops what it has seen by its
//! idempotency key.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;

/// Every so many requests one is refused.
const FAILS_EVERY: usize = 3;

/// An open mailbox. Its server ends with the process.
#[derive(Debug)]
pub(crate) struct Mailbox {
    address: SocketAddr,
    letters: Arc<Mutex<Letters>>,
}

#[derive(Debug, Default)]
struct Letters {
    requests: usize,
    /// Accepted requests by idempotency key.
    accepted: BTreeMap<String, usize>,
}

/// What arrived.
#[derive(Debug)]
pub(crate) struct Count {
    pub(crate) requests: usize,
    pub(crate) letters: usize,
}

impl Mailbox {
    pub(crate) async fn open() -> anyhow::Result<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.context("open the mailbox")?;
        let address = listener.local_addr()?;
        let letters = Arc::<Mutex<Letters>>::default();
        let router = Router::new().route("/mail", post(receive)).with_state(Arc::clone(&letters));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { address, letters })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mail", self.address)
    }

    pub(crate) fn count(&self) -> Count {
        let letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        Count { requests: letters.requests, letters: letters.accepted.len() }
    }
}

async fn receive(State(letters): State<Arc<Mutex<Letters>>>, headers: HeaderMap) -> Response {
    let mut letters = letters.lock().unwrap_or_else(PoisonError::into_inner);
    letters.requests += 1;
    if letters.requests.is_multiple_of(FAILS_EVERY) {
        return (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "1")], "out of stamps").into_response();
    }
    let Some(key) = headers.get("idempotency-key").and_then(|key| key.to_str().ok()) else {
        return (StatusCode::BAD_REQUEST, "no Idempotency-Key").into_response();
    };
    *letters.accepted.entry(key.to_owned()).or_default() += 1;
    StatusCode::ACCEPTED.into_response()
}
