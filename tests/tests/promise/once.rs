//! Exactly once: duplicates, two hosts, failures and retries leave one effect.

use serde_json::json;
use wonce_tests::world::{Setup, World};

const ENTRY: &str = "insert into lab.entry (name) values ('booked')";
const ENTRIES: &str = "select count(*) from lab.entry";

#[tokio::test(flavor = "multi_thread")]
async fn the_same_event_twice_leaves_one_effect_one_ledger_row_and_one_counted_duplicate() {
    let world = World::running(Setup::probe()).await;
    let script = json!({"steps": [{"sql": ENTRY}, {"emit": {"data": 1}}]});
    assert_eq!(world.probe("e1", script.clone()).await.verdict(), "accepted");
    assert_eq!(world.outcome("probe", "e1").await, "done");
    let again = world.probe("e1", script).await;
    assert_eq!((again.status, again.verdict()), (202, "duplicate"));
    assert_eq!(world.effects(1).await.len(), 1);
    assert_eq!(world.value::<i64>(ENTRIES).await, 1);
    assert_eq!(world.value::<i64>("select count(*) from wonce.processed_events").await, 1);
    let counted = "select (sum(accepted), sum(duplicate_early), sum(duplicate_late))::text from wonce.tally";
    assert_eq!(world.value::<String>(counted).await, "(1,1,0)");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hosts_that_get_one_key_at_one_instant_leave_one_effect() {
    let mut world = World::running(Setup::probe()).await;
    world.start().await;
    for round in 0..20 {
        let id = format!("e{round}");
        let script = json!({"steps": [{"sql": ENTRY}]});
        let (left, right) = tokio::join!(
            world.event_to(0, "probe.run", &id, script.clone()),
            world.event_to(1, "probe.run", &id, script.clone())
        );
        // Both may be accepted: the look of intake is a courtesy, the ledger is the guarantee.
        let verdicts = [left.verdict(), right.verdict()];
        assert!(verdicts.contains(&"accepted"), "{verdicts:?}");
    }
    world.until("select count(*) = 20 from wonce.processed_events where outcome = 'done'").await;
    world.until("select not exists (select from wonce.inbox)").await;
    assert_eq!(world.value::<i64>(ENTRIES).await, 20);
    let repeats = "select sum(duplicate_early + duplicate_late)::bigint from wonce.tally";
    assert_eq!(world.value::<i64>(repeats).await, 20);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_after_its_sql_leaves_nothing_and_the_retry_succeeds() {
    let world = World::running(Setup::probe()).await;
    let steps = json!([{"sql": ENTRY}, {"emit": {"data": 1}}, {"require_attempt": 3}]);
    world.probe("e1", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.value::<i64>(ENTRIES).await, 1);
    assert_eq!(world.value::<i64>("select count(*) from wonce.outbox").await, 1);
    let failed = "select string_agg(format('%s %s %s %s', attempt, decision, class, code), ', ' order by id)
                  from wonce.attempt";
    let wanted = "1 retry transient probe-too-early, 2 retry transient probe-too-early";
    assert_eq!(world.value::<String>(failed).await, wanted);
    assert_eq!(world.value::<i32>("select attempts from wonce.processed_events").await, 3);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_handler_leaves_neither_rows_nor_effects_of_its_own() {
    let world = World::running(Setup::probe()).await;
    let steps = json!([{"sql": ENTRY}, {"emit": {"data": 1}}]);
    world.probe("e1", json!({"steps": steps, "end": {"permanent": {"code": "no"}}})).await;
    assert_eq!(world.outcome("probe", "e1").await, "dead");
    assert_eq!(world.value::<i64>(ENTRIES).await, 0);
    assert_eq!(world.value::<i64>("select count(*) from wonce.outbox").await, 0);
    world.end().await;
    // The receiver is gone with the hosts: what was never planned was never sent.
}

#[tokio::test(flavor = "multi_thread")]
async fn a_duplicate_of_a_dead_letter_is_not_handled_again() {
    let world = World::running(Setup::probe()).await;
    let script = json!({"end": {"permanent": {"code": "no"}}});
    world.probe("e1", script.clone()).await;
    assert_eq!(world.outcome("probe", "e1").await, "dead");
    assert_eq!(world.probe("e1", script).await.verdict(), "duplicate");
    assert_eq!(world.value::<i64>("select count(*) from wonce.attempt").await, 1);
    assert_eq!(world.value::<i64>("select count(*) from wonce.inbox").await, 0);
    assert_eq!(world.value::<i64>("select count(*) from wonce.dead_letter").await, 1);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_duplicate_that_slipped_past_intake_is_counted_and_not_handled() {
    let world = World::running(Setup::probe()).await;
    world.probe("e1", json!({"steps": [{"sql": ENTRY}]})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    // What a concurrent intake does that looked before the settlement committed.
    world
        .sql(
            "insert into wonce.inbox (handler_id, key, key_rule, due_at, accepted_at, payload_digest, hash_rule,
                                      via, event_id, source, event_type, data)
             select handler_id, key, key_rule, now(), now(), payload_digest, hash_rule, via, event_id, source,
                    event_type, ''
             from wonce.processed_events;
             insert into wonce.tally (handler_id, accepted) select handler_id, 1 from wonce.processed_events",
        )
        .await;
    world.until("select sum(duplicate_late) = 1 from wonce.tally").await;
    assert_eq!(world.value::<i64>("select count(*) from wonce.inbox").await, 0);
    assert_eq!(world.value::<i64>(ENTRIES).await, 1);
    world.end().await;
}
