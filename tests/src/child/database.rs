//! A database of its own for each test, on the server that the environment names or on a
//! throw-away one. Every question opens a connection: servers are restarted under these tests.

use tempfile::TempDir;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;
use wonce_embedded::{Embedded, Settings};

use super::verb;
use crate::wait::until;

/// Connections of a throw-away server: several hosts and their tests.
const CONNECTIONS: &str = "200";
/// The tables that the guests of these tests write: one row a handled event.
pub(super) const BUSINESS: &str = "
    CREATE SCHEMA IF NOT EXISTS app;
    CREATE TABLE IF NOT EXISTS app.entry (
        seq   bigint      GENERATED ALWAYS AS IDENTITY,
        event text        NOT NULL,
        k     text,
        n     integer,
        begun timestamptz NOT NULL DEFAULT clock_timestamp(),
        ended timestamptz
    );
    CREATE TABLE IF NOT EXISTS app.gate (event text NOT NULL);";

/// A server of a test's own.
#[derive(Debug)]
pub struct Cluster {
    pub postgres: Embedded,
    _folder: TempDir,
}

/// A database with the business tables and, once a host was there, wonce's own.
#[derive(Debug)]
pub struct Database {
    pub url: String,
    server: String,
    name: String,
    /// The server too, where the environment names none.
    cluster: Option<Cluster>,
}

impl Cluster {
    /// Starts one.
    pub async fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("wonce-crash-").tempdir().expect("a folder");
        let mut settings = Settings::throwaway(folder.path().join("postgres"));
        settings.bin_dir = std::env::var_os("WONCE_PG_BIN").map(Into::into);
        settings.options.push(("max_connections".to_owned(), CONNECTIONS.to_owned()));
        let postgres = Embedded::start(settings).await.expect("Postgres is installed");
        Self { postgres, _folder: folder }
    }
}

impl Database {
    /// On the server of `WONCE_TEST_DATABASE_URL`, or on one of its own.
    pub async fn new() -> Self {
        match std::env::var("WONCE_TEST_DATABASE_URL") {
            Ok(url) => Self::create(&url, None).await,
            Err(_) => Self::with_server().await,
        }
    }

    /// On a server of its own, whatever the environment says.
    pub async fn with_server() -> Self {
        let cluster = Cluster::start().await;
        Self::create(&cluster.postgres.url("postgres"), Some(cluster)).await
    }

    async fn create(url: &str, cluster: Option<Cluster>) -> Self {
        let (scheme, rest) = url.split_once("://").expect("a Postgres URL");
        let server = format!("{scheme}://{}", rest.split(['/', '?']).next().unwrap_or(rest));
        let name = format!("wonce_crash_{}", Uuid::new_v4().simple());
        let database = Self { url: format!("{server}/{name}"), server, name, cluster };
        let create = format!("CREATE DATABASE {}", database.name);
        database.on_server().await.batch_execute(&create).await.expect("a database");
        database.client().await.batch_execute(BUSINESS).await.expect("tables");
        database
    }

    /// A connection that works, as soon as there is one.
    pub async fn client(&self) -> Client {
        client(&self.url).await
    }

    async fn on_server(&self) -> Client {
        client(&format!("{}/postgres", self.server)).await
    }

    /// Ends the server as a crash would and starts it again.
    pub async fn restart_server(&mut self) {
        let cluster = self.cluster.as_mut().expect("made with a server of its own");
        cluster.postgres.restart().await.expect("it starts again");
    }

    /// # Panics
    /// When Postgres refuses.
    pub async fn execute(&self, sql: &str) {
        self.client().await.batch_execute(sql).await.expect(sql);
    }

    /// One number; a `count(*)`, mostly.
    pub async fn number(&self, sql: &str) -> i64 {
        self.number_of(sql, &[]).await
    }

    /// One number, with parameters.
    pub async fn number_of(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> i64 {
        let mut number = None;
        until(sql, async || {
            number = match self.client().await.query_one(sql, params).await {
                Ok(row) => Some(row.get(0)),
                // The server went away in the middle.
                Err(error)
                    if error.is_closed() || error.code().is_none_or(|c| c.code().starts_with("57P")) =>
                {
                    None
                }
                Err(error) => panic!("{sql}: {error:?}"),
            };
            number.is_some()
        })
        .await;
        number.expect("waited for it")
    }

    /// One column of texts.
    pub async fn texts(&self, sql: &str) -> Vec<String> {
        let rows = self.client().await.query(sql, &[]).await.expect(sql);
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Waits until nothing is pending and every effect is confirmed. Deadlines of hosts that are
    /// not in `alive` any more pass at once: waiting for them would be all that is left out.
    pub async fn settles(&self, alive: i64) {
        until("everything is settled", async || {
            self.pass_deadlines_of_the_dead(alive).await;
            let open = "SELECT (SELECT count(*) FROM wonce.inbox)
                             + (SELECT count(*) FROM wonce.outbox WHERE state <> 'confirmed')";
            self.number(open).await == 0
        })
        .await;
    }

    /// The last `alive` hosts that started are the living ones.
    async fn pass_deadlines_of_the_dead(&self, alive: i64) {
        let sql = "WITH passed AS (
                       UPDATE wonce.outbox SET sending_deadline = clock_timestamp()
                       WHERE state = 'sending' AND sending_deadline > clock_timestamp()
                         AND sending_host NOT IN (SELECT h.boot_id FROM wonce.host h WHERE h.stopped_at IS NULL
                                                  ORDER BY h.started_at DESC LIMIT $1)
                       RETURNING 1)
                   SELECT count(*) FROM passed";
        self.number_of(sql, &[&alive]).await;
    }

    /// Asks `wonce verify` whether the books hold.
    pub async fn books_hold(&self) {
        let output = verb(&["verify", "--database-url", &self.url]).await;
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "the books do not hold:\n{said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Takes the database and its roles away.
    pub async fn close(self) {
        let migrated = "SELECT count(to_regclass('wonce.handler'))";
        let roles = match self.number(migrated).await {
            0 => Vec::new(),
            _ => self.texts("SELECT login_role FROM wonce.handler WHERE login_role IS NOT NULL").await,
        };
        let server = self.on_server().await;
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        server.batch_execute(&drop).await.expect("an end");
        for role in roles {
            server.batch_execute(&format!("DROP ROLE IF EXISTS \"{role}\"")).await.expect("an end");
        }
        if let Some(Cluster { postgres, _folder }) = self.cluster {
            postgres.stop().await.expect("an orderly stop");
        }
    }
}

async fn client(url: &str) -> Client {
    let mut client = None;
    until("the database answers", async || {
        if let Ok((connected, connection)) = tokio_postgres::connect(url, NoTls).await {
            tokio::spawn(connection);
            client = Some(connected);
        }
        client.is_some()
    })
    .await;
    client.expect("waited for it")
}

/// Waits until a statement of this database waits for a lock.
pub async fn until_one_waits_for_a_lock(database: &Database) {
    let waiting = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until("a statement waits for a lock", async || database.number(waiting).await > 0).await;
}
