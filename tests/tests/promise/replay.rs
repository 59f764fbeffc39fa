//! Dead letters go back to work through the admin API, once.

use serde_json::json;
use wonce_tests::world::{Handler, Setup, World};

const ENTRY: &str = "insert into lab.entry (name) values ('booked')";

#[tokio::test(flavor = "multi_thread")]
async fn a_replayed_dead_letter_is_handled_once() {
    let world = World::running(Setup::default().with(Handler::probe().max_attempts(1))).await;
    world
        .probe("e1", json!({"steps": [{"sql": ENTRY}, {"query": "select 1/count(*) from lab.parent"}]}))
        .await;
    assert_eq!(world.outcome("probe", "e1").await, "dead");
    world.sql("insert into lab.parent values (1)").await;
    let id: i64 = world.value("select id from wonce.dead_letter").await;
    let path = format!("/v1/dead-letters/{id}/replay");
    let replayed = world.admin_post(&path, json!({"actor": "ada", "reason": "the parent is there"})).await;
    assert_eq!(replayed.status, 200, "{:#}", replayed.body);
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.admin_post(&path, json!({})).await.status, 409);
    assert_eq!(world.value::<i64>("select count(*) from lab.entry").await, 1);
    let settled = "select format('%s %s', outcome, round) from wonce.processed_events";
    assert_eq!(world.value::<String>(settled).await, "done 1");
    assert_eq!(
        world.value::<i64>("select count(*) from wonce.action where verb = 'replay' and actor = 'ada'").await,
        1
    );
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replayed_key_conflict_is_handled_under_its_new_key() {
    let world = World::running(Setup::probe()).await;
    world.probe("e1", json!({"steps": [{"sql": ENTRY}]})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.probe("e1", json!({"steps": [{"sql": ENTRY}], "end": "done"})).await.status, 409);
    let id: i64 = world.value("select id from wonce.dead_letter").await;
    let path = format!("/v1/dead-letters/{id}/replay");
    let replayed = world.admin_post(&path, json!({"key": "e1-corrected"})).await;
    assert_eq!(replayed.status, 200, "{:#}", replayed.body);
    world.until("select count(*) = 1 from wonce.processed_events where key = 'e1-corrected'").await;
    assert_eq!(world.value::<i64>("select count(*) from lab.entry").await, 2);
    world.end().await;
}
