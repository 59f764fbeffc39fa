//! Statements that a guest queues: in order, before what comes after them, and their failure is the
//! event's.

use serde_json::json;
use wonce_tests::world::{Handler, Setup, World};

#[tokio::test(flavor = "multi_thread")]
async fn queued_statements_run_in_order_and_before_a_later_query() {
    let world = World::running(Setup::probe()).await;
    let steps = json!([
        {"queue": "insert into lab.entry (name, amount) values ('x', 1)"},
        {"queue": "update lab.entry set amount = amount * 10 where name = 'x'"},
        {"fail_unless_sql": "select amount = 10 from lab.entry where name = 'x'"},
        {"queue": "update lab.entry set amount = amount + 1 where name = 'x'"},
    ]);
    world.probe("e1", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.value::<i64>("select amount from lab.entry").await, 11);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_failure_shows_at_the_next_call_and_commits_nothing() {
    let world = World::running(Setup::default().with(Handler::probe().max_attempts(1))).await;
    let steps = json!([
        {"queue": "insert into lab.once (id) values ('twice')"},
        {"queue": "insert into lab.once (id) values ('twice')"},
        {"query": "select 1", "expect_error": "23505"},
    ]);
    world.probe("e1", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "e1").await, "dead");
    let death = "select format('%s %s', class, code) from wonce.dead_letter";
    assert_eq!(world.value::<String>(death).await, "database 23505");
    assert_eq!(world.value::<i64>("select count(*) from lab.once").await, 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_failure_of_an_event_that_runs_alone_is_its_fault_at_the_commit() {
    let world = World::running(Setup::default().with(Handler::probe().max_attempts(1))).await;
    let steps = json!([{"queue": "insert into lab.once (id) values ('a'), ('a')"}]);
    world.probe("e1", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "e1").await, "dead");
    let death = "select format('%s %s', class, code) from wonce.dead_letter";
    assert_eq!(world.value::<String>(death).await, "database 23505");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_that_do_not_fit_a_queued_statement_are_refused_at_once() {
    let world = World::running(Setup::probe()).await;
    let steps = json!([
        {"queue": "insert into lab.entry (name) values ($1)", "params": [], "expect_error": "parameter"},
        {"queue": "commit", "expect_error": "denied"},
        {"queue": "insert into lab.entry (name) values ($1)", "params": ["fits"]},
    ]);
    world.probe("e1", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.value::<String>("select string_agg(name, ',') from lab.entry").await, "fits");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_statement_counts_against_the_limit_of_statements() {
    let handler = Handler::probe().limit("statements", "2").max_attempts(1);
    let world = World::running(Setup::default().with(handler)).await;
    let statement = json!({"queue": "insert into lab.entry (name) values ('x')"});
    world.probe("e1", json!({"steps": [statement, statement, statement]})).await;
    assert_eq!(world.outcome("probe", "e1").await, "dead");
    assert_eq!(world.value::<i64>("select count(*) from lab.entry").await, 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_statement_that_never_ends_is_cancelled_and_charged_to_its_event() {
    let handler = Handler::probe().limit("deadline", "\"300ms\"").max_attempts(1);
    let world = World::running(Setup::default().with(handler)).await;
    world.probe("e1", json!({"steps": [{"queue": "select pg_sleep(3600)"}]})).await;
    assert_eq!(world.outcome("probe", "e1").await, "dead");
    let death = "select format('%s %s', class, code) from wonce.dead_letter";
    assert_eq!(world.value::<String>(death).await, "budget 57014");
    world.end().await;
}
