//! What a well-behaved transaction may still leave in its session (through a function of the
//! database, where the guard can not look) is gone before the next event, and what happens to a
//! connection between two statements is nobody's fault.

use serde_json::{Value as Json, json};
use wonce_tests::world::{Handler, Setup, World};

/// Functions as a database may have them, which do what no guest may say itself.
const BACK_DOORS: &str = "
    create function lab.leave_lock() returns text language sql as 'select pg_advisory_lock(7)::text';
    create function lab.leave_setting(name text, value text) returns text language sql
        as 'select set_config(name, value, false)';
    grant execute on all functions in schema lab to public";

const SAME_SESSION: &str = "insert into lab.entry (name) values (pg_backend_pid()::text)";

const CLEAN: &str = "select current_user = session_user
    and current_setting('search_path') = '\"$user\", public'
    and current_setting('statement_timeout') = '0'
    and current_setting('bytea_output') = 'hex'
    and current_setting('lab.note', true) is distinct from 'left'
    and not exists (select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())";

fn left(name: &str, value: &str) -> Json {
    json!({"query": "select lab.leave_setting($1, $2)", "params": [name, value]})
}

#[tokio::test(flavor = "multi_thread")]
async fn locks_and_settings_of_one_event_are_gone_before_the_next_in_the_same_session() {
    let world = World::running(Setup::default().with(Handler::probe().concurrency(1))).await;
    world.sql(BACK_DOORS).await;
    let steps = json!([
        {"sql": SAME_SESSION},
        {"query": "select lab.leave_lock()"},
        left("search_path", "lab, pg_temp"),
        left("statement_timeout", "60s"),
        left("bytea_output", "escape"),
        left("lab.note", "left"),
    ]);
    world.probe("leaves", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "leaves").await, "done");
    world.probe("next", json!({"steps": [{"fail_unless_sql": CLEAN}, {"sql": SAME_SESSION}]})).await;
    assert_eq!(world.outcome("probe", "next").await, "done");
    let sessions = "select format('%s in %s', count(*), count(distinct name)) from lab.entry";
    assert_eq!(world.value::<String>(sessions).await, "2 in 1");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_makes_its_transaction_read_only_stops_its_own_writes_and_nothing_else() {
    let world = World::running(Setup::probe()).await;
    world.sql(BACK_DOORS).await;
    let read_only = left("transaction_read_only", "on");
    world.probe("silent", json!({"steps": [read_only]})).await;
    world.probe("writes", json!({"steps": [read_only, {"sql": SAME_SESSION}]})).await;
    world.probe("good", json!({"steps": [{"sql": SAME_SESSION}]})).await;
    assert_eq!(world.outcome("probe", "good").await, "done");
    assert_eq!(world.outcome("probe", "silent").await, "done");
    assert_eq!(world.outcome("probe", "writes").await, "dead");
    let death = "select format('%s %s %s', reason, class, code) from wonce.dead_letter";
    assert_eq!(world.value::<String>(death).await, "attempts_exhausted database 25006");
    world.end().await;
}

/// Often enough for a crash suspect, if such a loss counted.
const LOSSES: u32 = 3;

/// Each connection once: one that was told to go may be seen for a little longer.
const KILL_ANOTHER: &str = "
    with victim as (
        insert into lab.killed
        select pid from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction'
          and query like 'insert into lab.entry%' and pid not in (select pid from lab.killed)
        returning pid)
    select coalesce(bool_or(pg_terminate_backend(pid)), false) from victim";

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_lost_between_two_statements_is_neither_an_attempt_nor_a_mark() {
    let world = World::running(Setup::default().with(Handler::probe().concurrency(1))).await;
    let entry = json!({"sql": "insert into lab.entry (name) values ('booked')"});
    let seen = json!({"query": "select count(*) from lab.entry"});
    world.probe("e1", json!({"steps": [entry, {"sleep_ms": 2_000}, seen]})).await;
    world.sql("create table lab.killed (pid int primary key)").await;
    for _ in 0..LOSSES {
        world.until(KILL_ANOTHER).await;
    }
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.value::<i64>("select count(*) from wonce.attempt").await, 0);
    assert_eq!(world.value::<i32>("select max(attempts) from wonce.processed_events").await, 1);
    assert_eq!(world.value::<i64>("select count(*) from lab.entry").await, 1);
    world.end().await;
}
