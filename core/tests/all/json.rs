use proptest::prelude::*;
use wonce_core::json::{Document, Error, Json, MAX_DEPTH, Members};

use crate::events::trees;

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

#[test]
fn nesting_is_read_down_to_the_limit_and_refused_below_it() {
    assert!(Document::read(nested(MAX_DEPTH).as_bytes()).is_ok());
    let deeper = nested(MAX_DEPTH + 1);
    assert!(matches!(Document::read(deeper.as_bytes()), Err(Error::TooDeep { .. })));
    assert!(serde_json::from_str::<serde_json::Value>(&nested(MAX_DEPTH)).is_ok());
    assert!(serde_json::from_str::<serde_json::Value>(&deeper).is_err());
    assert!(Document::read("[".repeat(1_000_000).as_bytes()).is_err());
}

#[test]
fn a_payload_cannot_forge_a_number_with_the_magic_member_of_serde_json() {
    let forged = br#"{"$serde_json::private::Number":"1"}"#;
    let document = Document::read(forged).expect("it is JSON");
    assert!(matches!(document.root, Json::Object(_)));
}

#[test]
fn a_repeated_member_is_noticed_at_any_level_and_in_any_spelling() {
    let read = |text: &'static str| Document::read(text.as_bytes()).expect("it is JSON").members;
    assert_eq!(read(r#"{"a":1,"b":{"a":1}}"#), Members::Unique);
    assert_eq!(read(r#"{"a":1,"a":1}"#), Members::Repeated);
    assert_eq!(read(r#"[{"x":{"a":1,"b":2,"\u0061":3}}]"#), Members::Repeated);
}

#[test]
fn what_no_reader_should_accept_is_refused() {
    for text in [
        "",
        " ",
        "01",
        "1.",
        ".5",
        "-",
        "+1",
        "1e",
        "1e+",
        "tru",
        "nulls",
        "[1,]",
        "[,]",
        "{\"a\"}",
        "{a:1}",
        "{\"a\":1,}",
        "\"\n\"",
        "\"\\x\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\\u12g4\"",
        "\"",
        "'a'",
        "1 2",
        "\u{feff}1",
        "NaN",
        "[1",
        "\"\\u00",
        "\"\\ud800\\",
        "// c\n1",
    ] {
        assert!(Document::read(text.as_bytes()).is_err(), "{text:?} was read");
    }
    assert_eq!(Document::read(b"\"a\xff\""), Err(Error::Utf8 { at: 2 }));
}

proptest! {
    #[test]
    fn it_accepts_exactly_what_serde_json_accepts(text in r#"[\[\]{}:,"\\u0d8ceE1.+\- atruflsn\n]{0,24}"#) {
        let strict = Document::read(text.as_bytes()).is_ok();
        prop_assert_eq!(strict, serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
    }

    #[test]
    fn both_spellings_of_a_value_read_the_same(tree in trees()) {
        let (compact, respelled) = (tree.compact(), tree.respelled());
        let compact = Document::read(compact.as_bytes()).expect("compact is JSON");
        let respelled = Document::read(respelled.as_bytes()).expect("respelled is JSON");
        prop_assert_eq!(compact, respelled);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Document::read(&bytes);
    }
}
