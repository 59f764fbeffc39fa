//! A receiver that does what the test says: each request waits until the test answers it.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::world::HANGS;

/// Requests that wait for the test.
const WAITING: usize = 256;

pub(crate) struct Receiver {
    pub(crate) url: String,
    requests: mpsc::Receiver<Request>,
    server: JoinHandle<()>,
}

/// One request. Dropped without an answer, it is never answered.
pub(crate) struct Request {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    answer: oneshot::Sender<Response>,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let (arrived, requests) = mpsc::channel(WAITING);
        let app = Router::new().fallback(receive).with_state(arrived);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/effects", listener.local_addr().expect("an address"));
        let server = tokio::spawn(async move { axum::serve(listener, app).await.expect("serves") });
        Self { url, requests, server }
    }

    /// The next request.
    pub(crate) async fn next(&mut self) -> Request {
        let next = tokio::time::timeout(HANGS, self.requests.recv()).await;
        next.expect("a request comes").expect("the receiver runs")
    }

    /// What came and was not taken with `next`.
    pub(crate) fn unseen(&mut self) -> usize {
        std::iter::from_fn(|| self.requests.try_recv().ok()).count()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }

    pub(crate) fn key(&self) -> String {
        self.header("idempotency-key").to_owned()
    }

    /// The sender may have given up by now; that is part of some tests.
    pub(crate) fn answer(self, status: u16) {
        self.answer_with(status, &[], "");
    }

    pub(crate) fn answer_with(
        self,
        status: u16,
        headers: &[(&'static str, &'static str)],
        body: &'static str,
    ) {
        let mut response = (StatusCode::from_u16(status).expect("a status"), body).into_response();
        for (name, value) in headers {
            response.headers_mut().insert(*name, value.parse().expect("a header"));
        }
        let _ = self.answer.send(response);
    }
}

async fn receive(State(arrived): State<mpsc::Sender<Request>>, headers: HeaderMap, body: Bytes) -> Response {
    let (answer, answered) = oneshot::channel();
    arrived.send(Request { headers, body, answer }).await.expect("the test listens");
    match answered.await {
        Ok(response) => response,
        Err(_) => std::future::pending().await,
    }
}
