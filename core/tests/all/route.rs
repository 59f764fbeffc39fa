use wonce_core::key::KeyRule;
use wonce_core::name::HandlerName;
use wonce_core::route::{ParkReason, Pattern, PatternError, Route, Routed, Subscription, route};

use crate::events::webhook;

fn handler(name: &str, subscriptions: Vec<Subscription>) -> Route {
    Route { handler: HandlerName::parse(name).expect("a name"), subscriptions }
}

fn subscription(types: &[&str], key: &str) -> Subscription {
    Subscription {
        types: types.iter().map(|t| Pattern::parse(t).expect("a pattern")).collect(),
        key: Some(KeyRule::parse(&[key.to_owned()]).expect("a rule")),
        ..Subscription::default()
    }
}

fn summary(routed: &[Routed]) -> Vec<(String, String)> {
    let line = |routed: &Routed| match routed {
        Routed::Deliver(d) => (d.handler.to_string(), d.key.to_string()),
        Routed::Park(p) => (p.handler.to_string(), p.reason.to_string()),
    };
    routed.iter().map(line).collect()
}

#[test]
fn each_handler_gets_an_event_at_most_once_by_its_first_matching_subscription() {
    let routes = [
        handler("billing", vec![subscription(&["order.*"], "/id"), subscription(&["order.paid"], "/other")]),
        handler("mail", vec![subscription(&["user.*"], "/id"), subscription(&["*"], "/other")]),
        handler("audit", vec![subscription(&["order"], "/id")]),
    ];
    let event = webhook(r#"{"id":"a","other":"b"}"#);
    let expected = [("billing".to_owned(), "a".to_owned()), ("mail".to_owned(), "b".to_owned())];
    assert_eq!(summary(&route(&routes, &event)), expected);
}

#[test]
fn a_handler_without_a_key_parks_and_its_neighbour_delivers() {
    let routes = [
        handler("billing", vec![subscription(&[], "/gone")]),
        handler("mail", vec![subscription(&[], "/id")]),
    ];
    let routed = route(&routes, &webhook(r#"{"id":"a"}"#));
    let Routed::Park(parked) = &routed[0] else { panic!("{routed:?}") };
    assert_eq!(parked.reason, ParkReason::NoKey);
    assert!(parked.detail.contains("'billing'") && parked.detail.contains("'/gone'"), "{}", parked.detail);
    assert!(matches!(&routed[1], Routed::Deliver(d) if d.key.as_str() == "a" && d.rule == "/id"));
}

#[test]
fn a_missing_ordering_key_parks_too_and_says_which() {
    let order_by = Some(KeyRule::parse(&["/account".to_owned()]).expect("a rule"));
    let routes = [handler("billing", vec![Subscription { order_by, ..subscription(&[], "/id") }])];
    let routed = route(&routes, &webhook(r#"{"id":"a"}"#));
    assert!(
        matches!(&routed[0], Routed::Park(p) if p.detail.contains("no ordering key") && p.detail.contains("'/account'"))
    );
    let routed = route(&routes, &webhook(r#"{"id":"a","account":9}"#));
    assert!(
        matches!(&routed[0], Routed::Deliver(d) if d.ordering_key.as_ref().is_some_and(|k| k.as_str() == "[9]"))
    );
}

#[test]
fn the_source_pattern_looks_at_the_source_that_the_event_came_in_by() {
    let from = |pattern: &str| Subscription {
        sources: vec![Pattern::parse(pattern).expect("a pattern")],
        ..subscription(&[], "/id")
    };
    let mut event = webhook(r#"{"id":"a"}"#);
    event.source = "https://elsewhere.example".to_owned();
    assert!(from("shop").wants(&event) && from("sh*").wants(&event));
    assert!(!from("https*").wants(&event) && !from("sho").wants(&event));
}

#[test]
fn a_star_is_allowed_only_at_the_end() {
    assert_eq!(Pattern::parse(""), Err(PatternError::Empty));
    for text in ["*.paid", "order.*.eu", "**"] {
        assert_eq!(Pattern::parse(text), Err(PatternError::Star(text.to_owned())));
    }
    for text in ["*", "order.*", "order.paid"] {
        assert_eq!(Pattern::parse(text).expect("a pattern").to_string(), text);
    }
}
