//! `/v1/dead-letters`: list, show, replay, discard, restore.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use wonce_api::dead_letter::{
    DeadLetterDetail, DeadLetterList, DeadLetterQuery, DiscardRequest, Discarded, GroupList, GroupQuery,
    ReplayRequest, Replayed, ReplayedDelivery, RestoreRequest, Restored, Selection,
};
use wonce_core::name::Key;

use super::AdminState;
use super::edit::etag;
use super::hindrance::{Verb, refuse};
use super::parked::ParkedError;
use super::refusal::Refusal;
use super::request::{Body, Id};
use super::{request, selection};
use crate::store::action::By;
use crate::store::dead_letter::Hindrance;
use crate::store::view::dead_letter::Filter;
use crate::telemetry::metrics;

const STATES: [&str; 3] = ["dead", "replayed", "discarded"];

pub(super) async fn list(
    State(state): State<AdminState>,
    query: Result<Query<DeadLetterQuery>, QueryRejection>,
) -> Result<Json<DeadLetterList>, Refusal> {
    let filter = filter(request::query(query)?)?;
    Ok(Json(state.store.dead_letters(&filter).await?))
}

pub(super) async fn groups(
    State(state): State<AdminState>,
    query: Result<Query<GroupQuery>, QueryRejection>,
) -> Result<Json<GroupList>, Refusal> {
    let query = request::query(query)?;
    let before = request::number("before", query.before.as_deref())?;
    let limit = request::limit(query.limit.as_deref())?;
    let selection = selection::checked(Selection {
        handler: query.handler,
        reason: query.reason,
        fingerprint: None,
        version: query.version,
        key_prefix: query.key_prefix,
        operation: None,
    })?;
    Ok(Json(state.store.dead_letter_groups(&selection, before, limit).await?))
}

pub(super) async fn show(
    State(state): State<AdminState>,
    id: Id,
) -> Result<([(HeaderName, HeaderValue); 1], Json<DeadLetterDetail>), Refusal> {
    let id = request::dead_letter_id(id)?;
    let Some(detail) = state.store.dead_letter(id).await? else {
        return Err(refuse(Verb::Show, id, Hindrance::Unknown));
    };
    Ok(([(header::ETAG, etag(detail.revision))], Json(detail)))
}

pub(super) async fn replay(
    State(state): State<AdminState>,
    id: Id,
    body: Body,
) -> Result<Json<Replayed>, Refusal> {
    let id = request::dead_letter_id(id)?;
    let asked: ReplayRequest = request::body(body)?;
    let by = request::by(asked.actor.as_deref(), asked.reason.as_deref())?;
    let new_key = match asked.key.as_deref() {
        Some(text) => Some(request::key("the new key", Some(text))?),
        None => None,
    };
    let deliveries = match state.store.replay(id, new_key.as_ref(), &by).await? {
        Ok(requeued) => vec![ReplayedDelivery {
            handler: requeued.handler,
            key: requeued.key,
            verdict: "accepted".to_owned(),
            round: requeued.round,
        }],
        Err(Hindrance::Parked) => replay_parked(&state, id, new_key.as_ref(), &by).await?,
        Err(hindrance) => return Err(refuse(Verb::Replay, id, hindrance)),
    };
    deliveries.iter().for_each(|delivery| metrics::replays(&delivery.handler, 1));
    Ok(Json(Replayed { id, deliveries }))
}

pub(super) async fn discard(
    State(state): State<AdminState>,
    id: Id,
    body: Body,
) -> Result<Json<Discarded>, Refusal> {
    let id = request::dead_letter_id(id)?;
    let asked: DiscardRequest = request::body(body)?;
    if asked.reason.trim().is_empty() {
        return Err(Refusal::bad_request(
            "discarding needs a reason, which stays on record: say why nobody has to handle it (--reason)",
        ));
    }
    let by = request::by(asked.actor.as_deref(), Some(&asked.reason))?;
    match state.store.discard(id, &by).await? {
        Ok(()) => Ok(Json(Discarded { id, reason: asked.reason })),
        Err(hindrance) => Err(refuse(Verb::Discard, id, hindrance)),
    }
}

pub(super) async fn restore(
    State(state): State<AdminState>,
    id: Id,
    body: Body,
) -> Result<Json<Restored>, Refusal> {
    let id = request::dead_letter_id(id)?;
    let asked: RestoreRequest = request::body(body)?;
    let by = request::by(asked.actor.as_deref(), asked.reason.as_deref())?;
    match state.store.restore(id, &by).await? {
        Ok(()) => Ok(Json(Restored { id })),
        Err(hindrance) => Err(refuse(Verb::Restore, id, hindrance)),
    }
}

/// The intake commits the deliveries first; if the host dies before the letter is closed, a
/// second replay finds them as duplicates.
async fn replay_parked(
    state: &AdminState,
    id: i64,
    new_key: Option<&Key>,
    by: &By,
) -> Result<Vec<ReplayedDelivery>, Refusal> {
    if new_key.is_some() {
        return Err(refuse(Verb::Replay, id, Hindrance::KeepsKey));
    }
    let Some(intake) = &state.parked else {
        return Err(refuse(Verb::Replay, id, Hindrance::Parked));
    };
    let Some(event) = state.store.parked_event(id).await? else {
        return Err(refuse(Verb::Replay, id, Hindrance::WasReplayed));
    };
    let made = intake.replay(event).await.map_err(|e| match e {
        ParkedError::StillParked { reason } => Refusal::still_parked(id, &reason),
        ParkedError::Unavailable { reason } => Refusal::intake_unavailable(id, &reason),
    })?;
    let named: Vec<_> = made.iter().map(|d| (d.handler.clone(), d.key.clone())).collect();
    if let Err(hindrance) = state.store.parked_replayed(id, &named, by).await? {
        return Err(refuse(Verb::Replay, id, hindrance));
    }
    Ok(made
        .into_iter()
        .map(|d| ReplayedDelivery {
            handler: d.handler.into(),
            key: d.key.into(),
            verdict: d.verdict.as_str().to_owned(),
            round: 0,
        })
        .collect())
}

fn filter(query: DeadLetterQuery) -> Result<Filter, Refusal> {
    let state = match query.state.as_deref() {
        None => Some("dead".to_owned()),
        Some("any") => None,
        Some(state) if STATES.contains(&state) => Some(state.to_owned()),
        Some(other) => {
            return Err(Refusal::bad_request(format!(
                "state {other:?} does not exist; dead letters are dead, replayed or discarded, and any lists all"
            )));
        }
    };
    let limit = request::limit(query.limit.as_deref())?;
    let selection = selection::checked(Selection {
        handler: query.handler,
        reason: query.reason,
        fingerprint: query.fingerprint,
        version: query.version,
        key_prefix: query.key_prefix,
        operation: request::number("operation", query.operation.as_deref())?,
    })?;
    Ok(Filter { selection, state, before: request::number("before", query.before.as_deref())?, limit })
}
