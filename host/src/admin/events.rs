//! `/v1/events/{handler}?key=`: one delivery's timeline. The key is a query parameter, because
//! keys may hold any text.

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use serde::Deserialize;
use wonce_api::event::Timeline;

use super::AdminState;
use super::refusal::Refusal;
use super::request;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyQuery {
    key: Option<String>,
}

pub(super) async fn show(
    State(state): State<AdminState>,
    handler: Result<Path<String>, PathRejection>,
    query: Result<Query<KeyQuery>, QueryRejection>,
) -> Result<Json<Timeline>, Refusal> {
    let handler = request::handler_name(handler)?;
    let query = request::query(query)?;
    let key = request::key("the event's key", query.key.as_deref())?;
    if let Some(timeline) = state.store.timeline(handler.as_str(), key.as_str()).await? {
        return Ok(Json(timeline));
    }
    if state.store.handler(handler.as_str()).await?.is_none() {
        return Err(super::handlers::unknown(&handler));
    }
    Err(Refusal::not_found(format!(
        "handler \"{handler}\" knows no event with key {:?}: it was never accepted, or retention removed it; keys \
         are compared byte for byte, and a composite key is a JSON array such as [\"p-1\",\"paid\"]",
        key.as_str()
    )))
}
