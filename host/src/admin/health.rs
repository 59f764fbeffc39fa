//! `/healthz`, `/readyz` and `/metrics`. The first two need no token: they tell nothing but
//! whether the host works.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;

use super::AdminState;
use super::readiness::Ready;
use super::refusal::Refusal;

/// The format that Prometheus asks for.
const METRICS_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) async fn alive() -> impl IntoResponse {
    Json(serde_json::json!({ "alive": true }))
}

pub(super) async fn ready(State(state): State<AdminState>) -> Result<impl IntoResponse, Refusal> {
    match state.readiness.ready().await {
        Ready::Ready => Ok(Json(serde_json::json!({ "ready": true }))),
        Ready::NotReady { reason } => {
            Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", "The host is not ready", reason))
        }
    }
}

pub(super) async fn metrics(State(state): State<AdminState>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, METRICS_TEXT)], (state.metrics)())
}
