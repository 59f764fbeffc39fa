//! An edited dead letter is one event with its received self: handled once, and known by both payloads.

use serde_json::{Value, json};
use wonce_tests::world::{Answer, Handler, Setup, World};

const ENTRY: &str = "insert into lab.entry (name) values ('booked')";

fn broken() -> Value {
    json!({"steps": [{"sql": ENTRY}, {"query": "select 1/0"}]})
}

fn mended() -> Value {
    json!({"steps": [{"sql": ENTRY}]})
}

async fn edit(world: &World, letter: i64, tag: &str, payload: &Value) -> Answer {
    let body = json!({
        "payload": {"encoding": "text", "body": payload.to_string()}, "actor": "ada", "reason": "divided by zero",
    });
    world.admin_patch_read(&format!("/v1/dead-letters/{letter}"), tag, body).await
}

/// A world whose only event is dead, and the id of its dead letter.
async fn with_a_dead_letter() -> (World, i64) {
    let world = World::running(Setup::default().with(Handler::probe().max_attempts(1))).await;
    world.probe("e1", broken()).await;
    assert_eq!(world.outcome("probe", "e1").await, "dead");
    let letter = world.value("select id from wonce.dead_letter").await;
    (world, letter)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_event_is_handled_once_and_known_by_both_payloads() {
    let (world, letter) = with_a_dead_letter().await;
    let edited = edit(&world, letter, "\"0\"", &mended()).await;
    assert_eq!(edited.status, 200, "{:#}", edited.body);
    assert_eq!(edited.body["revision"], 1);
    world.verify_holds().await;
    assert_eq!(
        world.probe("e1", broken()).await.verdict(),
        "duplicate",
        "as it was received, while it is dead"
    );
    let replayed = world.admin_post(&format!("/v1/dead-letters/{letter}/replay"), json!({})).await;
    assert_eq!(replayed.status, 200, "{:#}", replayed.body);
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.value::<i64>("select count(*) from lab.entry").await, 1);

    let handled = "select encode(payload_digest, 'hex') from wonce.processed_events";
    assert_eq!(
        edited.body["hash_after"],
        world.value::<String>(handled).await,
        "the ledger says what was handled"
    );
    assert_eq!(world.probe("e1", broken()).await.verdict(), "duplicate", "as it was received");
    assert_eq!(world.probe("e1", mended()).await.verdict(), "duplicate", "as it was handled");
    let other = world.probe("e1", json!({"steps": []})).await;
    assert_eq!((other.status, other.verdict()), (409, "key_conflict"), "{:#}", other.body);
    assert_eq!(world.value::<i64>("select count(*) from lab.entry").await, 1);

    let key: String = world.value("select key from wonce.processed_events").await;
    let query = format!("/v1/events/probe?key={key}");
    let timeline = world.admin_get(&query).await.body;
    let lineage = &timeline["edits"][0];
    assert_eq!((&lineage["actor"], &lineage["reason"]), (&json!("ada"), &json!("divided by zero")));
    assert_eq!(timeline["accepted"]["payload_hash"], lineage["hash_before"], "{timeline:#}");
    assert_eq!(timeline["outcome"]["payload_hash"], lineage["hash_after"], "{timeline:#}");
    assert!(timeline["actions"].as_array().is_some_and(|all| all.iter().any(|did| did["verb"] == "edit")));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_received_stays_though_the_edit_was_wrong_too() {
    let (world, first) = with_a_dead_letter().await;
    let worse = json!({"steps": [{"query": "select 2/0"}]});
    assert_eq!(edit(&world, first, "\"0\"", &worse).await.status, 200);
    world.admin_post(&format!("/v1/dead-letters/{first}/replay"), json!({})).await;
    world.until("select count(*) = 2 from wonce.dead_letter").await;
    let second: i64 = world.value("select max(id) from wonce.dead_letter").await;
    assert_eq!(edit(&world, second, "\"0\"", &mended()).await.status, 200);
    let shown = world.admin_get(&format!("/v1/dead-letters/{second}")).await.body;
    assert_eq!(shown["edits"].as_array().map(Vec::len), Some(2), "{shown:#}");
    assert_eq!(shown["edits"][0]["hash_after"], shown["edits"][1]["hash_before"]);
    assert_eq!(shown["received"]["body"], broken().to_string());
    assert_eq!(shown["payload"]["body"], mended().to_string());
    let before = world.admin_get(&format!("/v1/dead-letters/{first}")).await.body;
    assert_eq!(before["edits"].as_array().map(Vec::len), Some(1), "{before:#}");
    world.admin_post(&format!("/v1/dead-letters/{second}/replay"), json!({})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.value::<i64>("select count(*) from lab.entry").await, 1);
    for known in [broken(), worse, mended()] {
        assert_eq!(world.probe("e1", known).await.verdict(), "duplicate");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_people_do_not_overwrite_each_other() {
    let (world, letter) = with_a_dead_letter().await;
    let one = mended();
    let other = json!({"steps": []});
    let (a, b) = tokio::join!(edit(&world, letter, "\"0\"", &one), edit(&world, letter, "\"0\"", &other));
    let mut statuses = [a.status, b.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 412], "{:#} {:#}", a.body, b.body);
    let path = format!("/v1/dead-letters/{letter}");
    let blind = json!({"payload": {"encoding": "text", "body": "{}"}, "reason": "blind"});
    assert_eq!(world.admin_patch_read(&path, "W/\"1\"", blind.clone()).await.status, 412);
    assert_eq!(world.admin_patch_read(&path, "*", blind).await.status, 412);
    let shown = world.admin_get(&path).await.body;
    let now: Value =
        serde_json::from_str(shown["payload"]["body"].as_str().unwrap_or("")).unwrap_or_default();
    assert_eq!(edit(&world, letter, "\"1\"", &now).await.status, 422, "nothing to change");
    assert_eq!(world.value::<i64>("select count(*) from wonce.action where verb = 'edit'").await, 1);
    world.admin_post(&format!("{path}/replay"), json!({})).await;
    assert_eq!(edit(&world, letter, "\"1\"", &json!({})).await.status, 409, "it is at work");
    assert_eq!(world.outcome("probe", "e1").await, "done");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_never_hides_another_events_conflict() {
    let (world, letter) = with_a_dead_letter().await;
    assert_eq!(edit(&world, letter, "\"0\"", &mended()).await.status, 200);
    // The same two payloads under another key are what they always were.
    world.probe("e2", mended()).await;
    assert_eq!(world.outcome("probe", "e2").await, "done");
    assert_eq!(world.probe("e2", broken()).await.verdict(), "key_conflict");
    // An edited key conflict does not lend its payloads to the key's owner.
    let conflict: i64 = world.value("select id from wonce.dead_letter where kind = 'key_conflict'").await;
    let third = json!({"steps": [{"query": "select 3/0"}]});
    assert_eq!(edit(&world, conflict, "\"0\"", &third).await.status, 200);
    assert_eq!(world.probe("e2", third).await.verdict(), "key_conflict");
    world.end().await;
}
