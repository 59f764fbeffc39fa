use std::time::Duration;

use proptest::prelude::*;
use wonce_core::delivery::Attempt;
use wonce_core::retry::{Jitter, MAX_DELAY, RetryPolicy};

fn durations() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        Just(Duration::MAX),
        any::<u64>().prop_map(Duration::from_millis),
        any::<u64>().prop_map(Duration::from_nanos),
    ]
}

fn factors() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(f64::MAX),
        Just(0.0),
        Just(1.0),
        1.0..10.0_f64,
    ]
}

prop_compose! {
    fn policies()(first in durations(), factor in factors(), ceiling in durations(), jitter in durations())
        -> RetryPolicy
    {
        RetryPolicy { max_attempts: 8, first, factor, ceiling, jitter }
    }
}

#[test]
fn the_default_doubles_from_one_second_to_thirty_two() {
    let policy = RetryPolicy::default();
    let seconds: Vec<u64> = (1..=8).map(|n| policy.delay(Attempt(n), None, Jitter(0.0)).as_secs()).collect();
    assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 32, 32]);
    assert_eq!(policy.delay(Attempt(1), None, Jitter(1.0)), Duration::from_millis(1250));
}

#[test]
fn the_guests_wish_is_a_floor_up_to_the_ceiling() {
    let policy = RetryPolicy::default();
    let wish = |wish| policy.delay(Attempt(3), Some(wish), Jitter(0.0)).as_millis();
    assert_eq!(wish(Duration::from_millis(1)), 4_000);
    assert_eq!(wish(Duration::from_millis(9_001)), 9_001);
    assert_eq!(wish(Duration::from_millis(u64::MAX)), 32_000);
}

proptest! {
    #[test]
    fn no_policy_panics_or_waits_longer_than_its_ceiling_and_jitter(
        policy in policies(),
        attempt in prop_oneof![Just(0), Just(u32::MAX), any::<u32>()],
        floor in prop::option::of(durations()),
        jitter in prop_oneof![Just(f64::NAN), Just(f64::INFINITY), any::<f64>()],
    ) {
        let delay = policy.delay(Attempt(attempt), floor, Jitter(jitter));
        let limit = policy.ceiling.min(MAX_DELAY) + policy.jitter.min(MAX_DELAY);
        prop_assert!(delay <= limit, "{delay:?} > {limit:?}");
    }

    #[test]
    fn waits_never_get_shorter(policy in policies(), attempt in 0..u32::MAX, floor in prop::option::of(durations())) {
        let delay = |attempt| policy.delay(Attempt(attempt), floor, Jitter(0.5));
        prop_assert!(delay(attempt) <= delay(attempt + 1));
    }
}
