//! `/v1/effects`: list.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use wonce_api::effect::{EffectList, EffectQuery};
use wonce_core::effect::EffectState;
use wonce_core::name::SinkName;

use super::refusal::Refusal;
use super::{AdminState, request};

pub(super) async fn list(
    State(state): State<AdminState>,
    query: Result<Query<EffectQuery>, QueryRejection>,
) -> Result<Json<EffectList>, Refusal> {
    let query = request::query(query)?;
    let wanted = query.state.as_deref().map(|word| {
        EffectState::parse(word).ok_or_else(|| {
            let known = EffectState::ALL.map(EffectState::as_str).join(", ");
            Refusal::bad_request(format!("state {word:?} does not exist; effects are {known}"))
        })
    });
    let sink = query.sink.map(|name| {
        SinkName::parse(name.clone())
            .map_err(|reason| Refusal::bad_request(format!("{name:?} is not a sink's name: {reason}")))
    });
    let before = request::number("before", query.before.as_deref())?;
    let limit = request::limit(query.limit.as_deref())?;
    let effects = state.store.effects(sink.transpose()?.as_ref(), wanted.transpose()?, before, limit).await?;
    Ok(Json(effects))
}
