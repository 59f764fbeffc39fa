use wonce_core::event::Event;
use wonce_core::key::KeyRule;
use wonce_core::name::{HandlerName, SourceName};
use wonce_core::route::{ParkReason, Pattern, Route, Subscription};

use super::{Unfit, heard, unheard};
use crate::pipeline::intake::{RoutedHandler, Routes, Unrouted};

fn handler(id: i64, name: &str, types: &str, key: Option<&str>) -> RoutedHandler {
    let key = key.map(|text| KeyRule::parse(&[text.to_owned()]).expect("a rule"));
    let types = vec![Pattern::parse(types).expect("a pattern")];
    let subscription = Subscription { types, key, ..Subscription::default() };
    let handler = HandlerName::parse(name).expect("a name");
    RoutedHandler { id, route: Route { handler, subscriptions: vec![subscription] } }
}

fn event(id: Option<&str>) -> Event {
    Event {
        via: SourceName::parse("shop").expect("valid"),
        id: id.map(str::to_owned),
        source: "s".to_owned(),
        event_type: "order.paid".to_owned(),
        subject: None,
        time: None,
        content_type: None,
        data_schema: None,
        traceparent: None,
        extensions: Vec::new(),
        data: br#"{"order": "7"}"#.to_vec(),
    }
}

#[test]
fn each_handler_that_wants_the_event_gets_it_under_its_own_key() {
    let routes = Routes::new(vec![
        handler(1, "pay", "order.*", None),
        handler(2, "ship", "order.paid", Some("/order")),
        handler(3, "mail", "invoice.*", None),
    ]);
    let plan = heard(&routes.current(), event(Some("e1")), Unrouted::Reject).expect("two want it");
    let keys: Vec<(i64, &str)> = plan.deliveries.iter().map(|d| (d.recipient.id, d.key.as_str())).collect();
    assert_eq!(keys, [(1, r#"["s","e1"]"#), (2, "7")]);
    assert!(plan.parked.is_empty());
}

#[test]
fn one_handler_without_a_key_is_parked_beside_the_others() {
    let routes =
        Routes::new(vec![handler(1, "pay", "order.*", None), handler(2, "ship", "order.*", Some("/order"))]);
    let plan = heard(&routes.current(), event(None), Unrouted::Reject).expect("one can take it");
    assert_eq!((plan.deliveries.len(), plan.parked.len()), (1, 1));
    assert_eq!(plan.parked[0].reason, ParkReason::NoKey);
    assert_eq!(plan.parked[0].recipient.as_ref().map(|r| r.id), Some(1));
}

#[test]
fn without_any_key_a_sender_keeps_the_event_and_otherwise_it_is_parked() {
    let routes = Routes::new(vec![handler(1, "pay", "order.*", None)]);
    let unfit = heard(&routes.current(), event(None), Unrouted::Ignore).expect_err("no key");
    assert!(matches!(unfit, Unfit::NoKey { reasons } if reasons[0].contains("key = ")));
    let plan = unheard(&routes.current(), event(None), Unrouted::Ignore);
    assert_eq!(plan.parked[0].reason, ParkReason::NoKey);
}

#[test]
fn an_event_that_nobody_wants_follows_the_policy() {
    let table = Routes::default().current();
    assert!(matches!(heard(&table, event(None), Unrouted::Reject), Err(Unfit::Unrouted { .. })));
    assert!(heard(&table, event(None), Unrouted::Ignore).expect("ignored").is_empty());
    assert!(unheard(&table, event(None), Unrouted::Ignore).is_empty());
    let parked = [
        heard(&table, event(None), Unrouted::Park).expect("parked"),
        unheard(&table, event(None), Unrouted::Park),
        unheard(&table, event(None), Unrouted::Reject),
    ];
    for plan in parked {
        assert_eq!(plan.parked[0].reason, ParkReason::Unroutable);
        assert_eq!(plan.parked[0].recipient, None);
    }
}

#[test]
fn replaced_routes_are_seen_through_every_clone() {
    let routes = Routes::default();
    let clone = routes.clone();
    routes.replace(vec![handler(1, "pay", "*", None)]);
    assert_eq!(unheard(&clone.current(), event(Some("e")), Unrouted::Reject).deliveries.len(), 1);
}
