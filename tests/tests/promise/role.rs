//! What a guest's statement can not do: leave its transaction, change its session, or touch what
//! is not its own. Each with the guard in front, and the grants again without it.

use serde_json::json;
use tokio_postgres::error::SqlState;
use wonce_tests::world::{Handler, Setup, World};

/// Refused before they are sent.
const DENIED: [&str; 20] = [
    "select * from wonce.inbox",
    "delete from wonce.processed_events",
    "select * from \"wonce\".cluster",
    "insert into wonce.tally (handler_id) values (1)",
    "commit",
    "/* x */ COMMIT AND CHAIN",
    "-- x\nrollback",
    "end",
    "savepoint mine",
    "release savepoint wonce",
    "reset role",
    "set role postgres",
    "set statement_timeout = 0",
    "set local search_path = pg_temp",
    "select 1; select 2",
    "insert into lab.entry (name) values ('one'); commit",
    "select pg_advisory_lock(7)",
    "select set_config('role', 'postgres', false)",
    "prepare transaction 'mine'",
    "create temporary table mine (id int)",
];

/// Nothing that a statement could have left in the session of the good event after it.
const CLEAN: &str = "select current_user = session_user
    and current_setting('search_path') not like '%pg_temp%'
    and not exists (select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())
    and not exists (select from pg_prepared_xacts where database = current_database())";

#[tokio::test(flavor = "multi_thread")]
async fn statements_that_leave_transaction_or_session_are_never_sent() {
    let world = World::running(Setup::default().with(Handler::probe().concurrency(1))).await;
    for (number, statement) in DENIED.iter().enumerate() {
        let id = format!("e{number}");
        let clean = json!({"fail_unless_sql": CLEAN});
        world.probe(&id, json!({"steps": [{"sql": statement, "expect_error": "denied"}, clean]})).await;
        let outcome = world.outcome("probe", &id).await;
        let told = world.value::<Option<String>>("select max(message) from wonce.dead_letter").await;
        assert_eq!(outcome, "done", "{statement}: {told:?}");
    }
    world.probe("last", json!({"steps": [{"fail_unless_sql": CLEAN}]})).await;
    assert_eq!(world.outcome("probe", "last").await, "done");
    assert_eq!(world.value::<i64>("select count(*) from lab.entry").await, 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_neighbours_table_is_out_of_reach() {
    let neighbour = Handler::example("shipments", &["shipping.shipments"]);
    let world = World::running(Setup::default().with(Handler::probe().max_attempts(1)).with(neighbour)).await;
    let statements = ["select * from shipping.shipments", "delete from shipping.shipments"];
    for (number, statement) in statements.iter().enumerate() {
        let id = format!("e{number}");
        world.probe(&id, json!({"steps": [{"sql": statement, "ignore_error": true}]})).await;
        assert_eq!(world.outcome("probe", &id).await, "dead", "{statement}");
    }
    let refused = "select count(*) from wonce.dead_letter where class = 'database' and code = '42501'";
    assert_eq!(world.value::<i64>(refused).await, 2);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_role_itself_may_not_even_without_the_guard() {
    let neighbour = Handler::example("shipments", &["shipping.shipments"]);
    let world = World::running(Setup::probe().with(neighbour)).await;
    let role: String = world.value("select login_role from wonce.handler where name = 'probe'").await;
    let client = world.connect().await;
    client.batch_execute(&format!("set role \"{role}\"")).await.expect("the owner may become the role");
    for statement in [
        "select * from wonce.inbox",
        "select * from wonce.cluster",
        "insert into wonce.processed_events default values",
        "update wonce.outbox set state = 'confirmed'",
        "select * from shipping.shipments",
        "select wonce.discard(1, 'me', '')",
        "select wonce.claim(1, '', 1, null, '-infinity', 0)",
        "select wonce.replay(1, null, 'me', '')",
        "create schema mine",
        "drop table lab.entry",
        "create role mine",
    ] {
        let error = client.batch_execute(statement).await.expect_err(statement);
        assert_eq!(error.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{statement}: {error:?}");
    }
    world.end().await;
}
