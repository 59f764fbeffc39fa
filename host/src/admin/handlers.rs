//! `/v1/handlers`: list, show, pause, resume.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use wonce_api::action::ActionRequest;
use wonce_api::handler::{HandlerChanged, HandlerDetail, HandlerList};
use wonce_core::name::HandlerName;

use super::AdminState;
use super::refusal::Refusal;
use super::request;
use crate::store::handler_state::{HandlerState, StateChange};

type Name = Result<Path<String>, PathRejection>;
type Body = Result<Bytes, BytesRejection>;

pub(super) async fn list(State(state): State<AdminState>) -> Result<Json<HandlerList>, Refusal> {
    Ok(Json(state.store.handlers().await?))
}

pub(super) async fn show(
    State(state): State<AdminState>,
    name: Name,
) -> Result<Json<HandlerDetail>, Refusal> {
    let name = request::handler_name(name)?;
    let detail = state.store.handler(name.as_str()).await?;
    detail.map(Json).ok_or_else(|| unknown(&name))
}

pub(super) async fn pause(
    State(state): State<AdminState>,
    name: Name,
    body: Body,
) -> Result<Json<HandlerChanged>, Refusal> {
    change(&state, name, body, HandlerState::Paused).await
}

pub(super) async fn resume(
    State(state): State<AdminState>,
    name: Name,
    body: Body,
) -> Result<Json<HandlerChanged>, Refusal> {
    change(&state, name, body, HandlerState::Active).await
}

async fn change(
    state: &AdminState,
    name: Name,
    body: Body,
    wanted: HandlerState,
) -> Result<Json<HandlerChanged>, Refusal> {
    let name = request::handler_name(name)?;
    let asked: ActionRequest = request::body(body)?;
    let by = request::by(asked.actor.as_deref(), asked.reason.as_deref())?;
    let changed = match state.store.set_handler_state(name.as_str(), wanted, &by).await? {
        StateChange::Changed => true,
        StateChange::Unchanged => false,
        StateChange::UnknownHandler => return Err(unknown(&name)),
        StateChange::Removed => return Err(removed(&name)),
    };
    Ok(Json(HandlerChanged { handler: name.into(), state: wanted.as_str().to_owned(), changed }))
}

fn removed(name: &HandlerName) -> Refusal {
    let detail =
        format!("handler \"{name}\" was removed; `wonce plugin rollback {name}` or a deploy brings it back");
    Refusal::new(StatusCode::CONFLICT, "removed", "The handler was removed", detail)
}

pub(super) fn unknown(name: &HandlerName) -> Refusal {
    Refusal::not_found(format!(
        "no handler \"{name}\" was ever deployed here; `wonce handler list` shows all"
    ))
}
