//! `/v1/plugins`: deploy, list, show, history, rollback, remove; and a look at any file. Whoever
//! prepares components stands behind [`Plugins`]: nothing here knows what is in a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use wonce_api::plugin::{
    DeployQuery, Deployment, Inspection, PluginDetail, PluginHistory, PluginList, PluginRemoved,
    RemoveRequest, RollbackRequest,
};
use wonce_core::name::HandlerName;

use super::refusal::Refusal;
use super::{AdminState, MAX_PLUGIN_BYTES, handlers, request};
use crate::store::action::By;
use crate::store::version::{Removal, Unsettled};

type Name = Result<Path<String>, PathRejection>;
type Body = Result<Bytes, BytesRejection>;

/// Checks files and makes versions the active ones.
#[async_trait]
pub trait Plugins: Send + Sync {
    /// Everything there is to say of a file.
    async fn inspect(&self, file: Vec<u8>) -> Result<Inspection, Refused>;

    /// Makes the file the active version of the handler that its manifest names.
    async fn deploy(
        &self,
        file: Vec<u8>,
        settings: BTreeMap<String, String>,
        signature: Option<String>,
        by: By,
    ) -> Result<Deployment, Refused>;

    /// Makes an earlier version the active one: the one before, or the one that begins so.
    async fn rollback(&self, name: &HandlerName, to: Option<String>, by: By) -> Result<Deployment, Refused>;

    /// Something changed which versions are active: look now.
    fn changed(&self);
}

/// Why nothing was changed.
#[derive(Debug)]
pub enum Refused {
    /// The file does not run here; a report of several lines.
    Unfit(String),
    NotFound(String),
    Conflict(String),
    /// The host's own fault.
    Host(String),
    Store(crate::store::Error),
}

impl From<crate::store::Error> for Refused {
    fn from(error: crate::store::Error) -> Self {
        Refused::Store(error)
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Unfit(report) => {
                let title = "The plugin does not run here";
                Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "plugin-refused", title, report)
            }
            Refused::NotFound(detail) => Refusal::not_found(detail),
            Refused::Conflict(detail) => {
                Refusal::new(StatusCode::CONFLICT, "conflict", "Things are not as expected", detail)
            }
            Refused::Host(detail) => {
                let title = "The host failed";
                Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", title, detail)
            }
            Refused::Store(error @ crate::store::Error::Refused { .. }) => {
                let title = "The database does not take it";
                Refusal::new(StatusCode::CONFLICT, "conflict", title, error.explained())
            }
            Refused::Store(error) => Refusal::store(&error),
        }
    }
}

pub(super) async fn list(State(state): State<AdminState>) -> Result<Json<PluginList>, Refusal> {
    Ok(Json(state.store.plugins().await?))
}

pub(super) async fn show(State(state): State<AdminState>, name: Name) -> Result<Json<PluginDetail>, Refusal> {
    let name = request::handler_name(name)?;
    state.store.plugin(name.as_str()).await?.map(Json).ok_or_else(|| handlers::unknown(&name))
}

pub(super) async fn history(
    State(state): State<AdminState>,
    name: Name,
) -> Result<Json<PluginHistory>, Refusal> {
    let name = request::handler_name(name)?;
    state.store.plugin_history(name.as_str()).await?.map(Json).ok_or_else(|| handlers::unknown(&name))
}

pub(super) async fn inspect(
    State(state): State<AdminState>,
    body: Body,
) -> Result<Json<Inspection>, Refusal> {
    let file = file(body)?;
    Ok(Json(plugins(&state)?.inspect(file).await?))
}

pub(super) async fn deploy(
    State(state): State<AdminState>,
    query: Result<Query<DeployQuery>, QueryRejection>,
    body: Body,
) -> Result<Json<Deployment>, Refusal> {
    let asked = request::query(query)?;
    let by = request::by(asked.actor.as_deref(), asked.reason.as_deref())?;
    let settings = match asked.settings.as_deref() {
        Some(text) => serde_json::from_str(text)
            .map_err(|error| Refusal::bad_request(format!("settings is no JSON object of text: {error}")))?,
        None => BTreeMap::new(),
    };
    let file = file(body)?;
    Ok(Json(plugins(&state)?.deploy(file, settings, asked.signature, by).await?))
}

pub(super) async fn rollback(
    State(state): State<AdminState>,
    name: Name,
    body: Body,
) -> Result<Json<Deployment>, Refusal> {
    let name = request::handler_name(name)?;
    let asked: RollbackRequest = request::body(body)?;
    let by = request::by(asked.actor.as_deref(), asked.reason.as_deref())?;
    Ok(Json(plugins(&state)?.rollback(&name, asked.to, by).await?))
}

pub(super) async fn remove(
    State(state): State<AdminState>,
    name: Name,
    body: Body,
) -> Result<Json<PluginRemoved>, Refusal> {
    let name = request::handler_name(name)?;
    let asked: RemoveRequest = request::body(body)?;
    let by = request::by(asked.actor.as_deref(), asked.reason.as_deref())?;
    let unsettled = if asked.keep_pending { Unsettled::Keep } else { Unsettled::Refuse };
    let (changed, pending) = match state.store.remove_handler(name.as_str(), unsettled, &by).await? {
        Removal::Removed { pending } => (true, pending),
        Removal::Unchanged => (false, 0),
        Removal::UnknownHandler => return Err(handlers::unknown(&name)),
        Removal::Pending(pending) => return Err(pending_left(&name, pending)),
    };
    if let Some(plugins) = &state.plugins {
        plugins.changed();
    }
    Ok(Json(PluginRemoved { handler: name.into(), changed, pending }))
}

fn pending_left(name: &HandlerName, pending: i64) -> Refusal {
    let detail = format!(
        "handler \"{name}\" has {pending} pending deliveries, and nobody would work on them; wait for them, or remove it with --keep-pending and they wait for its return"
    );
    Refusal::new(StatusCode::CONFLICT, "pending", "There is work left", detail)
}

fn plugins(state: &AdminState) -> Result<&Arc<dyn Plugins>, Refusal> {
    state.plugins.as_ref().ok_or_else(|| {
        let detail = "this admin API was started without a sandbox; ask a host that runs handlers";
        Refusal::new(StatusCode::NOT_IMPLEMENTED, "no-sandbox", "There is no sandbox here", detail)
    })
}

fn file(body: Body) -> Result<Vec<u8>, Refusal> {
    let bytes = body.map_err(|error| {
        if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
            let limit = MAX_PLUGIN_BYTES >> 20;
            let detail = format!(
                "a plugin has at most {limit} MiB, and this file is larger; strip it, or build it for size"
            );
            return Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too-large",
                "The plugin is too large",
                detail,
            );
        }
        Refusal::bad_request(format!("the file: {}", error.body_text()))
    })?;
    if bytes.is_empty() {
        return Err(Refusal::bad_request("there is no file: send it as the body, as application/wasm"));
    }
    Ok(bytes.into())
}
