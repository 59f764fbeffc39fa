//! Every way out of a guest becomes the documented outcome (research: wit, 2.2).

use std::time::Duration;

use wonce_core::fault::FaultClass;
use wonce_core::outcome::Outcome;
use wonce_wasm::{Interrupted, Limits, LogOrigin};

use crate::support::{answer, fault, run, run_with};

/// Runs a script that must fail, and compares class and code.
async fn fails(script: &str, class: FaultClass, code: &str) -> String {
    let ended = run(script).await;
    let fault = fault(&ended);
    assert_eq!((fault.class, fault.code.as_str()), (class, code), "{script}: {}", fault.message);
    fault.message.clone()
}

#[tokio::test]
async fn a_guest_that_is_done_or_ignores_commits() {
    assert_eq!(run("done").await.outcome, Outcome::Done);
    assert_eq!(answer(&run("ignored not mine").await), "not mine");
}

#[tokio::test]
async fn a_guests_failures_keep_their_class_code_and_wish() {
    let ended = run("retry 1500").await;
    let Outcome::Failed { fault, after } = &ended.outcome else { panic!("{:?}", ended.outcome) };
    assert_eq!((fault.class, fault.code.as_str()), (FaultClass::Transient, "try-later"));
    assert_eq!(*after, Some(Duration::from_millis(1500)));
    fails("permanent", FaultClass::Permanent, "no-such-order").await;
    fails("rejected", FaultClass::InvalidPayload, "bad-payload").await;
}

#[tokio::test]
async fn the_largest_wish_to_wait_does_not_overflow() {
    let ended = run(&format!("retry {}", u64::MAX)).await;
    let Outcome::Failed { after, .. } = ended.outcome else { panic!("{:?}", ended.outcome) };
    assert_eq!(after, Some(Duration::from_millis(u64::MAX)));
}

#[tokio::test]
async fn a_panic_is_a_trap_that_says_what_the_guest_said() {
    let message = fails("panic", FaultClass::Trap, "unreachable").await;
    assert!(message.contains("the guest's own words"), "{message}");
    assert!(!message.contains("RUST_BACKTRACE"), "{message}");
}

#[tokio::test]
async fn a_panic_after_a_flood_of_stderr_still_says_why() {
    let message = fails("panic-after-flood", FaultClass::Trap, "unreachable").await;
    assert!(message.contains("the last words"), "{message}");
}

#[tokio::test]
async fn abort_is_a_trap() {
    fails("abort", FaultClass::Trap, "unreachable").await;
}

#[tokio::test]
async fn exit_with_success_is_not_success() {
    let message = fails("exit", FaultClass::Trap, "called-exit").await;
    assert!(message.contains("exit(0)"), "{message}");
}

#[tokio::test]
async fn endless_recursion_is_a_stack_overflow() {
    fails("recurse", FaultClass::Trap, "stack-overflow").await;
}

#[tokio::test]
async fn a_read_past_the_memory_is_a_trap_with_the_address() {
    let message = fails("out-of-bounds", FaultClass::Trap, "memory-out-of-bounds").await;
    assert!(message.contains("0x"), "{message}");
}

#[tokio::test]
async fn done_on_an_aborted_transaction_is_a_failure_by_sqlstate() {
    fails("sql-then-done select fail_23505", FaultClass::Database, "23505").await;
    fails("sql-then-done select fail_40001", FaultClass::Contention, "40001").await;
    fails("sql-then-done select fail_57014", FaultClass::Budget, "57014").await;
    fails("sql-then-done select fail_08006", FaultClass::Host, "08006").await;
}

#[tokio::test]
async fn a_statement_after_the_abort_is_answered_without_the_database() {
    let ended = run("sql-then-done select fail_23505").await;
    assert_eq!(ended.transaction.statements, ["select fail_23505"]);
    assert!(ended.log.iter().any(|line| line.message.contains("Aborted")), "{:?}", ended.log);
}

#[tokio::test]
async fn a_guests_own_failure_stands_unless_the_database_was_in_trouble() {
    fails("sql-then-permanent select fail_23505", FaultClass::Permanent, "gave-up").await;
    fails("sql-then-permanent select fail_40P01", FaultClass::Contention, "40P01").await;
    fails("sql-then-permanent select fail_57P01", FaultClass::Host, "57P01").await;
}

#[tokio::test]
async fn a_panic_over_a_serialization_failure_is_contention() {
    fails("sql-then-panic select fail_40001", FaultClass::Contention, "40001").await;
    fails("sql-then-panic select fail_23505", FaultClass::Trap, "unreachable").await;
}

#[tokio::test]
async fn after_a_lost_connection_nothing_the_guest_says_counts() {
    for script in
        ["sql-then-done select lost", "sql-then-permanent select lost", "sql-then-panic select lost"]
    {
        fails(script, FaultClass::Host, "connection-lost").await;
    }
}

#[tokio::test]
async fn the_deadline_cuts_off_a_statement_and_gives_the_transaction_back() {
    let limits = Limits { deadline: Duration::from_millis(200), ..Limits::default() };
    let ended = run_with("sql select hang", limits).await;
    assert_eq!((fault(&ended).class, fault(&ended).code.as_str()), (FaultClass::Budget, "deadline"));
    assert_eq!(ended.interrupted, Interrupted::InFlight);
    assert_eq!(ended.transaction.statements, ["select hang"]);
}

#[tokio::test]
async fn what_was_logged_before_a_failure_is_kept() {
    let ended = run("panic").await;
    assert!(ended.log.iter().any(|line| line.origin == LogOrigin::Stderr), "{:?}", ended.log);
}
