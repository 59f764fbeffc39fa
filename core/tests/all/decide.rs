use std::time::Duration;

use proptest::prelude::*;
use wonce_core::decide::{DeadReason, Decision, MAX_CONTENTION_REDOS, MAX_TRAP_ATTEMPTS, Redos, decide};
use wonce_core::delivery::Attempt;
use wonce_core::fault::{Fault, FaultClass, MAX_CODE_BYTES, MAX_MESSAGE_BYTES};
use wonce_core::outcome::Outcome;
use wonce_core::retry::{Jitter, RetryPolicy};

fn classes() -> impl Strategy<Value = FaultClass> {
    prop::sample::select(&FaultClass::ALL[..])
}

fn failed(class: FaultClass, after: Option<Duration>) -> Outcome {
    Outcome::Failed { fault: Fault::new(class, "code", "message"), after }
}

fn decided(class: FaultClass, attempt: u32, redos: u32) -> Decision {
    decide(failed(class, None), Attempt(attempt), Redos(redos), &RetryPolicy::default(), Jitter(0.0))
}

#[test]
fn each_class_has_its_policy() {
    use FaultClass::*;
    let dead = |class, attempt| match decided(class, attempt, MAX_CONTENTION_REDOS) {
        Decision::Dead { reason, .. } => Some(reason),
        Decision::Commit { .. }
        | Decision::Redo { .. }
        | Decision::Retry { .. }
        | Decision::Release { .. } => None,
    };
    for (class, last, reason) in [
        (InvalidPayload, 1, DeadReason::InvalidPayload),
        (Permanent, 1, DeadReason::Permanent),
        (CrashSuspect, 1, DeadReason::CrashSuspect),
        (Trap, MAX_TRAP_ATTEMPTS, DeadReason::Trap),
        (Budget, MAX_TRAP_ATTEMPTS, DeadReason::Budget),
        (Transient, 8, DeadReason::AttemptsExhausted),
        (Database, 8, DeadReason::AttemptsExhausted),
        (Contention, 8, DeadReason::AttemptsExhausted),
    ] {
        assert_eq!(dead(class, last), Some(reason), "{class}");
        assert!((1..last).all(|attempt| dead(class, attempt).is_none()), "{class}");
    }
}

#[test]
fn success_commits_with_the_reason_of_an_ignored_event() {
    let commit = |outcome| decide(outcome, Attempt(99), Redos(9), &RetryPolicy::default(), Jitter(1.0));
    assert_eq!(commit(Outcome::Done), Decision::Commit { ignored: None });
    assert_eq!(commit(Outcome::Ignored("old".into())), Decision::Commit { ignored: Some("old".into()) });
}

#[test]
fn texts_of_a_fault_are_one_line_of_bounded_length() {
    let fault =
        Fault::new(FaultClass::Permanent, &"ü\n".repeat(99), &"a\r\n\u{1b}\u{2028}\u{202e}é".repeat(9999));
    assert!(fault.code.len() <= MAX_CODE_BYTES && fault.message.len() <= MAX_MESSAGE_BYTES);
    assert!(fault.message.starts_with("a     éa"), "{}", &fault.message[..32]);
}

proptest! {
    #[test]
    fn a_failure_never_commits(class in classes(), attempt in any::<u32>(), redos in any::<u32>()) {
        let committed = matches!(decided(class, attempt, redos), Decision::Commit { .. });
        prop_assert!(!committed);
    }

    #[test]
    fn the_hosts_own_failures_never_count_and_never_kill(attempt in any::<u32>(), redos in any::<u32>()) {
        let released = matches!(decided(FaultClass::Host, attempt, redos), Decision::Release { .. });
        prop_assert!(released);
    }

    #[test]
    fn every_class_but_host_is_dead_at_the_last_attempt(
        class in classes(), max in 0_u32..100, beyond in any::<u32>(),
    ) {
        prop_assume!(class != FaultClass::Host);
        let policy = RetryPolicy { max_attempts: max, ..RetryPolicy::default() };
        let attempt = Attempt(max.saturating_add(beyond));
        let decision = decide(failed(class, None), attempt, Redos(MAX_CONTENTION_REDOS), &policy, Jitter(0.5));
        let dead = matches!(decision, Decision::Dead { .. });
        prop_assert!(dead);
    }

    #[test]
    fn contention_is_redone_at_once_only_a_few_times(attempt in any::<u32>(), redos in any::<u32>()) {
        let redone = matches!(decided(FaultClass::Contention, attempt, redos), Decision::Redo { .. });
        prop_assert_eq!(redone, redos < MAX_CONTENTION_REDOS);
    }

    #[test]
    fn a_failing_delivery_always_comes_to_an_end(class in classes(), max in 0_u32..50) {
        prop_assume!(class != FaultClass::Host);
        let policy = RetryPolicy { max_attempts: max, ..RetryPolicy::default() };
        let (mut attempt, mut redos) = (1, 0);
        for _ in 0..=(max + 1) * (MAX_CONTENTION_REDOS + 1) {
            match decide(failed(class, None), Attempt(attempt), Redos(redos), &policy, Jitter(0.5)) {
                Decision::Dead { .. } => return Ok(()),
                Decision::Redo { .. } => redos += 1,
                Decision::Retry { .. } => (attempt, redos) = (attempt + 1, 0),
                Decision::Commit { .. } | Decision::Release { .. } => prop_assert!(false, "neither"),
            }
        }
        prop_assert!(false, "it never died");
    }
}
