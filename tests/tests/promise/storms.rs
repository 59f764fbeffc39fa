//! Losses that are nobody's attempt: deadlocks, killed connections.

use serde_json::{Value as Json, json};
use wonce_tests::world::{Setup, World};

/// Takes its own row, waits at the test's gate, then wants the other's row.
fn crossing(own: &str, other: &str) -> Json {
    let take = |id: &str| json!({"sql": format!("update lab.gate set turns = turns + 1 where id = '{id}'")});
    json!({"steps": [take(own), {"query": "select id from lab.gate where id = 'gate' for share"}, take(other)]})
}

#[tokio::test(flavor = "multi_thread")]
async fn two_events_that_deadlock_are_both_done_and_count_no_attempt() {
    let world = World::running(Setup::probe()).await;
    let mut keeper = world.connect().await;
    let gate = keeper.transaction().await.expect("a transaction");
    gate.batch_execute("select from lab.gate where id = 'gate' for update").await.expect("the gate is free");
    world.probe("e1", crossing("left", "right")).await;
    world.probe("e2", crossing("right", "left")).await;
    world
        .until(
            "select count(*) = 2 from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and query like '%for share%'",
        )
        .await;
    gate.commit().await.expect("the gate opens");
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.outcome("probe", "e2").await, "done");
    // Whether they met is the database's to say.
    world.sql("select pg_stat_clear_snapshot()").await;
    world.until("select deadlocks >= 1 from pg_stat_database where datname = current_database()").await;
    assert_eq!(world.value::<i64>("select count(*) from wonce.attempt").await, 0);
    assert_eq!(world.value::<i32>("select max(attempts) from wonce.processed_events").await, 1);
    assert_eq!(world.value::<i64>("select sum(turns)::bigint from lab.gate").await, 4);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_kills_its_connection_costs_no_attempt_and_does_not_loop_for_ever() {
    let world = World::running(Setup::probe()).await;
    let kill = json!({"query": "select lab.kill_me()", "ignore_error": true});
    world
        .probe("bad", json!({"steps": [{"sql": "insert into lab.entry (name) values ('lost')"}, kill]}))
        .await;
    assert_eq!(world.outcome("probe", "bad").await, "dead");
    let death = "select format('%s %s', reason, class) from wonce.dead_letter";
    assert_eq!(world.value::<String>(death).await, "crash_suspect crash_suspect");
    assert_eq!(world.value::<i64>("select count(*) from wonce.attempt where decision = 'retry'").await, 0);
    assert_eq!(world.value::<i64>("select count(*) from wonce.crash_mark").await, 0);
    world.probe("good", json!({"steps": [{"sql": "insert into lab.entry (name) values ('kept')"}]})).await;
    assert_eq!(world.outcome("probe", "good").await, "done");
    assert_eq!(world.value::<String>("select string_agg(name, ',') from lab.entry").await, "kept");
    world.end().await;
}
