use serde_json::json;

use super::*;
use crate::prelude::*;

fn counts(event: Event, delivery: Delivery) -> crate::Result {
    let step: i64 = event.json()?;
    let (known,): (i64,) = sql::query_one("select n from t where id = $1", &[&delivery.key])?;
    sql::queue("update t set n = $1", &[&(known + step)])?;
    let id = context::stable_uuid("n");
    info!(id = id; "attempt {}", delivery.attempt);
    Ok(Done)
}

#[test]
fn a_handler_runs_against_a_script_and_what_it_did_is_kept() {
    let script = || Host::new().attempt(2).expect("select n\n  from t", row(&[("n", &3_i64)]));
    let run = script().run(counts, event("t", &json!(4)));
    assert_eq!(run.result, Ok(Done));
    assert_eq!(run.statements[1].kind, Kind::Queue);
    assert_eq!(run.statements[1].params, [sql::Value::Int8(7)]);
    assert_eq!(run.log[0].message, "attempt 2");
    // The same key gives the same id, another key another one.
    assert_eq!(script().run(counts, event("t", &json!(4))).log, run.log);
    let other = Delivery { key: "e-2".into(), attempt: 2, ..delivery() };
    assert_ne!(script().delivery(other).run(counts, event("t", &json!(4))).log, run.log);
}

#[test]
fn after_a_refused_statement_nothing_commits_whatever_the_handler_returns() {
    let run = Host::new().expect("insert", refused("23505")).run(
        |_: Event| {
            let error = sql::execute("insert into t values (1)", &[]).unwrap_err();
            assert_eq!(error.sqlstate(), Some("23505"));
            assert_eq!(sql::execute("select 1", &[]), Err(sql::Error::Aborted));
            assert_eq!(outbox::emit(Effect::to("out").text("t", "x")), Err(outbox::Error::Aborted));
            Ok(Done)
        },
        event("t", &json!({})),
    );
    assert_eq!(run.result, Ok(Done));
    assert!(!run.commits() && run.effects.is_empty());
}

#[test]
fn a_sink_that_is_not_in_the_manifest_is_unknown() {
    let emit = |_: Event| Ok(outbox::emit(Effect::to("sms").text("t", "x")).map(|_| Done)?);
    assert_eq!(Host::new().emits(&["email"]).run(emit, event("t", &0)).code(), "unknown-sink");
    assert!(Host::new().run(emit, event("t", &0)).commits());
}

#[test]
#[should_panic(expected = "expected: …delete from t…")]
fn another_statement_than_the_expected_one_is_named() {
    let act = |_: Event| Ok(sql::execute("update t set n = 1", &[]).map(|_| Done)?);
    let _ = Host::new().expect("delete from t", affected(1)).run(act, event("t", &0));
}

#[test]
#[should_panic(expected = "never ran what the script expects next")]
fn a_statement_that_is_expected_and_never_comes_is_named() {
    let _ = Host::new().expect("delete from t", affected(1)).run(|_: Event| Ok(Done), event("t", &0));
}

#[test]
#[should_panic(expected = "`context.now` needs a host")]
fn a_call_outside_a_mock_host_says_what_it_needs() {
    context::now();
}
