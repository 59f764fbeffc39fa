//! `GET /v1/status`.

use axum::Json;
use axum::extract::State;
use wonce_api::status::Status;

use super::AdminState;
use super::refusal::Refusal;

pub(super) async fn status(State(state): State<AdminState>) -> Result<Json<Status>, Refusal> {
    Ok(Json(state.store.status().await?))
}
