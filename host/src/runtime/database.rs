//! The database of a host: the operator's own, or a private cluster in the data folder.

use std::time::Duration;

use anyhow::Context;
use tokio_util::sync::CancellationToken;
use wonce_embedded::Embedded;

use super::started::Started;
use crate::config::{Config, Server};
use crate::store::{DatabaseUrl, Store};

/// Between two tries to bring the private cluster back.
const FIRST_RESTART_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_RESTART_PAUSE: Duration = Duration::from_secs(10);

/// An open, migrated database.
#[derive(Debug)]
pub(super) struct Database {
    pub(super) store: Store,
    /// Where invocations connect.
    pub(super) invocation_url: DatabaseUrl,
}

impl Database {
    /// Starts or reaches it and brings its schema up to date. A private cluster is left in
    /// `started`, for the service that will watch over it.
    pub(super) async fn open(config: &Config, started: &mut Started) -> anyhow::Result<Self> {
        let (url, direct_url) = match &config.database.server {
            Server::External { url, direct_url } => {
                let direct = direct_url.as_ref().unwrap_or(url);
                (url.expose().to_owned(), direct.expose().to_owned())
            }
            Server::Embedded(settings) => {
                let embedded = start_embedded(config, settings).await?;
                let url = embedded.url(wonce_embedded::DATABASE);
                started.embedded = Some(embedded);
                (url.clone(), url)
            }
        };
        let invocation_url: DatabaseUrl = direct_url.parse()?;
        let connections = config.database.max_connections as usize;
        let url: DatabaseUrl = url.parse()?;
        let store = Store::connect(&url, connections).await.map_err(explained)?;
        started.database = Some((url, store.clone()));
        let applied = store.migrate().await.map_err(explained)?;
        if applied > 0 {
            tracing::info!(migrations = applied, "brought the database up to date");
        }
        let database = Self { store, invocation_url };
        database.close_doors(started.embedded.as_ref()).await?;
        Ok(database)
    }

    /// In its own cluster wonce revokes what every role may do; elsewhere it says what is open.
    async fn close_doors(&self, embedded: Option<&Embedded>) -> anyhow::Result<()> {
        if embedded.is_some_and(Embedded::owns_server) {
            self.store.harden().await.map_err(explained)?;
        }
        let open = self.store.open_doors().await.map_err(explained)?;
        if !open.is_empty() {
            tracing::warn!(
                open = open.join("; "),
                "this database leaves doors open to every role; only the statement guard keeps handlers from them. Revoke them from PUBLIC if nothing else needs them (docs/security.md)"
            );
        }
        Ok(())
    }
}

/// Brings a private cluster back when its server dies, and stops it in the end.
pub(super) async fn watch(mut embedded: Embedded, stop: CancellationToken) {
    let mut pause = FIRST_RESTART_PAUSE;
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            exit = embedded.ended() => tracing::error!(exit = %exit, "the private database ended by itself; starting it again"),
        }
        match embedded.restart().await {
            Ok(()) => pause = FIRST_RESTART_PAUSE,
            Err(error) => {
                tracing::error!(error = %error, "the private database does not start; will keep trying");
                tokio::select! {
                    () = stop.cancelled() => break,
                    () = tokio::time::sleep(pause) => {}
                }
                pause = (pause * 2).min(LONGEST_RESTART_PAUSE);
            }
        }
    }
    shut_down(embedded).await;
}

/// Stops a private cluster.
pub(super) async fn shut_down(embedded: Embedded) {
    if let Err(error) = embedded.stop().await {
        tracing::warn!(error = %error, "the private database did not stop in order; its data is safe");
    }
}

async fn start_embedded(config: &Config, settings: &crate::config::Embedded) -> anyhow::Result<Embedded> {
    let folder = config.data_dir.join("postgres");
    tracing::info!(folder = %folder.display(), "starting the private database");
    let mut wanted = wonce_embedded::Settings::new(&folder);
    wanted.bin_dir.clone_from(&settings.bin_dir);
    wanted.user.clone_from(&settings.user);
    Embedded::start(wanted).await.context("start the private database")
}

/// The store's errors keep the driver's words in their source; people want them in one line.
pub(super) fn explained(error: crate::store::Error) -> anyhow::Error {
    anyhow::anyhow!(error.explained())
}
