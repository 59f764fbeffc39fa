//! A database of its own for each test, with handlers and an intake.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::{Client, NoTls};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wonce_core::event::Event;
use wonce_core::key::KeyRule;
use wonce_core::name::{HandlerName, SourceName};
use wonce_core::route::{Pattern, Route, Subscription};
use wonce_embedded::{Embedded, Settings};
use wonce_host::pipeline::intake::{Intake, IntakeSettings, RoutedHandler, Routes, intake};
use wonce_host::pipeline::wake::Wake;
use wonce_host::source::{Door, NotAccepted};
use wonce_host::store::{DatabaseUrl, Store};

/// What authorises bookkeeping for every handler of these tests.
pub(crate) const SECRET: &[u8] = b"secret";
const CONNECTIONS: usize = 8;
/// Far longer than any wait of a test that works.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) routes: Routes,
    pub(crate) wake: Wake,
    server: String,
    database: String,
    handlers: Vec<RoutedHandler>,
    cluster: Option<OwnCluster>,
}

/// A server of this test's own, and its folder.
struct OwnCluster {
    postgres: Embedded,
    folder: PathBuf,
}

/// An intake whose committers run.
pub(crate) struct RunningIntake {
    pub(crate) door: Arc<Intake>,
    pub(crate) stop: CancellationToken,
    pub(crate) task: JoinHandle<()>,
}

impl World {
    pub(crate) async fn new() -> Self {
        let (server, cluster) = server().await;
        let server = server.trim_end_matches('/').to_owned();
        let database = format!("wonce_test_{}", Uuid::new_v4().simple());
        let admin = client(&format!("{server}/postgres")).await;
        admin.batch_execute(&format!("CREATE DATABASE {database}")).await.expect("a database");
        let url: DatabaseUrl = format!("{server}/{database}").parse().expect("a URL");
        let store = Store::connect(&url, CONNECTIONS).await.expect("a connection");
        store.migrate().await.expect("a schema");
        let (routes, wake) = (Routes::default(), Wake::new());
        Self { store, routes, wake, server, database, handlers: Vec::new(), cluster }
    }

    /// Deploys a handler for events of type `<name>.*`.
    pub(crate) async fn handler(&mut self, name: &str, key: Option<&str>, order_by: Option<&str>) -> i64 {
        let ordering = if order_by.is_some() { "ordered" } else { "unordered" };
        let sql =
            "INSERT INTO wonce.handler (name, ordering, active_version, policy, secret_hash, deployed_by)
                   VALUES ($1, $2, sha256('v'), '{}', sha256($3), 'test') RETURNING id";
        let row = self.client().await.query_one(sql, &[&name, &ordering, &SECRET]).await.expect("a handler");
        let rule = |text: &str| KeyRule::parse(&[text.to_owned()]).expect("a rule");
        let subscription = Subscription {
            types: vec![Pattern::parse(&format!("{name}.*")).expect("a pattern")],
            key: key.map(rule),
            order_by: order_by.map(rule),
            ..Subscription::default()
        };
        let handler = HandlerName::parse(name).expect("a name");
        let id = row.get(0);
        self.handlers.push(RoutedHandler { id, route: Route { handler, subscriptions: vec![subscription] } });
        self.routes.replace(self.handlers.clone());
        id
    }

    pub(crate) fn intake(&self, settings: IntakeSettings) -> RunningIntake {
        let (door, service) = intake(self.store.clone(), self.routes.clone(), self.wake.clone(), settings);
        let stop = CancellationToken::new();
        let task = tokio::spawn(service.run(stop.clone()));
        RunningIntake { door: Arc::new(door), stop, task }
    }

    pub(crate) async fn client(&self) -> Client {
        client(&format!("{}/{}", self.server, self.database)).await
    }

    /// One number.
    pub(crate) async fn count(&self, sql: &str) -> i64 {
        self.client().await.query_one(sql, &[]).await.expect(sql).get(0)
    }

    /// Waits until a statement of this database waits for a lock.
    pub(crate) async fn until_one_waits(&self) {
        let watcher = self.client().await;
        let sql = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let seen = async {
            while watcher.query_one(sql, &[]).await.expect(sql).get::<_, i64>(0) == 0 {
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, seen).await.expect("a statement waits for a lock");
    }

    /// Takes the database away, connections and all.
    pub(crate) async fn close(self) {
        let admin = client(&format!("{}/postgres", self.server)).await;
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.database);
        admin.batch_execute(&drop).await.expect("an end");
        if let Some(own) = self.cluster {
            own.postgres.stop().await.expect("an orderly stop");
            std::fs::remove_dir_all(own.folder).expect("a folder");
        }
    }
}

impl RunningIntake {
    /// Sends one event and answers the words of its verdicts.
    pub(crate) async fn send(&self, event: Event) -> Result<Vec<String>, NotAccepted> {
        let mut words = self.batch(vec![event]).await?;
        Ok(words.remove(0))
    }

    pub(crate) async fn batch(&self, events: Vec<Event>) -> Result<Vec<Vec<String>>, NotAccepted> {
        let receipts = self.door.accept(events).await?;
        let words =
            |verdict| serde_json::to_value(verdict).expect("a word").as_str().expect("text").to_owned();
        Ok(receipts.iter().map(|r| r.deliveries.iter().map(|d| words(d.verdict)).collect()).collect())
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.task.await.expect("the committers end well");
    }
}

pub(crate) fn event(event_type: &str, id: &str, data: impl Into<Vec<u8>>) -> Event {
    Event {
        via: SourceName::parse("test").expect("valid"),
        id: Some(id.to_owned()),
        source: "s".to_owned(),
        event_type: event_type.to_owned(),
        subject: None,
        time: None,
        content_type: None,
        data_schema: None,
        traceparent: None,
        extensions: Vec::new(),
        data: data.into(),
    }
}

/// The server that the environment names, or one of this test's own.
async fn server() -> (String, Option<OwnCluster>) {
    if let Ok(server) = std::env::var("WONCE_TEST_DATABASE_URL") {
        return (server, None);
    }
    let folder = std::env::temp_dir().join(format!("wonce-intake-{}", Uuid::new_v4().simple()));
    let bin_dir = std::env::var_os("WONCE_PG_BIN").map(Into::into);
    let settings = Settings { bin_dir, ..Settings::throwaway(&folder) };
    let postgres = Embedded::start(settings).await.expect("Postgres is installed");
    let url = postgres.url("postgres");
    let server = url.strip_suffix("/postgres").expect("a URL without options").to_owned();
    (server, Some(OwnCluster { postgres, folder }))
}

async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
    tokio::spawn(connection);
    client
}
