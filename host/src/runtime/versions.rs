//! Which version of each handler this host runs. The database says which one is active; this service
//! looks every quarter of a second (and at once when this host changed it), prepares what is new in
//! the background, and exchanges it while invocations run. What cannot be prepared never replaces
//! what serves; why is said in the log and to everybody who asks any host.
//!
//! Invariant: only this service, and the start, change the lineup.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wonce_core::digest::hex;
use wonce_core::name::HandlerName;
use wonce_wasm::{LoadError, Sandbox};

use super::database::Database;
use super::handlers;
use crate::config::Config;
use crate::pipeline::handler::Handler;
use crate::pipeline::lineup::Lineup;
use crate::plugin;
use crate::store::deploy::{ChosenBy, OnOtherVersion};
use crate::store::version::{Pointer, StoredVersion};
use crate::store::{DatabaseUrl, Store};

mod begin;
mod deploy;

/// How often the host looks which versions are active.
const LOOK: Duration = Duration::from_millis(250);
/// Versions that are fetched and prepared at once; the sandbox compiles one at a time.
const PREPARING: usize = 4;
/// What could not be prepared is tried again after this.
const RETRY: Duration = Duration::from_secs(10);

/// A version's name.
type Digest = [u8; 32];

/// See the module. Shared with whoever asks for another version.
#[derive(Debug)]
pub(super) struct Versions {
    config: Config,
    store: Store,
    invocation_url: DatabaseUrl,
    sandbox: Sandbox,
    lineup: Lineup,
    boot: Uuid,
    on_other_version: OnOtherVersion,
    preparing: Semaphore,
    /// Told when this host changed which version is active.
    changed: Notify,
}

/// What is under way.
#[derive(Debug, Default)]
struct Following {
    /// The last look.
    wanted: HashMap<i64, Digest>,
    work: JoinSet<Prepared>,
    in_work: HashMap<i64, Digest>,
    failed: HashMap<i64, (Digest, Instant)>,
    /// Versions before the active ones, which are compiled so that a way back takes no time.
    warmed: HashMap<i64, Digest>,
}

/// What preparing a version came to.
#[derive(Debug)]
struct Prepared {
    id: i64,
    name: HandlerName,
    digest: Digest,
    handler: Result<Handler, String>,
}

impl Versions {
    pub(super) fn new(
        config: Config,
        database: &Database,
        sandbox: Sandbox,
        boot: Uuid,
        on_other_version: OnOtherVersion,
    ) -> Self {
        Self {
            config,
            store: database.store.clone(),
            invocation_url: database.invocation_url.clone(),
            sandbox,
            lineup: Lineup::default(),
            boot,
            on_other_version,
            preparing: Semaphore::new(PREPARING),
            changed: Notify::new(),
        }
    }

    pub(super) fn lineup(&self) -> Lineup {
        self.lineup.clone()
    }

