//! One test's world: a database of its own, hosts in this process that are configured by a real
//! `wonce.toml`, and a receiver for their effects.

use serde_json::Value as Json;
use tempfile::TempDir;
use tokio_postgres::types::FromSql;
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;
use wonce_host::config::{self, Config, Env, Flags};
use wonce_host::runtime::{Host, RunOptions};
use wonce_host::store::deploy::OnOtherVersion;
use wonce_host::telemetry::metrics;

use crate::target;
use crate::wait::eventually;

mod receiver;
mod send;
mod server;
mod setup;

pub use receiver::{Receiver, Request};
pub use send::{Answer, CLOUDEVENT};
pub use setup::{Handler, Setup};

/// See the module. Every test ends it with [`World::end`].
#[derive(Debug)]
pub struct World {
    pub receiver: Receiver,
    pub hosts: Vec<Host>,
    config: Config,
    http: reqwest::Client,
    database: String,
    client: Client,
    #[expect(dead_code, reason = "held for its drop")]
    folder: TempDir,
}

impl World {
    /// A world in which no host runs yet.
    ///
    /// # Panics
    /// When there is no server, or the configuration is refused.
    pub async fn new(setup: Setup) -> Self {
        let database = format!("wonce_test_{}", Uuid::new_v4().simple());
        let admin = connect("postgres").await;
        admin
            .batch_execute(&format!("CREATE DATABASE {database}"))
            .await
            .expect("the server makes a database");
        let folder = tempfile::Builder::new().prefix("wonce-world-").tempdir().expect("a temporary folder");
        target::share_compiled(folder.path());
        let receiver = Receiver::start().await;
        setup.write(folder.path(), &format!("{}/{database}", server::url()), &receiver);
        let flags = Flags { config: Some(folder.path().join("wonce.toml")), ..Flags::default() };
        let config = config::load(&flags, &Env::default()).unwrap_or_else(|error| panic!("{error}"));
        let client = connect(&database).await;
        Self { receiver, hosts: Vec::new(), config, http: send::client(), database, client, folder }
    }

    /// A world with one running host.
    pub async fn running(setup: Setup) -> Self {
        let mut world = Self::new(setup).await;
        world.start().await;
        world
    }

    /// Starts one more host on the database.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start(&mut self) {
        let options = RunOptions { on_other_version: OnOtherVersion::Refuse };
        let host = Host::start(&self.config, options, metrics::install()).await;
        self.hosts.push(host.unwrap_or_else(|error| panic!("the host does not start: {error:#}")));
    }

    /// Stops every host in order.
    pub async fn stop(&mut self) {
        for host in self.hosts.drain(..) {
            host.stop().await;
        }
    }

    /// Where the database is, for its owner.
    #[must_use]
    pub fn url(&self) -> String {
        format!("{}/{}", server::url(), self.database)
    }

    /// A connection of the test's own, as the database's owner.
    pub async fn connect(&self) -> Client {
        connect(&self.database).await
    }

    /// Runs statements as the database's owner.
    ///
    /// # Panics
    /// When one fails.
    pub async fn sql(&self, text: &str) {
        self.client.batch_execute(text).await.unwrap_or_else(|error| panic!("{text}: {error:?}"));
    }

    /// The one value that a query answers.
    ///
    /// # Panics
    /// When it does not.
    pub async fn value<T: for<'a> FromSql<'a>>(&self, query: &str) -> T {
        let row =
            self.client.query_one(query, &[]).await.unwrap_or_else(|error| panic!("{query}: {error:?}"));
        row.get(0)
    }

    /// Waits until a query answers true.
    pub async fn until(&self, query: &str) {
        eventually(query, async || self.value::<Option<bool>>(query).await.filter(|holds| *holds)).await;
    }

    /// Waits until a handler's delivery of an event is settled, and gives the ledger's word.
    pub async fn outcome(&self, handler: &str, event_id: &str) -> String {
        let what = format!("handler \"{handler}\" settles event \"{event_id}\"");
        let query = "SELECT p.outcome FROM wonce.processed_events p JOIN wonce.handler h ON h.id = p.handler_id
                     WHERE h.name = $1 AND p.event_id = $2
                       AND NOT EXISTS (SELECT FROM wonce.inbox i WHERE i.handler_id = p.handler_id AND i.key = p.key)";
        eventually(&what, async || {
            let row = self.client.query_opt(query, &[&handler, &event_id]).await.expect(query);
            row.map(|row| row.get(0))
        })
        .await
    }

    /// Waits until so many effects have been received, and gives all requests.
    pub async fn effects(&self, count: usize) -> Vec<Request> {
        let what = format!("{count} effects are received");
        eventually(&what, async || Some(self.receiver.requests()).filter(|seen| seen.len() >= count)).await
    }

    /// Whether the books balance, as `wonce verify` says it.
    ///
    /// # Panics
    /// When they do not.
    pub async fn verify_holds(&self) {
        let books = self.admin_get("/v1/verify").await;
        assert_eq!(books.body["holds"], Json::Bool(true), "the books: {:#}", books.body);
    }

    /// Checks the books, stops the hosts, and takes the database and its roles away.
    ///
    /// # Panics
    /// When the books do not balance.
    pub async fn end(mut self) {
        self.verify_holds().await;
        self.stop().await;
        let query = "SELECT login_role FROM wonce.handler WHERE login_role IS NOT NULL";
        let roles = self.client.query(query, &[]).await.expect(query);
        let admin = connect("postgres").await;
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.database);
        admin.batch_execute(&drop).await.expect("the database can be dropped");
        for role in roles {
            let drop = format!("DROP ROLE \"{}\"", role.get::<_, String>(0));
            admin.batch_execute(&drop).await.expect("nothing depends on a handler's role any more");
        }
    }
}

async fn connect(database: &str) -> Client {
    let url = format!("{}/{database}", server::url());
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.expect("the server answers");
    tokio::spawn(connection);
    client
}
