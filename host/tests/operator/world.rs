//! A database of its own for each test, and deliveries brought to any standing by the same SQL
//! functions that hosts use.

use tokio_postgres::{Client, NoTls};
use uuid::Uuid;
use wonce_api::verify::{Account, Verification};
use wonce_host::admin::verify::judge;
use wonce_host::store::action::By;
use wonce_host::store::{DatabaseUrl, Store};

const SECRET: &[u8] = b"secret";
const CONNECTIONS: usize = 8;

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) url: String,
    server: String,
    database: String,
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
        let url = format!("{server}/{database}");
        let parsed: DatabaseUrl = url.parse().expect("a URL");
        let store = Store::connect(&parsed, CONNECTIONS).await.expect("a connection");
        store.migrate().await.expect("a schema");
        Self { store, url, server, database }
    }

    pub(crate) async fn client(&self) -> Client {
        client(&self.url).await
    }

    pub(crate) async fn handler(&self, name: &str, ordering: &str) -> i64 {
        let client = self.client().await;
        let sql =
            "INSERT INTO wonce.handler (name, ordering, active_version, policy, secret_hash, deployed_by)
                   VALUES ($1, $2, sha256('v1'), '{\"retry\":8}', sha256($3), 'tests') RETURNING id";
        let id = client.query_one(sql, &[&name, &ordering, &SECRET]).await.expect("a handler").get(0);
        let sql =
            "INSERT INTO wonce.handler_version (handler_id, digest, label, component, manifest, deployed_by)
                   VALUES ($1, sha256('v1'), '1.0.0', 'wasm', '', 'tests')";
        client.execute(sql, &[&id]).await.expect("a version");
        id
    }

    /// Accepts one event as intake does; answers its verdict.
    pub(crate) async fn accept(&self, handler: i64, key: &str, order: Option<&str>, data: &[u8]) -> String {
        let sql = "SELECT verdict FROM wonce.accept(
                ARRAY[$1::bigint], ARRAY[$2::text], ARRAY['/id'], ARRAY[$3::text], ARRAY[sha256($4::bytea)],
                ARRAY['bytes'], ARRAY['web'], ARRAY['e-' || $2], ARRAY['shop'], ARRAY['order.paid'],
                ARRAY[NULL::text], ARRAY[NULL::timestamptz], ARRAY['application/json'], ARRAY[NULL::text],
                ARRAY[NULL::text], ARRAY['tenant', 'a'], ARRAY[1], ARRAY[2], ARRAY[$4::bytea])";
        let row = self.client().await.query_opt(sql, &[&handler, &key, &order, &data]).await;
        row.expect("accepted").map_or_else(|| "accepted".to_owned(), |other| other.get(0))
    }

    /// Settles a pending delivery as handled, with one effect.
    pub(crate) async fn done(&self, handler: i64, key: &str) {
        let sql = "DO $$ DECLARE i wonce.inbox; BEGIN
            SELECT * INTO i FROM wonce.inbox WHERE handler_id = HANDLER AND key = 'KEY';
            PERFORM wonce.emit(HANDLER, 'secret', ARRAY['KEY'], ARRAY['mail'], ARRAY['KEY:0'], ARRAY['receipt'],
                ARRAY[NULL], ARRAY[NULL], '{}', ARRAY[1], ARRAY[0], ARRAY['x']::bytea[], ARRAY[NULL], ARRAY[0]::bigint[]);
            PERFORM wonce.settle_done(HANDLER, 'secret', pg_current_xact_id()::text, sha256('v1'), ARRAY[i.id],
                '{}', '{}', '{}');
        END $$";
        self.run(sql, handler, key).await;
    }

    pub(crate) async fn fails(&self, handler: i64, key: &str) {
        let sql = "DO $$ DECLARE i wonce.inbox; BEGIN
            SELECT * INTO i FROM wonce.inbox WHERE handler_id = HANDLER AND key = 'KEY';
            PERFORM wonce.settle_retry(HANDLER, 'secret', i.id, i.round, i.attempt + 1, NULL, interval '1 hour',
                'transient', 'no-order', 'the order does not exist yet', 1500, sha256('v1'),
                '00000000-0000-0000-0000-000000000001', 'looked for o-1', 0);
        END $$";
        self.run(sql, handler, key).await;
    }

    pub(crate) async fn dies(&self, handler: i64, key: &str) {
        let sql = "DO $$ DECLARE i wonce.inbox; BEGIN
            SELECT * INTO i FROM wonce.inbox WHERE handler_id = HANDLER AND key = 'KEY';
            PERFORM wonce.settle_dead(HANDLER, 'secret', i.id, i.round, i.attempt + 1, NULL, 'permanent',
                'permanent', 'cancelled', 'the order is cancelled', 2500, sha256('v1'),
                '00000000-0000-0000-0000-000000000001', '', 0, 'f00d', 'billing');
        END $$";
        self.run(sql, handler, key).await;
    }

    async fn run(&self, sql: &str, handler: i64, key: &str) {
        let sql = sql.replace("HANDLER", &handler.to_string()).replace("KEY", key);
        self.client().await.batch_execute(&sql).await.expect("settled");
    }

    /// The id of the one open dead letter of a key.
    pub(crate) async fn letter(&self, key: &str, kind: &str) -> i64 {
        let sql = "SELECT id FROM wonce.dead_letter WHERE key = $1 AND kind = $2 AND state = 'dead'";
        self.client().await.query_one(sql, &[&key, &kind]).await.expect("one dead letter").get(0)
    }

    /// The id of the one dead letter of a key in this state.
    pub(crate) async fn letter_in(&self, key: &str, state: &str) -> i64 {
        let sql = "SELECT id FROM wonce.dead_letter WHERE key = $1 AND state = $2";
        self.client().await.query_one(sql, &[&key, &state]).await.expect("one dead letter").get(0)
    }

    /// One number.
    pub(crate) async fn count(&self, sql: &str) -> i64 {
        self.client().await.query_one(sql, &[]).await.expect(sql).get(0)
    }

    pub(crate) async fn verify(&self) -> Verification {
        judge(self.store.books().await.expect("books"))
    }

    /// The books of the only handler, which must hold.
    pub(crate) async fn holding(&self) -> Account {
        let mut verification = self.verify().await;
        assert!(verification.holds, "{verification:?}");
        verification.handlers.remove(0)
    }

    /// Takes the database away, connections and all.
    pub(crate) async fn close(self) {
        let admin = client(&format!("{}/postgres", self.server)).await;
        admin.batch_execute(&format!("DROP DATABASE {} WITH (FORCE)", self.database)).await.expect("an end");
    }
}

pub(crate) fn by() -> By {
    By::new("ada", "because").expect("recordable")
}

async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
    tokio::spawn(connection);
    client
}
