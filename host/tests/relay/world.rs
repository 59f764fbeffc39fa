//! A database of its own for each test, with one handler whose effects are planned by hand.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, NoTls};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wonce_core::name::SinkName;
use wonce_core::relay::UnknownPolicy;
use wonce_core::retry::RetryPolicy;
use wonce_host::pipeline::relay::{Relay, RelaySettings};
use wonce_host::sink::http::{HttpSink, HttpSinkSettings, client as http_client};
use wonce_host::sink::{SinkSettings, Sinks};
use wonce_host::store::{DatabaseUrl, Store};

/// The sink that the relays of these tests know.
pub(crate) const SINK: &str = "mail";
const CONNECTIONS: usize = 8;
/// A test that waits this long will never end.
pub(crate) const HANGS: Duration = Duration::from_secs(60);
/// For tests in which the receiver answers: long enough for any machine.
const PATIENT: Duration = Duration::from_secs(120);
/// For tests in which it does not.
const IMPATIENT: Duration = Duration::from_millis(200);

pub(crate) struct World {
    pub(crate) store: Store,
    server: String,
    database: String,
    handler: i64,
    watcher: Client,
}

/// A relay of one host.
pub(crate) struct RunningRelay {
    pub(crate) stop: CancellationToken,
    pub(crate) task: JoinHandle<()>,
    pub(crate) hint: Arc<Notify>,
}

impl World {
    pub(crate) async fn new() -> Self {
        let server = std::env::var("WONCE_TEST_DATABASE_URL").expect(
            "WONCE_TEST_DATABASE_URL names a Postgres server such as postgres://postgres@127.0.0.1:5432",
        );
        let server = server.trim_end_matches('/').to_owned();
        let database = format!("wonce_test_{}", Uuid::new_v4().simple());
        let admin = client(&format!("{server}/postgres")).await;
        admin.batch_execute(&format!("CREATE DATABASE {database}")).await.expect("a database");
        let url: DatabaseUrl = format!("{server}/{database}").parse().expect("a URL");
        let store = Store::connect(&url, CONNECTIONS).await.expect("a connection");
        store.migrate().await.expect("a schema");
        let watcher = client(&format!("{server}/{database}")).await;
        let sql = "INSERT INTO wonce.handler (name, ordering, active_version, policy, secret_hash, deployed_by)
                   VALUES ('payments', 'unordered', sha256('v'), '{}', sha256('secret'), 'test') RETURNING id";
        let handler = watcher.query_one(sql, &[]).await.expect("a handler").get(0);
        Self { store, server, database, handler, watcher }
    }

    /// Plans an effect as a guest's transaction would.
    pub(crate) async fn plan(&self, sink: &str, dedup_key: &str, ordering_key: Option<&str>) {
        let sql = "SELECT wonce.emit($1, 'secret', ARRAY['k1'], ARRAY[$2], ARRAY[$3], ARRAY['mail.receipt'],
                                     ARRAY['text/plain'], ARRAY[$4], ARRAY['tenant', 'blue'], ARRAY[1], ARRAY[2],
                                     ARRAY['hello']::bytea[], ARRAY[NULL], ARRAY[0]::bigint[])";
        let row = self.watcher.query_one(sql, &[&self.handler, &sink, &dedup_key, &ordering_key]).await;
        assert!(row.expect("an effect").get::<_, bool>(0), "{dedup_key} is new");
    }

    pub(crate) async fn execute(&self, sql: &str) {
        self.watcher.batch_execute(sql).await.expect(sql);
    }

    /// One text.
    pub(crate) async fn text(&self, sql: &str) -> String {
        self.watcher.query_one(sql, &[]).await.expect(sql).get(0)
    }

    /// Waits until a condition on the outbox holds.
    pub(crate) async fn until(&self, condition: &str) {
        let sql = format!("SELECT EXISTS (SELECT FROM wonce.outbox WHERE {condition})");
        let holds = async {
            while !self.watcher.query_one(&sql, &[]).await.expect("a condition").get::<_, bool>(0) {
                tokio::task::yield_now().await;
            }
        };
        if tokio::time::timeout(HANGS, holds).await.is_err() {
            let rows = "SELECT coalesce(string_agg(o::text, E'\n'), '') FROM wonce.outbox o";
            panic!("never came true: {condition}\n{}", self.text(rows).await);
        }
    }

    /// Lets the time pass that a sending host has for its answer.
    pub(crate) async fn pass_the_deadline(&self) {
        self.execute(
            "UPDATE wonce.outbox SET sending_deadline = now() - interval '1 s' WHERE state = 'sending'",
        )
        .await;
    }

    pub(crate) fn relay(&self, url: &str, sink: SinkSettings) -> RunningRelay {
        let host = Uuid::new_v4();
        let settings = RelaySettings {
            poll_floor: Duration::from_millis(5),
            poll_ceiling: Duration::from_millis(20),
            recover_every: Duration::from_millis(20),
            ..RelaySettings::for_host(host)
        };
        let http = HttpSinkSettings {
            url: url.to_owned(),
            headers: vec![("authorization".to_owned(), "Bearer hush".to_owned())],
            timeout: sink.timeout,
        };
        let http = HttpSink::new(http_client().expect("a client"), &http).expect("a sink");
        let mut sinks = Sinks::default();
        sinks.register(SinkName::parse(SINK).expect("a name"), Arc::new(http), sink);
        let (stop, hint) = (CancellationToken::new(), Arc::new(Notify::new()));
        let relay = Relay::new(self.store.clone(), sinks, settings, Arc::clone(&hint));
        let task = tokio::spawn(relay.run(stop.clone()));
        RunningRelay { stop, task, hint }
    }

    /// Takes the database away, connections and all.
    pub(crate) async fn close(self) {
        let admin = client(&format!("{}/postgres", self.server)).await;
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.database);
        admin.batch_execute(&drop).await.expect("an end");
    }
}

impl RunningRelay {
    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.task.await.expect("the relay ends well");
    }

    /// Ends it as a kill would: nothing is written any more.
    pub(crate) async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.expect_err("was running").is_cancelled());
    }
}

/// Retries at once, waits long for answers.
pub(crate) fn patient() -> SinkSettings {
    SinkSettings {
        concurrency: NonZeroUsize::new(4).expect("not zero"),
        timeout: PATIENT,
        retry: RetryPolicy {
            max_attempts: 5,
            first: Duration::ZERO,
            jitter: Duration::ZERO,
            ceiling: Duration::from_secs(7200),
            ..RetryPolicy::default()
        },
        unknown: UnknownPolicy::Resend,
    }
}

/// The same, and gives up on an answer soon.
pub(crate) fn impatient(unknown: UnknownPolicy) -> SinkSettings {
    SinkSettings { timeout: IMPATIENT, unknown, ..patient() }
}

async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
    tokio::spawn(connection);
    client
}
