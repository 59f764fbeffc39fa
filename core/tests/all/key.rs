use proptest::prelude::*;
use wonce_core::event::Event;
use wonce_core::key::{Error, KeyError, KeyRule, native_key};
use wonce_core::payload::Payload;

use crate::events::{Tree, pointers, webhook};

fn rule(selectors: &[&str]) -> KeyRule {
    let texts: Vec<String> = selectors.iter().map(|s| (*s).to_owned()).collect();
    KeyRule::parse(&texts).expect("a rule")
}

fn key(selectors: &[&str], event: &Event) -> Result<String, KeyError> {
    let explained = rule(selectors).key_of(&Payload::of(event), &[])?;
    Ok(explained.key.as_str().to_owned())
}

fn error(selectors: &[&str], event: &Event) -> String {
    key(selectors, event).expect_err("no key").to_string()
}

#[test]
fn one_string_is_the_key_itself_and_everything_else_is_an_array_with_types() {
    let event = webhook(r#"{"id":"p-1","n":1,"s":"1","f":1.0,"b":true,"l":"[1]","o":{"x":["é\"","b"]}}"#);
    for (selectors, expected) in [
        (&["/id"][..], "p-1"),
        (&["/n"], "[1]"),
        (&["/s"], "1"),
        (&["/f"], "[1.0]"),
        (&["/b"], "[true]"),
        (&["/l"], r#"["[1]"]"#),
        (&["/id", "/n"], r#"["p-1",1]"#),
        (&["/id", "/s"], r#"["p-1","1"]"#),
        (&["/id", "/f"], r#"["p-1",1.0]"#),
        (&["/o/x/0"], "é\""),
        (&["/o/x/0", "/o/x/1"], r#"["é\"","b"]"#),
        (&["event:type", "/id"], r#"["order.paid","p-1"]"#),
    ] {
        assert_eq!(key(selectors, &event).expect("a key"), expected, "{selectors:?}");
    }
}

#[test]
fn headers_and_attributes_are_found_whatever_case_the_rule_is_written_in() {
    let mut event = webhook("no json at all");
    event.id = Some("e-1".to_owned());
    event.subject = Some("order/7".to_owned());
    event.extensions = vec![("webhook-id".to_owned(), "msg_1".to_owned())];
    assert_eq!(key(&["header:Webhook-Id"], &event).as_deref(), Ok("msg_1"));
    assert_eq!(key(&["attribute:webhook-id"], &event).as_deref(), Ok("msg_1"));
    assert_eq!(
        key(&["event:id", "event:source", "event:type", "event:subject"], &event).as_deref(),
        Ok(r#"["e-1","shop","order.paid","order/7"]"#)
    );
}

#[test]
fn an_error_names_the_selector_and_the_reason() {
    let mut event = webhook(r#"{"o":{},"a":[],"z":null,"e":"","d":1,"d":2,"x":{"y":1}}"#);
    event.extensions = vec![("twice".to_owned(), "1".to_owned()), ("twice".to_owned(), "2".to_owned())];
    for (selector, reason) in [
        ("/o", "an object"),
        ("/a", "an array"),
        ("/z", "null"),
        ("/e", "an empty string"),
        ("/d", "more than one value"),
        ("/gone", "finds nothing"),
        ("/a/0", "finds nothing"),
        ("/x/y/z", "finds nothing"),
        ("header:gone", "finds nothing"),
        ("header:twice", "more than one value"),
        ("event:id", "finds nothing"),
    ] {
        let text = error(&["event:type", selector], &event);
        assert!(text.contains(&format!("'{selector}'")) && text.contains(reason), "{selector}: {text}");
    }
    assert!(error(&["/id"], &webhook("{")).contains("needs a JSON payload"));
    let long = webhook(format!("{{\"id\":\"{}\"}}", "x".repeat(513)));
    assert!(error(&["/id"], &long).contains("513 bytes"));
    assert!(error(&["/id"], &webhook(r#"{"id":"a\u0000b"}"#)).contains("NUL"));
}

#[test]
fn without_a_rule_the_source_and_its_id_are_the_key() {
    let mut event = webhook("{}");
    event.extensions = vec![("webhook-id".to_owned(), "msg_1".to_owned())];
    let explained = native_key(&Payload::of(&event)).expect("a key");
    assert_eq!(explained.key.as_str(), r#"["shop","msg_1"]"#);
    assert_eq!(explained.rule, "default: event:source, header:webhook-id");
    event.id = Some("7".to_owned());
    let explained = native_key(&Payload::of(&event)).expect("a key");
    assert_eq!(explained.key.as_str(), r#"["shop","7"]"#);
    assert_eq!(explained.rule, "default: event:source, event:id");
}

#[test]
fn an_event_without_any_id_is_told_how_to_declare_one() {
    let text = native_key(&Payload::of(&webhook("{}"))).expect_err("no key").to_string();
    for part in ["'shop'", "key = [\"/payment_id\"]", "payload-hash"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn the_payload_hash_is_a_key_only_by_choice_and_leaves_out_what_the_hash_leaves_out() {
    let ignore = pointers(&["/sent_at"]);
    let key = |data: &str| {
        let event = webhook(data);
        rule(&["payload-hash"]).key_of(&Payload::of(&event), &ignore).expect("a key")
    };
    assert_eq!(key(r#"{"a":1,"sent_at":1}"#), key(r#"{"sent_at":2,"a":1}"#));
    assert_ne!(key(r#"{"a":1}"#).key, key(r#"{"a":2}"#).key);
    assert!(key("{}").key.as_str().starts_with("sha256:"));
}

#[test]
fn what_is_no_rule_is_refused_with_the_forms_that_are() {
    let parse = |texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(|s| (*s).to_owned()).collect();
        KeyRule::parse(&texts).expect_err("no rule")
    };
    assert_eq!(parse(&[]), Error::NoSelectors);
    assert_eq!(parse(&["/a"; 9]), Error::TooMany { count: 9 });
    for text in ["", "payment_id", "event:time", "body:/a", "$.a", " /a"] {
        assert!(matches!(parse(&[text]), Error::Unknown(_)), "{text}");
    }
    assert!(matches!(parse(&["header:"]), Error::NoName(_)));
    assert!(matches!(parse(&["/a~2"]), Error::Pointer(_)));
    assert!(matches!(parse(&["/a~"]), Error::Pointer(_)));
}

#[test]
fn pointers_reach_names_with_slashes_tildes_and_nothing() {
    let event = webhook(r#"{"a/b":"1","m~n":"2","":"3","0":"4","l":["5"]}"#);
    for (pointer, expected) in [("/a~1b", "1"), ("/m~0n", "2"), ("/", "3"), ("/0", "4"), ("/l/0", "5")] {
        assert_eq!(key(&[pointer], &event).as_deref(), Ok(expected), "{pointer}");
    }
    for pointer in ["/l/00", "/l/-", "/l/+0", "/l/1"] {
        assert!(key(&[pointer], &event).is_err(), "{pointer}");
    }
}

fn scalars() -> impl Strategy<Value = Tree> {
    prop_oneof![
        prop::sample::select(vec!["true", "false", "1.0", "1e0", "-0"]).prop_map(Tree::Literal),
        any::<i64>().prop_map(Tree::Number),
        "[\\[\\],\"\\\\0-9a-c ]{1,6}".prop_map(Tree::Text),
        "[^\\x00]{1,6}".prop_map(Tree::Text),
    ]
}

proptest! {
    #[test]
    fn two_selections_have_two_keys(
        one in prop::collection::vec(scalars(), 1..4),
        other in prop::collection::vec(scalars(), 1..4),
    ) {
        prop_assume!(one != other);
        let key_of = |values: &[Tree]| {
            let selectors: Vec<String> = (0..values.len()).map(|i| format!("/{i}")).collect();
            let event = webhook(Tree::Array(values.to_vec()).compact());
            let rule = KeyRule::parse(&selectors).expect("a rule");
            rule.key_of(&Payload::of(&event), &[]).expect("a key").key
        };
        prop_assert_ne!(key_of(&one), key_of(&other));
    }

    #[test]
    fn arbitrary_rules_and_payloads_never_panic(
        texts in prop::collection::vec("(/|header:|event:)?.{0,8}", 0..4),
        data in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        if let Ok(rule) = KeyRule::parse(&texts) {
            let event = webhook(data);
            let _ = rule.key_of(&Payload::of(&event), &[]);
        }
    }
}
