use std::collections::BTreeMap;
use std::time::Duration;

use wonce_core::alert::judge::{Claims, Level, Recent, Seen, Standing, level, measure};
use wonce_core::alert::{AlertRule, AlertRules, words};
use wonce_core::fault::FaultClass;

use Level::{Below, FarBelow, Over};
use Standing::{Calming, Firing, Quiet, Suspected};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn rules(wait: u64, calm: u64) -> AlertRules {
    AlertRules { wait: seconds(wait), calm: seconds(calm), ..AlertRules::default() }
}

#[test]
fn an_alert_fires_after_its_wait_and_ends_far_below_or_after_a_calm() {
    // For 10 s over the limit it fires, for 60 s below it is resolved.
    let table = [
        (Quiet, 0, Below, Quiet),
        (Quiet, 0, FarBelow, Quiet),
        (Quiet, 900, Over, Suspected),
        (Suspected, 9, Over, Suspected),
        (Suspected, 10, Over, Firing),
        (Suspected, 9, Below, Quiet),
        (Suspected, 9, FarBelow, Quiet),
        (Firing, 0, Over, Firing),
        (Firing, 900, Below, Calming),
        (Firing, 0, FarBelow, Quiet),
        (Calming, 59, Below, Calming),
        (Calming, 60, Below, Quiet),
        (Calming, 59, Over, Firing),
        (Calming, 1, FarBelow, Quiet),
    ];
    for (standing, held, level, expected) in table {
        let next = standing.next(seconds(held), level, &rules(10, 60));
        assert_eq!(next, expected, "{standing:?} for {held} s, then {level:?}");
    }
}

#[test]
fn without_waits_an_alert_follows_its_limit_at_once() {
    assert_eq!(Quiet.next(Duration::ZERO, Over, &rules(0, 0)), Firing);
    assert_eq!(Firing.next(Duration::ZERO, Below, &rules(0, 0)), Quiet);
}

#[test]
fn a_value_at_the_limit_is_over_it_and_what_cannot_be_said_is_below() {
    let table = [
        (Some(10.0), Over),
        (Some(11.0), Over),
        (Some(9.9), Below),
        (Some(5.0), Below),
        (Some(4.9), FarBelow),
        (None, Below),
    ];
    for (value, expected) in table {
        assert_eq!(level(value, 10.0), expected, "{value:?}");
    }
    assert_eq!(level(Some(0.0), 1.0), FarBelow, "the last dead letter is gone");
}

fn seen() -> Seen {
    Seen {
        claims: Claims::Wanted,
        dead_letters: 12,
        dead_letter_age: Some(seconds(7_200)),
        oldest_due_age: Some(seconds(90)),
        recent: Recent {
            committed: 90,
            failed: 10,
            faults: BTreeMap::from([(FaultClass::Trap, 4), (FaultClass::Transient, 6)]),
            unclaimed: seconds(40),
        },
    }
}

#[test]
fn each_rule_measures_its_own_in_its_unit() {
    let table = [
        (AlertRule::DeadLetters, 12.0),
        (AlertRule::DeadLetterAge, 7_200.0),
        (AlertRule::OldestDueAge, 90.0),
        (AlertRule::ErrorShare, 0.1),
        (AlertRule::ClassShare(FaultClass::Trap), 0.04),
        (AlertRule::ClassShare(FaultClass::Budget), 0.0),
        (AlertRule::NoClaims, 40.0),
    ];
    for (rule, expected) in table {
        let value = measure(rule, &seen(), &AlertRules::default());
        assert!(value.is_some_and(|value| (value - expected).abs() < 1e-9), "{rule}: {value:?}");
    }
}

#[test]
fn a_paused_handler_and_one_with_nothing_due_miss_no_claim() {
    let zero = |seen: &Seen| measure(AlertRule::NoClaims, seen, &AlertRules::default()) == Some(0.0);
    assert!(zero(&Seen { claims: Claims::Paused, ..seen() }));
    assert!(zero(&Seen { oldest_due_age: None, ..seen() }));
    let new = Seen { oldest_due_age: Some(seconds(1)), ..seen() };
    assert_eq!(measure(AlertRule::NoClaims, &new, &AlertRules::default()), Some(1.0), "it came just now");
}

#[test]
fn a_share_of_too_few_runs_says_nothing() {
    let few = Seen { recent: Recent { committed: 1, failed: 9, ..Recent::default() }, ..seen() };
    assert_eq!(measure(AlertRule::ErrorShare, &few, &AlertRules::default()), None);
    let any = AlertRules { error_min_runs: 0, ..AlertRules::default() };
    assert_eq!(measure(AlertRule::ErrorShare, &few, &any), Some(0.9));
    assert_eq!(measure(AlertRule::ErrorShare, &Seen::default(), &any), None, "no run, no share");
}

#[test]
fn each_word_names_one_rule_and_rules_survive_their_document() {
    let classes = FaultClass::ALL.map(AlertRule::ClassShare);
    for rule in AlertRule::PLAIN.into_iter().chain(classes) {
        assert_eq!(rule.to_string().parse(), Ok(rule));
    }
    assert!("class_share.hiccup".parse::<AlertRule>().is_err());
    for standing in Standing::ALL {
        assert_eq!(Standing::parse(standing.as_str()), Some(standing));
    }
    let limits =
        BTreeMap::from([(AlertRule::DeadLetters, 10.0), (AlertRule::ClassShare(FaultClass::Trap), 0.01)]);
    let rules = AlertRules { limits, ..AlertRules::default() };
    let document = serde_json::to_value(&rules).expect("JSON");
    assert_eq!(document["limits"]["class_share.trap"], 0.01);
    assert_eq!(serde_json::from_value::<AlertRules>(document).expect("rules"), rules);
}

#[test]
fn a_sentence_names_the_handler_the_value_and_the_limit() {
    let rules = AlertRules::default();
    let table = [
        (AlertRule::DeadLetters, 1.0, 1.0, "pay has 1 dead letter, the limit is 1: see `wonce dead groups`"),
        (
            AlertRule::DeadLetterAge,
            7_265.0,
            3_600.0,
            "the oldest dead letter of pay waits for 2 h 1 m, the limit is 1 h: see `wonce dead list`",
        ),
        (
            AlertRule::ErrorShare,
            0.125,
            0.05,
            "12.5% of the runs of pay in 5 m failed, the limit is 5.0%: see `wonce dead groups`",
        ),
        (
            AlertRule::ClassShare(FaultClass::Trap),
            0.02,
            0.01,
            "2.0% of the runs of pay in 5 m ended with trap, the limit is 1.0%: see docs/faults.md",
        ),
    ];
    for (rule, value, limit, expected) in table {
        assert_eq!(words::firing("pay", rule, value, limit, &rules), expected);
    }
}
