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

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_replayed_once_each_though_the_host_that_began_it_stops() {
    let mut world = World::running(Setup::default().with(Handler::probe().max_attempts(1))).await;
    for n in 0..12 {
        let id = format!("e{n}");
        world
            .probe(&id, json!({"steps": [{"sql": ENTRY}, {"query": "select 1/count(*) from lab.parent"}]}))
            .await;
        assert_eq!(world.outcome("probe", &id).await, "dead");
    }
    world.start().await;
    world.sql("insert into lab.parent values (1)").await;
    let groups = world.admin_get("/v1/dead-letter-groups").await.body;
    assert_eq!(groups["groups"].as_array().map(Vec::len), Some(1), "one cause, one group: {groups:#}");
    let body = json!({
        "verb": "replay", "filter": {"fingerprint": groups["groups"][0]["fingerprint"]},
        "as_of": groups["as_of"], "expected": groups["groups"][0]["entries"],
        "rate": 10, "actor": "ada", "reason": "the parent is there",
    });
    let begun = world.admin_post_named("/v1/operations", "the-only-one", body).await;
    assert_eq!(begun.status, 202, "{:#}", begun.body);
    world.until("select succeeded >= 2 from wonce.operation").await;
    world.hosts.remove(0).stop().await;
    world.until("select state = 'finished' from wonce.operation").await;
    assert_eq!(world.value::<i64>("select succeeded from wonce.operation").await, 12);
    world
        .until("select count(*) = 12 from wonce.processed_events where outcome = 'done' and round = 1")
        .await;
    assert_eq!(world.value::<i64>("select count(*) from lab.entry").await, 12);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_dead_letter_is_replayed_and_handled_once() {
    let world = World::running(Setup::default().with(Handler::probe().max_attempts(1))).await;
    world
        .probe("e1", json!({"steps": [{"sql": ENTRY}, {"query": "select 1/count(*) from lab.parent"}]}))
        .await;
    assert_eq!(world.outcome("probe", "e1").await, "dead");
    world.sql("insert into lab.parent values (1)").await;
    let id: i64 = world.value("select id from wonce.dead_letter").await;
    let act = async |verb: &str| {
        world
            .admin_post(
                &format!("/v1/dead-letters/{id}/{verb}"),
                json!({"actor": "ada", "reason": "because"}),
            )
            .await
    };
    assert_eq!(act("discard").await.status, 200);
    world.verify_holds().await;
    assert_eq!(act("replay").await.status, 409);
    assert_eq!(act("restore").await.status, 200);
    world.verify_holds().await;
    assert_eq!(act("replay").await.status, 200);
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(act("restore").await.status, 409);
    assert_eq!(world.value::<i64>("select count(*) from lab.entry").await, 1);
    let verbs = "select string_agg(verb, ' ' order by id) from wonce.action where actor = 'ada'";
    assert_eq!(world.value::<String>(verbs).await, "discard restore replay");
    world.end().await;
}
