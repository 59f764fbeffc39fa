use std::time::Duration;

use proptest::prelude::*;
use wonce_core::delivery::Attempt;
use wonce_core::effect::{EffectState, MAX_DEDUP_KEY_BYTES, derived_dedup_key};
use wonce_core::name::{HandlerName, Key, MAX_KEY_BYTES, MAX_NAME_BYTES};
use wonce_core::relay::{Doubt, SendDecision, SendOutcome, UnknownPolicy, decide_send};
use wonce_core::retry::{Jitter, RetryPolicy};

const LAST: u32 = 8;

fn state(outcome: SendOutcome, policy: UnknownPolicy, doubt: Doubt, attempt: u32) -> EffectState {
    decide_send(outcome, policy, doubt, Attempt(attempt), &RetryPolicy::default(), Jitter(0.0)).state()
}

fn refused() -> SendOutcome {
    SendOutcome::Refused { reason: "400".into() }
}

fn retry() -> SendOutcome {
    SendOutcome::Retry { after: None, reason: "connection refused".into() }
}

fn unknown() -> SendOutcome {
    SendOutcome::Unknown { reason: "time-out".into() }
}

#[test]
fn each_ending_of_a_send_has_its_state() {
    use Doubt::{MayHaveArrived, None};
    use UnknownPolicy::{Hold, Resend};
    for (outcome, policy, doubt, attempt, expected) in [
        (SendOutcome::Confirmed, Hold, MayHaveArrived, LAST, EffectState::Confirmed),
        (refused(), Resend, None, 1, EffectState::Refused),
        (refused(), Resend, MayHaveArrived, 2, EffectState::Unknown),
        (retry(), Resend, None, 1, EffectState::Planned),
        (retry(), Hold, None, LAST, EffectState::Refused),
        (retry(), Resend, MayHaveArrived, LAST, EffectState::Unknown),
        (unknown(), Resend, None, 1, EffectState::Planned),
        (unknown(), Resend, None, LAST, EffectState::Unknown),
        (unknown(), Hold, None, 1, EffectState::Unknown),
    ] {
        assert_eq!(
            state(outcome.clone(), policy, doubt, attempt),
            expected,
            "{outcome:?} {policy:?} {doubt:?}"
        );
    }
}

#[test]
fn the_sinks_wish_is_a_floor_and_doubt_is_handed_on() {
    let decide = |outcome, doubt| {
        decide_send(outcome, UnknownPolicy::Resend, doubt, Attempt(1), &RetryPolicy::default(), Jitter(0.0))
    };
    let later = SendOutcome::Retry { after: Some(Duration::from_secs(9)), reason: "429".into() };
    assert_eq!(decide(later, Doubt::None).after(), Some(Duration::from_secs(9)));
    for (outcome, before, after) in [
        (retry(), Doubt::None, Doubt::None),
        (retry(), Doubt::MayHaveArrived, Doubt::MayHaveArrived),
        (unknown(), Doubt::None, Doubt::MayHaveArrived),
    ] {
        assert!(matches!(decide(outcome, before), SendDecision::Again { doubt, .. } if doubt == after));
    }
}

proptest! {
    #[test]
    fn an_effect_that_may_have_arrived_is_never_called_refused(attempts in prop::collection::vec(0_u8..4, 1..20)) {
        let (mut doubt, mut unknown_seen) = (Doubt::None, false);
        for (attempt, kind) in (1..).zip(attempts) {
            let outcome = match kind { 0 => refused(), 1 => retry(), _ => unknown() };
            unknown_seen |= matches!(outcome, SendOutcome::Unknown { .. });
            let policy = RetryPolicy::default();
            match decide_send(outcome, UnknownPolicy::Resend, doubt, Attempt(attempt), &policy, Jitter(0.0)) {
                SendDecision::Again { doubt: next, .. } => doubt = next,
                end => {
                    let expected = if unknown_seen { EffectState::Unknown } else { EffectState::Refused };
                    prop_assert_eq!(end.state(), expected);
                    break;
                }
            }
            prop_assert!(attempt < LAST, "it never ended");
        }
    }

    #[test]
    fn derived_keys_are_stable_short_and_different(key in "[^\\x00]{1,128}", ordinal in 0..u32::MAX) {
        let handler = HandlerName::parse("payments").expect("a name");
        let key = Key::parse(key).expect("a key");
        let derived = derived_dedup_key(&handler, &key, ordinal);
        prop_assert_eq!(&derived, &derived_dedup_key(&handler, &key, ordinal));
        prop_assert_ne!(&derived, &derived_dedup_key(&handler, &key, ordinal + 1));
        prop_assert!(derived.is_ascii() && derived.starts_with("payments-"));
    }
}

#[test]
fn the_longest_derived_key_fits() {
    let handler = HandlerName::parse("h".repeat(MAX_NAME_BYTES)).expect("a name");
    let key = Key::parse("k".repeat(MAX_KEY_BYTES)).expect("a key");
    assert!(derived_dedup_key(&handler, &key, u32::MAX).len() <= MAX_DEDUP_KEY_BYTES);
}
