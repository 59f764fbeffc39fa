//! The operators' door: a small HTTP API over the store's read side and verbs, with health and
//! metrics beside it. Every refusal is a problem document that names the thing, the reason and
//! the next step.
//!
//! Invariant: nothing here holds SQL or decides what becomes of a delivery. Which address may be
//! bound is the configuration's business; who may come in is [`guard`]'s.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, patch, post};

use crate::live::{Hub, Logs};
use crate::store::Store;

mod dead_letters;
mod edit;
mod effects;
mod events;
pub mod guard;
mod handlers;
mod health;
mod hindrance;
mod live;
mod operations;
pub mod plugins;
pub mod readiness;
pub mod refusal;
mod request;
mod selection;
pub mod serve;
mod status;
pub mod verify;

pub use crate::pipeline::parked;
pub use crate::pipeline::parked::ParkedReplay;
pub use guard::{AdminSettings, AdminToken, Door};
pub use readiness::{Readiness, Ready};
pub use serve::{AdminListener, serve};

/// Operators send small documents only.
const MAX_BODY_BYTES: usize = 64 * 1024;
/// A plugin's file, and nothing else, may be so large.
const MAX_PLUGIN_BYTES: usize = 64 << 20;

/// Gives the text of `/metrics`.
pub type MetricsText = Arc<dyn Fn() -> String + Send + Sync>;

/// What the API stands on. Cheap to clone.
#[derive(Clone)]
pub struct AdminState {
    pub store: Store,
    pub settings: AdminSettings,
    pub readiness: Arc<dyn Readiness>,
    pub metrics: MetricsText,
    pub live: Arc<Hub>,
    pub logs: Arc<Logs>,
    /// Routes a parked event again; without it such a replay is refused.
    pub parked: Option<Arc<dyn ParkedReplay>>,
    /// Checks and activates plugins; without it such requests are refused.
    pub plugins: Option<Arc<dyn plugins::Plugins>>,
}

impl std::fmt::Debug for AdminState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AdminState").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// All routes behind their guards.
pub fn router(state: AdminState) -> Router {
    let files = Router::new()
        .route("/v1/plugins", get(plugins::list).post(plugins::deploy))
        .route("/v1/inspect", post(plugins::inspect))
        .layer(DefaultBodyLimit::max(MAX_PLUGIN_BYTES));
    let edit = patch(edit::edit).layer(DefaultBodyLimit::max(edit::MAX_BODY_BYTES));
    let guarded = Router::new()
        .route("/v1/status", get(status::status))
        .route("/v1/handlers", get(handlers::list))
        .route("/v1/handlers/{name}", get(handlers::show))
        .route("/v1/handlers/{name}/pause", post(handlers::pause))
        .route("/v1/handlers/{name}/resume", post(handlers::resume))
        .route("/v1/events/{handler}", get(events::show))
        .route("/v1/dead-letters", get(dead_letters::list))
        .route("/v1/dead-letters/{id}", get(dead_letters::show).merge(edit))
        .route("/v1/dead-letters/{id}/replay", post(dead_letters::replay))
        .route("/v1/dead-letters/{id}/discard", post(dead_letters::discard))
        .route("/v1/dead-letters/{id}/restore", post(dead_letters::restore))
        .route("/v1/dead-letter-groups", get(dead_letters::groups))
        .route("/v1/effects", get(effects::list))
        .route("/v1/operations", get(operations::list).post(operations::begin))
        .route("/v1/operations/{id}", get(operations::show).patch(operations::change))
        .route("/v1/operations/{id}/items", get(operations::items))
        .route("/v1/plugins/{name}", get(plugins::show))
        .route("/v1/plugins/{name}/history", get(plugins::history))
        .route("/v1/plugins/{name}/rollback", post(plugins::rollback))
        .route("/v1/plugins/{name}/remove", post(plugins::remove))
        .route("/v1/verify", get(verify::verify))
        .route(wonce_api::live::PATH, get(live::live))
        .route(wonce_api::live::LOGS_PATH, get(live::logs))
        .route("/metrics", get(health::metrics))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .merge(files)
        .fallback(refusal::no_such_path)
        .method_not_allowed_fallback(refusal::no_such_method)
        .layer(from_fn_with_state(state.settings.clone(), guard::require_token));
    Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .method_not_allowed_fallback(refusal::no_such_method)
        .merge(guarded)
        .layer(from_fn_with_state(state.settings.clone(), guard::require_known_host))
        .layer(from_fn(guard::require_json))
        .layer(from_fn(refusal::write_refusals))
        .with_state(state)
}
