//! Every limit holds, and says which it was and how to change it.

use std::time::Duration;

use wonce_core::fault::FaultClass;
use wonce_core::outcome::Outcome;
use wonce_wasm::{Ended, Interrupted, Limits};

use crate::support::{Fake, answer, call, fault, guest, invoke, run, run_with, sandbox};

fn short() -> Limits {
    Limits { deadline: Duration::from_millis(200), ..Limits::default() }
}

fn assert_budget(ended: &Ended<Fake>, code: &str, key: &str) {
    let fault = fault(ended);
    assert_eq!((fault.class, fault.code.as_str()), (FaultClass::Budget, code), "{}", fault.message);
    assert!(
        fault.message.contains(key) && fault.message.contains("[handlers.payments]"),
        "{}",
        fault.message
    );
}

#[tokio::test]
async fn an_endless_loop_ends_at_the_deadline() {
    let ended = run_with("loop", short()).await;
    assert_budget(&ended, "deadline", "limits.deadline");
    assert_eq!(ended.interrupted, Interrupted::No);
}

#[tokio::test]
async fn an_endless_sleep_ends_at_the_deadline() {
    assert_budget(&run_with("sleep", short()).await, "deadline", "limits.deadline");
}

#[tokio::test]
async fn a_looping_guest_lets_others_run_on_the_same_thread() {
    let sandbox = sandbox();
    let prepared = sandbox.prepare(&guest()).await.unwrap();
    let looping =
        invoke(&sandbox, &prepared, "loop", "a", Limits { deadline: Duration::from_secs(30), ..short() });
    tokio::pin!(looping);
    // One thread: unless the loop gives way, the polite guest never gets its turn.
    tokio::select! {
        biased;
        ended = &mut looping => panic!("the loop ended first: {:?}", ended.outcome),
        ended = invoke(&sandbox, &prepared, "done", "b", Limits::default()) => assert_eq!(ended.outcome, Outcome::Done),
    }
}

#[tokio::test]
async fn memory_over_the_limit_is_named() {
    let ended = run("eat").await;
    assert_budget(&ended, "memory", "limits.memory");
    assert!(ended.usage.peak_memory > 32 << 20 && ended.usage.peak_memory <= 64 << 20, "{:?}", ended.usage);
    assert_budget(&run("eat-2g").await, "memory", "limits.memory");
}

#[tokio::test]
async fn a_guest_that_copes_with_refused_memory_is_done() {
    assert_eq!(run("eat-politely").await.outcome, Outcome::Done);
}

#[tokio::test]
async fn a_memory_limit_under_the_guests_own_start_is_named() {
    let limits = Limits { memory_bytes: 64 << 10, ..Limits::default() };
    assert_budget(&run_with("done", limits).await, "memory", "limits.memory");
}

#[tokio::test]
async fn a_statement_over_the_limit_is_refused_and_a_flood_ends_the_call() {
    let limits = Limits { statements: 3, ..Limits::default() };
    let ended = run_with("sql-until-refused", limits.clone()).await;
    assert_eq!(answer(&ended), "3 Error::LimitExceeded(Limit::Statements)");
    let ended = run_with("sql-flood", limits).await;
    assert_budget(&ended, "statements", "limits.statements");
    assert_eq!((ended.transaction.statements.len(), ended.usage.statements), (3, 7));
}

#[tokio::test]
async fn queued_statements_count_against_the_limit_and_a_flood_of_them_ends_the_call() {
    let limits = Limits { statements: 3, ..Limits::default() };
    let ended = run_with("queue-until-refused", limits.clone()).await;
    assert_eq!(answer(&ended), "3 Error::LimitExceeded(Limit::Statements)");
    let ended = run_with("queue-flood", limits).await;
    assert_budget(&ended, "statements", "limits.statements");
    assert_eq!((ended.transaction.queued.len(), ended.usage.statements), (3, 7));
    let ended = run_with("queue select 1", Limits { statement_bytes: 4, ..Limits::default() }).await;
    assert!(answer(&ended).contains("StatementBytes"), "{}", answer(&ended));
}

#[tokio::test]
async fn a_long_statement_is_refused_before_it_is_sent() {
    let limits = Limits { statement_bytes: 4, ..Limits::default() };
    let ended = run_with("sql select 1", limits).await;
    assert!(answer(&ended).contains("StatementBytes"), "{}", answer(&ended));
    assert!(ended.transaction.statements.is_empty());
}

#[tokio::test]
async fn too_much_copied_in_one_call_is_named() {
    for script in ["log-huge", "alias", "huge-error"] {
        assert_budget(&run(script).await, "copied-bytes", "limits.host_call_bytes");
    }
}

#[tokio::test]
async fn a_flood_of_log_lines_is_cut_and_counted() {
    let limits = Limits { log_lines: 10, ..Limits::default() };
    let ended = run_with("log-flood", limits).await;
    assert_eq!(ended.outcome, Outcome::Done);
    assert_eq!((ended.log.len(), ended.log_dropped), (10, 199_990));
}

#[tokio::test]
async fn a_flood_of_stdout_is_bounded_and_does_not_break_the_guest() {
    let ended = run("stdout-flood").await;
    assert_eq!(ended.outcome, Outcome::Done);
    let bytes: usize = ended.log.iter().map(|line| line.message.len()).sum();
    assert!(bytes <= 64 << 10, "{bytes} bytes");
    assert!(ended.log_dropped > 0);
}

#[tokio::test]
async fn effects_over_their_number_or_bytes_are_refused() {
    let few = run_with("emit-until-refused billing", Limits { effects: 2, ..Limits::default() }).await;
    assert!(
        answer(&few).starts_with("2 Error::Refused") && answer(&few).contains("limits.effects"),
        "{}",
        answer(&few)
    );
    assert_eq!((few.transaction.effects.len(), few.usage.effects), (2, 2));
    let small =
        run_with("emit-until-refused billing", Limits { effect_bytes: 3_500, ..Limits::default() }).await;
    assert!(answer(&small).starts_with("3 Error::Refused"), "{}", answer(&small));
}

#[tokio::test]
async fn more_calls_than_slots_wait_for_their_turn() {
    let sandbox = sandbox();
    let prepared = sandbox.prepare(&guest()).await.unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..40 {
        let (sandbox, prepared) = (sandbox.clone(), prepared.clone());
        calls.spawn(async move {
            sandbox
                .invoke(&prepared, call("sql select 1", &number.to_string()), Fake::default())
                .await
                .outcome
        });
    }
    for outcome in calls.join_all().await {
        assert_eq!(outcome, Outcome::Ignored("Ok(1)".to_owned()));
    }
}
