//! Deliveries that share a transaction: what one of them does wrong costs the others nothing. The
//! handler is paused while the events arrive and works alone, so its claims take 1, 2, 4, 8 and 16.

use serde_json::{Value as Json, json};
use wonce_tests::world::{Handler, Setup, World};

const EVENTS: usize = 31;
/// One each would be 31, batches that nothing cuts short are 5; a busy machine cuts some short.
const FEWER_THAN: i64 = 20;
/// In the last and largest batch, with neighbours before and behind it.
const CULPRIT: usize = 22;
/// What each neighbour leaves: one row, one ledger row after one attempt.
const NEIGHBOURS: &str = "
    select format('%s done in %s attempts, %s rows of %s',
        (select count(*) from wonce.processed_events where outcome = 'done' and key like '%ok%'),
        (select sum(attempts) from wonce.processed_events where outcome = 'done' and key like '%ok%'),
        (select count(*) from lab.entry where name like 'ok%'),
        (select count(distinct name) from lab.entry where name like 'ok%'))";
const NEIGHBOURS_DONE: &str = "30 done in 30 attempts, 30 rows of 30";

fn insert(name: &str) -> Json {
    json!({"sql": "insert into lab.entry (name) values ($1)", "params": [name]})
}

/// Sends events to a paused handler, one of which is the culprit, and lets it work.
async fn world_with(culprit: Json, max_attempts: u32) -> World {
    let handler = Handler::probe().paused().concurrency(1).max_attempts(max_attempts);
    let world = World::running(Setup::default().with(handler)).await;
    for number in 0..EVENTS {
        if number == CULPRIT {
            world.probe("culprit", culprit.clone()).await;
        } else {
            let name = format!("ok{number}");
            let steps = json!([{"queue": "insert into lab.entry (name) values ($1)", "params": [name]}]);
            world.probe(&name, json!({"steps": steps})).await;
        }
    }
    world.admin_post("/v1/handlers/probe/resume", json!({"reason": "all have arrived"})).await;
    world
}

async fn transactions(world: &World) -> i64 {
    world.value("select count(distinct xact) from wonce.processed_events").await
}

#[tokio::test(flavor = "multi_thread")]
async fn quick_deliveries_share_transactions() {
    let world = world_with(json!({"steps": [insert("ok")]}), 1).await;
    world.until("select count(*) = 31 from wonce.processed_events where outcome = 'done'").await;
    assert_eq!(world.value::<i64>("select count(*) from lab.entry").await, 31);
    assert!(transactions(&world).await < FEWER_THAN, "they share");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_fails_after_it_wrote_costs_its_neighbours_nothing() {
    let end = json!({"permanent": {"code": "no", "message": "never"}});
    let world = world_with(json!({"steps": [insert("culprit")], "end": end}), 1).await;
    world.until("select count(*) = 31 from wonce.processed_events").await;
    assert_eq!(world.value::<String>(NEIGHBOURS).await, NEIGHBOURS_DONE);
    assert_eq!(world.value::<i64>("select count(*) from lab.entry where name = 'culprit'").await, 0);
    assert_eq!(
        world.value::<String>("select outcome from wonce.processed_events where key like '%culprit%'").await,
        "dead"
    );
    assert!(transactions(&world).await < FEWER_THAN, "they share");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_fails_before_it_wrote_is_not_even_run_again() {
    let end = json!({"permanent": {"code": "no", "message": "never"}});
    let steps = json!([{"queue": "insert into lab.entry (name) values ('culprit')"}, {"log": "one run"}]);
    let world = world_with(json!({"steps": steps, "end": end}), 1).await;
    world.until("select count(*) = 31 from wonce.processed_events").await;
    assert_eq!(world.value::<String>(NEIGHBOURS).await, NEIGHBOURS_DONE);
    assert_eq!(world.value::<i64>("select count(*) from lab.entry where name = 'culprit'").await, 0);
    assert!(transactions(&world).await < FEWER_THAN, "they share");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_out_of_a_batch_succeeds_and_counts_its_own_attempts_only() {
    let steps = json!([insert("culprit"), {"require_attempt": 2}]);
    let world = world_with(json!({"steps": steps}), 3).await;
    world.until("select count(*) = 31 from wonce.processed_events where outcome = 'done'").await;
    assert_eq!(world.value::<String>(NEIGHBOURS).await, NEIGHBOURS_DONE);
    assert_eq!(world.value::<i64>("select count(*) from lab.entry where name = 'culprit'").await, 1);
    let attempts = "select attempts from wonce.processed_events where key like '%culprit%'";
    assert_eq!(world.value::<i32>(attempts).await, 2);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_statement_that_fails_kills_only_the_event_that_queued_it() {
    let steps =
        json!([insert("culprit"), {"queue": "select 1 / (count(*) - 1) from lab.gate where id = 'gate'"}]);
    let world = world_with(json!({"steps": steps}), 2).await;
    world.until("select count(*) = 31 from wonce.processed_events").await;
    assert_eq!(world.value::<String>(NEIGHBOURS).await, NEIGHBOURS_DONE);
    let death = "select format('%s %s %s %s', reason, class, code, attempts) from wonce.dead_letter";
    assert_eq!(world.value::<String>(death).await, "attempts_exhausted database 22012 2");
    assert_eq!(world.value::<i64>("select count(*) from lab.entry where name = 'culprit'").await, 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deferred_constraint_in_a_batch_is_the_fault_of_the_event_that_broke_it() {
    let steps = json!([{"queue": "insert into lab.child (id, parent_id) values (1, 404)"}]);
    let world = world_with(json!({"steps": steps}), 2).await;
    world.until("select count(*) = 31 from wonce.processed_events").await;
    assert_eq!(world.value::<String>(NEIGHBOURS).await, NEIGHBOURS_DONE);
    let death = "select format('%s %s %s %s', reason, class, code, attempts) from wonce.dead_letter";
    assert_eq!(world.value::<String>(death).await, "attempts_exhausted database 23503 2");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_kills_its_backend_takes_no_neighbour_with_it() {
    let world = world_with(json!({"steps": [{"queue": "select lab.kill_me()"}]}), 2).await;
    world.until("select count(*) = 31 from wonce.processed_events").await;
    assert_eq!(world.value::<String>(NEIGHBOURS).await, NEIGHBOURS_DONE);
    let death = "select format('%s %s', key, reason) from wonce.dead_letter";
    let death = world.value::<String>(death).await;
    assert!(death.contains("culprit") && death.ends_with("crash_suspect"), "{death}");
    assert_eq!(world.value::<i64>("select count(*) from wonce.crash_mark").await, 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn effects_of_a_batch_leave_in_the_order_of_its_events_and_not_for_the_failed() {
    let steps = json!([{"emit": {"data": "culprit"}}, insert("culprit")]);
    let end = json!({"permanent": {"code": "no", "message": "never"}});
    let world = world_with(json!({"steps": steps, "end": end}), 1).await;
    world.until("select count(*) = 31 from wonce.processed_events").await;
    assert_eq!(world.value::<i64>("select count(*) from wonce.outbox").await, 0);
    for number in 0..3 {
        let steps = json!([{"emit": {"data": number, "ordering_key": "same"}}]);
        world.probe(&format!("emits{number}"), json!({"steps": steps})).await;
    }
    let sent = world.effects(3).await;
    assert_eq!(sent.iter().map(|request| request.json()).collect::<Vec<_>>(), [json!(0), json!(1), json!(2)]);
    world.end().await;
}
