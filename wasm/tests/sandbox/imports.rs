//! The contract's imports, as a guest sees them.

use wonce_core::fault::FaultClass;
use wonce_core::name::{HandlerName, Key};
use wonce_core::outcome::Outcome;
use wonce_wasm::{Limits, LogLevel, LogOrigin};

use crate::support::{NOW, answer, fault, guest, invoke, run, sandbox};

#[tokio::test]
async fn a_guest_gets_the_event_and_the_facts_of_its_delivery() {
    let ended = run("facts").await;
    let facts = answer(&ended);
    for fact in [
        "key: \"order-1\"",
        "ordering-key: Some(\"customer-9\")",
        "attempt: 2",
        "max-attempts: 8",
        "round: 1",
        "received: 5",
        "traceparent: Some(\"00-trace\")",
        "order-1 Some(7) [(\"region\", \"eu\")]",
    ] {
        assert!(facts.contains(fact), "no {fact} in {facts}");
    }
}

#[tokio::test]
async fn the_time_is_the_transactions_and_a_uuid_is_stable_per_key_and_name() {
    let sandbox = sandbox();
    let prepared = sandbox.prepare(&guest()).await.unwrap();
    let mut answers = Vec::new();
    for (script, key) in [("context a", "k1"), ("context a", "k1"), ("context b", "k1"), ("context a", "k2")]
    {
        let ended = invoke(&sandbox, &prepared, script, key, Limits::default()).await;
        answers.push(answer(&ended).to_owned());
    }
    assert!(answers[0].starts_with(&NOW.0.to_string()), "{}", answers[0]);
    assert_eq!(answers[0], answers[1]);
    assert_ne!(answers[0], answers[2]);
    assert_ne!(answers[0], answers[3]);
}

#[tokio::test]
async fn what_is_left_of_the_deadline_is_told() {
    let left: u32 = answer(&run("remaining").await).parse().unwrap();
    assert!(left > 0 && left <= 5_000, "{left}");
}

#[tokio::test]
async fn settings_are_read_by_name() {
    assert_eq!(answer(&run("setting mode").await), "Some(\"fast\")");
    assert_eq!(answer(&run("setting other").await), "None");
}

#[tokio::test]
async fn log_lines_keep_level_fields_and_origin() {
    let ended = run("log").await;
    let (written, printed) = (&ended.log[0], &ended.log[1]);
    assert_eq!(
        (written.level, written.origin, written.message.as_str()),
        (LogLevel::Warn, LogOrigin::Log, "hello")
    );
    assert_eq!(written.fields, [("n".to_owned(), "1".to_owned())]);
    assert_eq!((printed.origin, printed.message.as_str()), (LogOrigin::Stdout, "on stdout"));
}

#[tokio::test]
async fn every_kind_of_value_goes_to_the_transaction_and_comes_back() {
    assert_eq!(answer(&run("echo").await), "true 1");
}

#[tokio::test]
async fn a_statement_that_the_guard_refuses_is_not_sent() {
    let ended = run("sql commit").await;
    assert!(answer(&ended).contains("Denied"), "{}", answer(&ended));
    assert!(ended.transaction.statements.is_empty());
}

#[tokio::test]
async fn queued_statements_reach_the_transaction_in_the_order_of_the_calls() {
    let ended = run("queue-then-sql select first, select second").await;
    assert_eq!(ended.outcome, Outcome::Done);
    assert_eq!(ended.log[0].message, "[Ok(()), Ok(())] Ok(1)");
    assert_eq!(ended.transaction.statements, ["select first", "select second", "select last"]);
    assert_eq!(ended.usage.statements, 3);
}

#[tokio::test]
async fn a_queued_failure_is_told_at_the_next_statement_that_is_waited_for_and_fails_the_event() {
    let ended = run("queue-then-sql select fail_23505, select never").await;
    let told = &ended.log[0].message;
    assert!(told.starts_with("[Ok(()), Ok(())] Err(") && told.contains("23505"), "{told}");
    let fault = fault(&ended);
    assert_eq!((fault.class, fault.code.as_str()), (FaultClass::Database, "23505"));
    assert_eq!(ended.transaction.statements, ["select fail_23505"]);
}

#[tokio::test]
async fn a_statement_that_the_guard_refuses_is_not_queued() {
    let ended = run("queue commit").await;
    assert!(answer(&ended).contains("Denied"), "{}", answer(&ended));
    assert!(ended.transaction.statements.is_empty() && ended.transaction.queued.is_empty());
}

#[tokio::test]
async fn what_is_still_queued_at_the_end_goes_back_with_the_transaction() {
    let ended = run("queue-then-done select later").await;
    assert_eq!(ended.outcome, Outcome::Done);
    assert_eq!(ended.transaction.queued, ["select later"]);
}

#[tokio::test]
async fn the_transactions_own_limit_reaches_the_guest() {
    assert_eq!(answer(&run("sql select many").await), "Err(Error::LimitExceeded(Limit::Rows))");
}

#[tokio::test]
async fn an_effect_gets_a_key_that_a_retry_repeats_and_the_next_effect_does_not() {
    let (first, retry) = (run("emit-twice billing").await, run("emit-twice billing").await);
    let keys: Vec<_> = first.transaction.effects.iter().map(|effect| effect.dedup_key.clone()).collect();
    let again: Vec<_> = retry.transaction.effects.iter().map(|effect| effect.dedup_key.clone()).collect();
    assert_eq!(keys, again);
    assert_ne!(keys[0], keys[1]);
    let (handler, key) = (HandlerName::parse("payments").unwrap(), Key::parse("order-1").unwrap());
    assert_eq!(keys[0], wonce_core::effect::derived_dedup_key(&handler, &key, 0));
    assert!(answer(&first).contains(&keys[0]), "the guest is told its key");
    assert_eq!(first.transaction.effects[0].attributes, [("region".to_owned(), "eu".to_owned())]);
}

#[tokio::test]
async fn an_effect_for_a_sink_that_is_not_listed_is_refused() {
    for sink in ["other", "Not A Name", ""] {
        let ended = run(&format!("emit {sink}")).await;
        assert_eq!(answer(&ended), format!("Err(Error::UnknownSink(\"{sink}\"))"));
        assert!(ended.transaction.effects.is_empty());
    }
}

#[tokio::test]
async fn a_malformed_effect_is_refused_and_not_written() {
    let ended = run("emit-bad billing").await;
    assert!(!answer(&ended).contains("false"), "{}", answer(&ended));
    assert!(ended.transaction.effects.is_empty());
}

#[tokio::test]
async fn an_effect_after_the_abort_is_not_written() {
    let ended = run("emit-after-failure billing").await;
    assert!(ended.transaction.effects.is_empty());
}
