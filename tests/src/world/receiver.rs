//! Where effects go: it records each request and answers what the test planned, else 200.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// One effect as it came in.
#[derive(Debug, Clone)]
pub struct Request {
    /// The sink's name.
    pub sink: String,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Request {
    /// The key under which a receiver knows a repeat.
    #[must_use]
    pub fn idempotency_key(&self) -> &str {
        self.headers.get("idempotency-key").map_or("", |value| value.to_str().unwrap_or(""))
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("an effect's body is JSON")
    }
}

/// A server on loopback for all sinks of a test.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    state: Arc<Mutex<Seen>>,
    server: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Seen {
    requests: Vec<Request>,
    answers: VecDeque<u16>,
}

impl Receiver {
    pub(super) async fn start() -> Self {
        let state = Arc::<Mutex<Seen>>::default();
        let app = Router::new().fallback(receive).with_state(Arc::clone(&state));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("a bound address");
        let server = tokio::spawn(async move { axum::serve(listener, app).await.expect("it serves") });
        Self { address, state, server }
    }

    pub(super) fn url(&self, sink: &str) -> String {
        format!("http://{}/{sink}", self.address)
    }

    /// The statuses of the next answers; after them 200 again.
    pub fn answer_next(&self, statuses: &[u16]) {
        lock(&self.state).answers.extend(statuses);
    }

    /// All requests so far, in the order of their arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.state).requests.clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn receive(
    State(state): State<Arc<Mutex<Seen>>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let mut seen = lock(&state);
    seen.requests.push(Request { sink: uri.path().trim_start_matches('/').to_owned(), headers, body });
    let status = seen.answers.pop_front().unwrap_or(200);
    StatusCode::from_u16(status).expect("a planned answer is a status")
}

fn lock(state: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
