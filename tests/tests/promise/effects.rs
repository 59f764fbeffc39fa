//! Effects outside the database: sent after the commit, under a key that makes a repeat harmless.

use serde_json::json;
use wonce_tests::world::{Setup, World};

const STATES: &str = "select string_agg(format('%s %s', state, attempt), ', ' order by id) from wonce.outbox";

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_is_delivered_under_its_idempotency_key() {
    let world = World::running(Setup::probe()).await;
    let effect =
        json!({"emit": {"sink": "out", "data": {"n": 9_007_199_254_740_993_i64}, "dedup_key": "receipt-7"}});
    world.probe("e1", json!({"steps": [effect]})).await;
    let effects = world.effects(1).await;
    assert_eq!((effects[0].sink.as_str(), effects[0].idempotency_key()), ("out", "receipt-7"));
    assert_eq!(&effects[0].body[..], br#"{"n":9007199254740993}"#);
    world.until("select state = 'confirmed' from wonce.outbox").await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_that_met_a_503_is_sent_again_under_the_same_key() {
    let world = World::running(Setup::probe()).await;
    world.receiver.answer_next(&[503]);
    world.probe("e1", json!({"steps": [{"emit": {"data": 1}}]})).await;
    let effects = world.effects(2).await;
    assert!(!effects[0].idempotency_key().is_empty());
    assert_eq!(effects[0].idempotency_key(), effects[1].idempotency_key());
    world.until("select state = 'confirmed' from wonce.outbox").await;
    assert_eq!(world.value::<String>(STATES).await, "confirmed 2");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn effects_of_failed_attempts_are_never_sent() {
    let world = World::running(Setup::probe()).await;
    world.probe("e1", json!({"steps": [{"emit": {"data": "once"}}, {"require_attempt": 3}]})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    world.probe("e2", json!({"steps": [{"emit": {"data": "never"}}], "end": {"permanent": {}}})).await;
    assert_eq!(world.outcome("probe", "e2").await, "dead");
    world.probe("e3", json!({"steps": [{"emit": {"data": "last"}}]})).await;
    world.until("select count(*) = 2 from wonce.outbox where state = 'confirmed'").await;
    let mut sent: Vec<_> = world.receiver.requests().iter().map(|request| request.json()).collect();
    sent.sort_by_key(ToString::to_string);
    assert_eq!(sent, [json!("last"), json!("once")]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sink_that_the_handler_may_not_use_gets_nothing() {
    let world = World::running(Setup::probe()).await;
    world.probe("e1", json!({"steps": [{"emit": {"sink": "email", "ignore_error": true}}]})).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.value::<i64>("select count(*) from wonce.outbox").await, 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_that_is_refused_is_sent_once_and_its_event_stays_done() {
    let world = World::running(Setup::probe()).await;
    world.receiver.answer_next(&[422]);
    world.probe("e1", json!({"steps": [{"emit": {"data": "refused"}}]})).await;
    world.until("select count(*) = 1 from wonce.outbox where state = 'refused'").await;
    world.probe("e2", json!({"steps": [{"emit": {"data": "taken"}}]})).await;
    world.until("select count(*) = 1 from wonce.outbox where state = 'confirmed'").await;
    assert_eq!(world.value::<String>(STATES).await, "refused 1, confirmed 1");
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.receiver.requests().len(), 2);
    let told: String = world.value("select last_error from wonce.outbox where state = 'refused'").await;
    assert!(told.contains("422"), "{told}");
    world.end().await;
}
