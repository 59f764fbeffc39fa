//! What a handler may rely on when it queues statements: their order, that no failure of one is
//! committed, and that they count. A test never says at which call an error comes out: the contract
//! leaves that to the host.

use serde_json::{Value as Json, json};
use wonce_tests::world::{Handler, Setup, World};

const ENTRY: &str = "insert into lab.entry (name) values ('booked')";
/// Each writes one digit more, so that the number tells their order.
const ONE: &str = "insert into lab.entry (name, amount) values ('order', 1)";
const TWO: &str = "update lab.entry set amount = amount * 10 + 2 where name = 'order'";
const THREE: &str = "update lab.entry set amount = amount * 10 + 3 where name = 'order'";
const DIGITS: &str = "select amount from lab.entry where name = 'order'";
const TAKEN: &str = "insert into lab.once values ('taken')";

const ENTRIES: &str = "select count(*) from lab.entry";
/// How a delivery died: reason, class, code, attempts.
const DEATH: &str = "select format('%s %s %s %s', reason, class, code, attempts) from wonce.dead_letter";

/// Runs one script to its death, and says how it died.
async fn death(setup: Setup, steps: Json) -> (World, String) {
    let world = World::running(setup).await;
    world.sql(TAKEN).await;
    world.probe("bad", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "bad").await, "dead");
    let death = world.value(DEATH).await;
    (world, death)
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_statements_run_in_their_order_and_before_a_later_query() {
    let world = World::running(Setup::probe()).await;
    let seen = json!({"fail_unless_sql": "select amount = 123 from lab.entry where name = 'order'"});
    let steps = json!([{"queue": ONE}, {"queue": TWO}, {"queue": THREE}, seen]);
    world.probe("e1", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.value::<i64>(DIGITS).await, 123);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_that_are_queued_and_executed_by_turns_keep_the_order_of_the_calls() {
    let world = World::running(Setup::probe()).await;
    let steps = json!([{"queue": ONE}, {"sql": TWO}, {"queue": THREE}, {"queue": TWO}]);
    world.probe("e1", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.value::<i64>(DIGITS).await, 1232);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_queued_before_a_failure_is_not_there_and_the_retry_does_it_once() {
    let world = World::running(Setup::probe()).await;
    let steps = json!([{"queue": ENTRY}, {"emit": {"data": 1}}, {"require_attempt": 2}]);
    world.probe("e1", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.value::<i64>(ENTRIES).await, 1);
    assert_eq!(world.value::<i64>("select count(*) from wonce.outbox").await, 1);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn done_after_a_queued_statement_that_fails_is_never_committed() {
    let refused = json!({"queue": TAKEN, "ignore_error": true});
    let steps =
        json!([{"sql": ENTRY}, {"queue": ENTRY}, {"emit": {"data": 1, "ignore_error": true}}, refused]);
    let (world, death) = death(Setup::probe(), steps).await;
    assert_eq!(death, "attempts_exhausted database 23505 3");
    assert_eq!(world.value::<i64>(ENTRIES).await, 0);
    assert_eq!(world.value::<i64>("select count(*) from wonce.outbox").await, 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_ignores_a_queued_failure_at_every_later_call_changes_nothing() {
    let ignored = |step: &str, text: &str| json!({step: text, "ignore_error": true});
    let steps = json!([
        ignored("queue", ENTRY),
        ignored("queue", TAKEN),
        ignored("sql", ENTRY),
        ignored("query", "select 1"),
        ignored("queue", ENTRY)
    ]);
    let (world, death) = death(Setup::probe(), steps).await;
    assert_eq!(death, "attempts_exhausted database 23505 3");
    assert_eq!(world.value::<i64>(ENTRIES).await, 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_row_without_its_parent_is_found_out_before_the_commit() {
    let steps = json!([{"queue": ENTRY}, {"queue": "insert into lab.child values (1, 404)"}]);
    let (world, death) = death(Setup::probe(), steps).await;
    assert_eq!(death, "attempts_exhausted database 23503 3");
    assert_eq!(world.value::<i64>(ENTRIES).await, 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_failure_costs_no_other_event_an_attempt() {
    let setup = Setup::default().with(Handler::probe().paused().concurrency(1).max_attempts(1));
    let world = World::running(setup).await;
    world.sql(TAKEN).await;
    for number in 0..9 {
        let steps = if number == 4 { json!([{"queue": TAKEN}]) } else { json!([{"queue": ENTRY}]) };
        world.probe(&format!("e{number}"), json!({"steps": steps})).await;
    }
    let resumed = world.admin_post("/v1/handlers/probe/resume", json!({"reason": "all are here"})).await;
    assert_eq!(resumed.status, 200, "{:#}", resumed.body);
    world.until("select count(*) = 9 from wonce.processed_events").await;
    let good = "select count(*) from wonce.processed_events where outcome = 'done' and attempts = 1";
    assert_eq!(world.value::<i64>(good).await, 8);
    assert_eq!(world.value::<String>("select event_id from wonce.dead_letter").await, "e4");
    assert_eq!(world.value::<i64>(ENTRIES).await, 8);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_that_do_not_fit_a_queued_statement_are_an_error() {
    let insert = "insert into lab.entry (name, amount) values ($1, $2)";
    for params in [json!(["a", true]), json!(["a"]), json!(["a", 1, 2])] {
        let steps = json!([{"queue": ENTRY}, {"queue": insert, "params": params}, {"fail_unless_sql": "select true"}]);
        let (world, death) = death(Setup::probe(), steps).await;
        assert_eq!(death, "permanent permanent sql-parameter 1", "{params}");
        assert_eq!(world.value::<i64>(ENTRIES).await, 0);
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_of_a_queued_statement_arrive() {
    let world = World::running(Setup::probe()).await;
    let insert = "insert into lab.entry (name, amount) values ($1, $2)";
    let steps = json!([{"queue": insert, "params": ["a", 7]}, {"queue": insert, "params": ["b", 8]}]);
    world.probe("e1", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    let written = "select string_agg(name || amount, ' ' order by name) from lab.entry";
    assert_eq!(world.value::<String>(written).await, "a7 b8");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_parameters_of_every_look_arrive_unchanged_and_in_order() {
    let world = World::running(Setup::probe()).await;
    let append = "update lab.entry set name = name || '|' || $1, amount = amount + $2 where amount < $3";
    let long = "x".repeat(300);
    let texts = ["plain", "it's", r"back\slash", "größe", "'); commit; select ('", "-- $1", &long, "", "end"];
    let mut steps = vec![json!({"queue": "insert into lab.entry (name, amount) values ('', 0)"})];
    steps.extend(texts.iter().map(|text| json!({"queue": append, "params": [text, 1, 1_000]})));
    world.probe("e1", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.value::<String>("select name from lab.entry").await, format!("|{}", texts.join("|")));
    assert_eq!(world.value::<i64>("select amount from lab.entry").await, texts.len() as i64);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_is_executed_first_and_queued_later() {
    let world = World::running(Setup::probe()).await;
    let steps = json!([{"sql": ONE}, {"sql": TWO}, {"queue": TWO}, {"queue": THREE}]);
    world.probe("e1", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.value::<i64>(DIGITS).await, 1223);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_the_guard_refuses_is_not_queued() {
    let steps = json!([{"queue": ENTRY}, {"queue": "commit"}]);
    let (world, death) = death(Setup::probe(), steps).await;
    assert_eq!(death, "permanent permanent sql-denied 1");
    assert_eq!(world.value::<i64>(ENTRIES).await, 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_statement_counts_against_the_limit_of_statements() {
    let setup = || Setup::default().with(Handler::probe().limit("statements", "3"));
    let within = json!([{"queue": ENTRY}, {"queue": ENTRY}, {"sql": ENTRY}]);
    let world = World::running(setup()).await;
    world.probe("e1", json!({"steps": within})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    world.end().await;

    let over = json!([{"queue": ENTRY}, {"queue": ENTRY}, {"sql": ENTRY}, {"queue": ENTRY}]);
    let (world, death) = death(setup(), over).await;
    assert_eq!(death, "attempts_exhausted transient sql-limit 3");
    assert_eq!(world.value::<i64>(ENTRIES).await, 0);
    world.end().await;
}
#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_fails_after_queued_ones_is_told_its_own_error() {
    let missing = json!({"sql": "insert into lab.nowhere values (1)", "ignore_error": true});
    let (world, death) = death(Setup::probe(), json!([{"queue": ENTRY}, missing])).await;
    assert_eq!(death, "attempts_exhausted database 42P01 3");
    assert_eq!(world.value::<i64>(ENTRIES).await, 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_statement_that_does_not_end_is_cancelled() {
    let setup = Setup::default().with(Handler::probe().limit("deadline", "\"700ms\"").concurrency(1));
    let (world, _) = death(setup, json!([{"queue": ENTRY}, {"queue": "select pg_sleep(600)"}])).await;
    assert_eq!(world.value::<i64>(ENTRIES).await, 0);
    world.probe("good", json!({"steps": [{"queue": ENTRY}]})).await;
    assert_eq!(world.outcome("probe", "good").await, "done");
    assert_eq!(world.value::<i64>(ENTRIES).await, 1);
    world.end().await;
}
