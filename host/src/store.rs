//! All SQL of wonce, one file per noun. The control pool serves intake, admin, relay and
//! migrations (a transaction-mode pooler may stand in between: no session state, no named
//! statements); invocations have connections of their own, see [`lease`].
//!
//! Invariant: nothing here knows wasmtime, HTTP or the policies of `core::decide`.

use std::time::Duration;

use deadpool_postgres::{Object, Pool};

pub mod action;
pub mod alert;
mod books;
pub mod claim;
pub mod connect;
pub mod dead_letter;
pub mod deploy;
pub mod due;
pub mod edit;
pub mod error;
pub mod gauges;
mod guest;
pub mod handler_state;
pub mod harden;
pub mod host_boot;
pub mod intake;
pub mod lease;
pub mod migrate;
pub mod operation;
pub mod outbox;
pub mod place;
mod sample;
mod script;
mod selected;
pub mod settle;
pub mod sql;
pub mod submitted;
pub mod tick;
pub mod transaction;
mod trip;
pub mod upkeep;
mod value;
pub mod verify;
pub mod version;
pub mod view;

pub use connect::DatabaseUrl;
pub use error::Error;

/// How long a caller waits for a control connection before it hears that the database is busy.
const CONTROL_WAIT: Duration = Duration::from_secs(10);

/// The way to the database for everything but invocations. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    pool: Pool,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("pool", &self.pool.status()).finish()
    }
}

impl Store {
    /// Opens the control pool (at most `connections`) and proves with one round trip that the
    /// database answers and is a version that wonce supports.
    ///
    /// # Errors
    /// When the database cannot be reached or is older than Postgres 15.
    pub async fn connect(url: &DatabaseUrl, connections: usize) -> Result<Self, Error> {
        let store = Self { pool: connect::control_pool(url, connections, CONTROL_WAIT)? };
        let client = store.client().await?;
        connect::require_supported_version(&client).await?;
        drop(client);
        Ok(store)
    }

    /// Closes the control connections, so that a database that stops next finds none.
    pub fn close(&self) {
        self.pool.close();
    }

    /// One control connection, given back on drop.
    pub(crate) async fn client(&self) -> Result<Object, Error> {
        self.pool.get().await.map_err(Error::no_connection)
    }
}

/// Opens a transaction on a control connection.
pub(crate) async fn begin<'a>(
    client: &'a mut Object,
    attempt: &'static str,
) -> Result<tokio_postgres::Transaction<'a>, Error> {
    let client: &mut tokio_postgres::Client = client;
    client.transaction().await.map_err(|source| Error::Statement { attempt, source })
}

/// Opens a transaction in which every statement has a fresh snapshot, whatever the server's
/// default is: the verbs of operators depend on it. Dropping it rolls back.
pub(crate) async fn writing<'a>(
    client: &'a mut Object,
    attempt: &'static str,
) -> Result<tokio_postgres::Transaction<'a>, Error> {
    let client: &mut tokio_postgres::Client = client;
    client
        .build_transaction()
        .isolation_level(tokio_postgres::IsolationLevel::ReadCommitted)
        .start()
        .await
        .map_err(|source| Error::Statement { attempt, source })
}

/// A database function answered with a word that this build does not know.
pub(crate) fn unknown_verdict(statement: &'static str, verdict: &str) -> Error {
    Error::Refused {
        attempt: statement.to_owned(),
        reason: format!(
            "the database answered \"{verdict}\", which this version does not know; run the version that migrated it"
        ),
    }
}
