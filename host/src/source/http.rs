//! `POST /events/{source}`: CloudEvents in their structured, batch and binary forms, and plain
//! webhooks of declared sources. A request is read, decoded, handed to the door, answered. Knows
//! nothing of what the door does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use tokio::sync::Semaphore;
use wonce_api::receipt::{EventReceipt, Verdict};
use wonce_core::name::SourceName;

use super::problem::Refusal;
use super::webhook::Webhook;
use super::{Door, NotAccepted, Received};
use crate::telemetry::metrics;

mod body;
mod decode;

/// Requests whose bodies are being read at once: bounds the memory of slow senders.
const MAX_OPEN_BODIES: usize = 512;
/// When a sender that met too many open bodies should come back.
const BUSY_RETRY: Duration = Duration::from_secs(1);

/// What the door for events takes.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// The declared sources, which may send plain requests.
    pub sources: BTreeMap<SourceName, Webhook>,
    /// How plain requests to all other sources are read; `None` refuses them.
    pub undeclared: Option<Webhook>,
    /// The most bytes of one event's data.
    pub max_event_bytes: usize,
    /// The most bytes of a batch's body.
    pub max_batch_bytes: usize,
    pub max_batch_events: usize,
    /// How long a sender may take for its body.
    pub body_timeout: Duration,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            sources: BTreeMap::new(),
            undeclared: None,
            max_event_bytes: 1 << 20,
            max_batch_bytes: 8 << 20,
            max_batch_events: 1_000,
            body_timeout: Duration::from_secs(10),
        }
    }
}

/// What every request needs.
struct Entry {
    door: Arc<dyn Door>,
    settings: HttpSettings,
    open_bodies: Semaphore,
}

/// The routes under `/events`.
pub fn router(door: Arc<dyn Door>, settings: HttpSettings) -> Router {
    let entry = Arc::new(Entry { door, settings, open_bodies: Semaphore::new(MAX_OPEN_BODIES) });
    Router::new()
        .route("/events/{source}", post(receive).fallback(wrong_method))
        .route("/events", axum::routing::any(no_source))
        .route("/events/", axum::routing::any(no_source))
        .with_state(entry)
}

async fn receive(State(entry): State<Arc<Entry>>, Path(source): Path<String>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let via = match SourceName::parse(source) {
        Ok(via) => via,
        Err(error) => return not_a_source(&error).into_response(&path),
    };
    let response = match entry.accept(&via, request).await {
        Ok(response) => response,
        Err(refusal) => refusal.into_response(&path),
    };
    // A name that nothing was accepted under may be anything: it must not become a label.
    let status = response.status();
    let known = status.is_success() || status == StatusCode::CONFLICT;
    metrics::http_request(known.then_some(&via), status.as_u16());
    response
}

impl Entry {
    async fn accept(&self, via: &SourceName, request: Request) -> Result<Response, Refusal> {
        match self.read(via, request).await? {
            Received::One(event) => {
                let mut receipts = self.door.accept(vec![*event]).await?;
                let receipt = receipts.pop().unwrap_or_default();
                if receipt.has(Verdict::KeyConflict) {
                    return Err(Refusal::conflict(receipt));
                }
                Ok((StatusCode::ACCEPTED, axum::Json(receipt)).into_response())
            }
            Received::Batch(events) if events.is_empty() => Ok(batch_answer(&[])),
            Received::Batch(events) => Ok(batch_answer(&self.door.accept(events).await?)),
        }
    }

    async fn read(&self, via: &SourceName, request: Request) -> Result<Received, Refusal> {
        let (head, body) = request.into_parts();
        let form = decode::Form::of(&head.headers, via, &self.settings)?;
        let bytes = {
            let _open = self
                .open_bodies
                .try_acquire()
                .map_err(|_| NotAccepted::Busy { waiting: MAX_OPEN_BODIES, retry_after: BUSY_RETRY })?;
            body::read(body, &head.headers, form.limit(&self.settings), self.settings.body_timeout).await?
        };
        Ok(form.decode(via, &head.headers, bytes, &self.settings)?)
    }
}

/// A batch is answered with 202 even if some of it conflicts: all of it was kept.
fn batch_answer(receipts: &[EventReceipt]) -> Response {
    (StatusCode::ACCEPTED, axum::Json(receipts)).into_response()
}

fn not_a_source(reason: &wonce_core::name::Error) -> Refusal {
    let detail = format!("the path does not name a source: {reason}; post to /events/<source>");
    Refusal::new(StatusCode::NOT_FOUND, "no-source", "no such source", detail)
}

async fn no_source(uri: Uri) -> Response {
    let detail = "the path names no source; post to /events/<source>, e.g. /events/payments";
    Refusal::new(StatusCode::NOT_FOUND, "no-source", "no such source", detail).into_response(uri.path())
}

async fn wrong_method(method: Method, uri: Uri) -> Response {
    let detail = format!("{method} is not possible here; send events with POST");
    let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method", "events are sent with POST", detail);
    let mut response = refusal.into_response(uri.path());
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    response
}

#[cfg(test)]
mod tests;