    /// Follows the database until `stop`.
    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) {
        let mut following = Following::default();
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                Some(done) = following.work.join_next() => {
                    // A panic takes the task only: the next look prepares the version again.
                    match done {
                        Ok(prepared) => self.take(prepared, &mut following).await,
                        Err(_) => following.in_work.clear(),
                    }
                    continue;
                }
                _ = looks.tick() => {}
                () = self.changed.notified() => {}
            }
            // A database that is away is the scout's to report.
            if let Ok(pointers) = self.store.pointers().await {
                self.follow(&pointers, &mut following).await;
            }
        }
    }

    async fn follow(self: &Arc<Self>, pointers: &[Pointer], following: &mut Following) {
        for pointer in pointers {
            let running = self.lineup.running(pointer.id);
            if !self.is_mine(pointer, running.is_some()) {
                following.wanted.remove(&pointer.id);
                if running.is_some() {
                    self.lineup.take_out(pointer.id);
                    tracing::info!(handler = %pointer.name, "the handler was removed");
                    self.said(self.store.says_it_stopped(self.boot, pointer.id).await);
                }
                continue;
            }
            following.wanted.insert(pointer.id, pointer.active);
            let is_current = running.is_some_and(|handler| handler.version == pointer.active);
            let in_work = following.in_work.get(&pointer.id) == Some(&pointer.active);
            let waits = following
                .failed
                .get(&pointer.id)
                .is_some_and(|(digest, again)| *digest == pointer.active && Instant::now() < *again);
            if is_current {
                self.warm(pointer, following);
            } else if !in_work && !waits {
                following.in_work.insert(pointer.id, pointer.active);
                following.work.spawn(Arc::clone(self).prepare(pointer.clone()));
            }
        }
    }

    /// What a hand chose runs on every host; what a file chose, on the hosts that have the file.
    fn is_mine(&self, pointer: &Pointer, is_seated: bool) -> bool {
        let by_hand = pointer.chosen_by == ChosenBy::Hand;
        !pointer.is_removed && (by_hand || is_seated || self.config.handlers.contains_key(&pointer.name))
    }

    async fn prepare(self: Arc<Self>, pointer: Pointer) -> Prepared {
        let Pointer { id, name, active: digest, .. } = pointer;
        // The semaphore is never closed.
        let _turn = self.preparing.acquire().await;
        let handler = self.prepared(id, &name, digest).await;
        Prepared { id, name, digest, handler }
    }

    async fn prepared(&self, id: i64, name: &HandlerName, digest: Digest) -> Result<Handler, String> {
        let stored = self.stored(id, digest).await?;
        let config = self
            .config
            .deployed(&stored.manifest, &stored.settings)
            .map_err(|error| plugin::problems(&error).join("; "))?;
        if config.name != *name {
            return Err(format!("its manifest calls it \"{}\"", config.name));
        }
        let prepared = self.sandbox.prepare(&stored.component).await.map_err(|error| match error {
            LoadError::Refused(refusal) => refusal.to_string(),
            LoadError::Host { .. } => error.to_string(),
        })?;
        handlers::running(&config, stored.access, digest, prepared).map_err(|error| format!("{error:#}"))
    }

    /// A version as the database has it, which must be what its name says.
    async fn stored(&self, id: i64, digest: Digest) -> Result<StoredVersion, String> {
        let stored = self.store.load_version(id, digest, &self.invocation_url).await;
        let stored = stored.map_err(|error| error.explained())?;
        let stored = stored.ok_or_else(|| "the database has it no more; deploy it again".to_owned())?;
        if stored.digest() != digest {
            return Err("what the database has under its name is something else; deploy it again".to_owned());
        }
        Ok(stored)
    }

    /// Exchanges the version, unless another one is wanted by now.
    async fn take(&self, prepared: Prepared, following: &mut Following) {
        let Prepared { id, name, digest, handler } = prepared;
        if following.in_work.get(&id) == Some(&digest) {
            following.in_work.remove(&id);
        }
        if following.wanted.get(&id) != Some(&digest) {
            return;
        }
        let before = self.lineup.running(id).map(|handler| handler.version);
        match handler {
            Ok(handler) => {
                following.failed.remove(&id);
                self.lineup.put(handler);
                tracing::info!(handler = %name, version = short(&digest), before = before.as_ref().map(short),
                               "the handler runs this version from now on");
                self.said(self.store.says_it_runs(self.boot, id, digest, Some(digest), None).await);
            }
            Err(problem) => {
                following.failed.insert(id, (digest, Instant::now() + RETRY));
                tracing::error!(handler = %name, version = short(&digest), serving = before.as_ref().map(short),
                                error = problem, "this host cannot run the active version; what it ran goes on");
                self.said(self.store.says_it_runs(self.boot, id, digest, before, Some(&problem)).await);
            }
        }
    }

    /// Compiles the version before the active one, once, when there is nothing else to do.
    fn warm(self: &Arc<Self>, pointer: &Pointer, following: &mut Following) {
        let Some(previous) = pointer.previous else { return };
        if following.warmed.insert(pointer.id, previous) == Some(previous) {
            return;
        }
        let (this, id) = (Arc::clone(self), pointer.id);
        tokio::spawn(async move {
            let _turn = this.preparing.acquire().await;
            if let Ok(stored) = this.stored(id, previous).await {
                // What does not load is said when somebody wants to run it.
                let _ = this.sandbox.prepare(&stored.component).await;
            }
        });
    }

    /// What a host runs is told for people: a database that is away is no reason to stop.
    fn said(&self, written: Result<(), crate::store::Error>) {
        if let Err(error) = written {
            tracing::debug!(error = error.explained(), "cannot say which version this host runs");
        }
    }
}

fn short(digest: &Digest) -> String {
    hex(&digest[..6])
}
