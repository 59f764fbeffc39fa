use axum::http::{HeaderMap, HeaderName, HeaderValue};
use wonce_core::event::Event;
use wonce_core::name::SourceName;
use wonce_core::pointer::Pointer;

use super::{KeptHeaders, Place, TypeRule, Webhook, decode};
use crate::source::Error;

fn pointer(text: &str) -> Place {
    Place::Pointer(Pointer::parse(text).expect("a pointer"))
}

fn header(name: &str) -> Place {
    Place::Header(name.to_owned())
}

fn webhook(event_type: TypeRule, id: Option<Place>) -> Webhook {
    let keep_headers = KeptHeaders::default();
    keep_headers.replace(["x-shop".to_owned()].into());
    Webhook { event_type, id, keep_headers }
}

fn decoded(rules: &Webhook, headers: &[(&str, &str)], body: &[u8]) -> Result<Event, Error> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a header's name");
        map.append(name, HeaderValue::from_str(value).expect("a header's value"));
    }
    decode(rules, &SourceName::parse("github").expect("valid"), &map, body.to_vec())
}

#[test]
fn type_and_id_are_found_where_the_rules_say() {
    let rules = webhook(TypeRule::At(header("x-github-event")), Some(pointer("/delivery/id")));
    let headers = [("x-github-event", "push"), ("x-shop", "7"), ("authorization", "secret")];
    let event = decoded(&rules, &headers, br#"{"delivery": {"id": 42}}"#).expect("valid");
    assert_eq!((event.event_type.as_str(), event.id.as_deref()), ("push", Some("42")));
    assert_eq!(
        (event.source.as_str(), event.data.as_slice()),
        ("github", br#"{"delivery": {"id": 42}}"# as &[u8])
    );
    assert_eq!(event.extensions, [("x-shop".to_owned(), "7".to_owned())]);

    let rules = webhook(TypeRule::At(pointer("/type")), None);
    let headers = [("webhook-id", "msg_1"), ("content-type", "application/json")];
    let event = decoded(&rules, &headers, br#"{"type": "invoice.paid"}"#).expect("valid");
    assert_eq!((event.event_type.as_str(), event.id.as_deref()), ("invoice.paid", Some("msg_1")));
    assert_eq!(event.content_type.as_deref(), Some("application/json"));
}

#[test]
fn a_literal_type_takes_any_body() {
    let rules = webhook(TypeRule::Literal("sms.received".to_owned()), None);
    let event = decoded(&rules, &[], b"\xff\x00 not json").expect("valid");
    assert_eq!((event.event_type.as_str(), event.id), ("sms.received", None));
    assert_eq!(event.data, b"\xff\x00 not json");
    assert_eq!(decoded(&rules, &[], b"").expect("valid").data, b"");
}

#[test]
fn a_rule_that_finds_nothing_says_which_and_why() {
    let refused = |rules: &Webhook, headers: &[(&str, &str)], body: &[u8]| {
        decoded(rules, headers, body).expect_err("refused").to_string()
    };
    let by_header = webhook(TypeRule::At(header("x-event")), None);
    assert!(refused(&by_header, &[], b"").contains("header \"x-event\""));
    let twice = [("x-event", "a"), ("x-event", "b")];
    assert!(refused(&by_header, &twice, b"").contains("given twice"));

    let by_pointer = webhook(TypeRule::At(pointer("/type")), None);
    assert!(refused(&by_pointer, &[], b"{}").contains("JSON pointer \"/type\""));
    assert!(refused(&by_pointer, &[], b"").contains("not JSON"));
    assert!(refused(&by_pointer, &[], br#"{"type":{}}"#).contains("an object"));
    assert!(refused(&by_pointer, &[], br#"{"type":"a","type":"b"}"#).contains("there twice"));
    assert!(refused(&by_pointer, &[], br#"{"type":"a\u0000b"}"#).contains("U+0000"));
    assert!(refused(&by_pointer, &[], br#"{"type":""}"#).contains("empty"));

    let by_id = webhook(TypeRule::Literal("t".to_owned()), Some(pointer("/id")));
    let headers = [("webhook-id", "not asked for")];
    assert!(refused(&by_id, &headers, b"{}").contains("the id from JSON pointer \"/id\""));
}
