use axum::http::{HeaderMap, HeaderName, HeaderValue};
use wonce_core::event::Event;
use wonce_core::name::SourceName;

use super::{decode, is_binary};
use crate::source::Error;

const REQUIRED: &[(&str, &[u8])] = &[
    ("ce-specversion", b"1.0"),
    ("ce-type", b"com.example.someevent"),
    ("ce-source", b"/mycontext"),
    ("ce-id", b"1234-1234-1234"),
];

fn decoded(more: &[(&str, &[u8])], body: &[u8]) -> Result<Event, Error> {
    let mut headers = HeaderMap::new();
    for (name, value) in REQUIRED.iter().chain(more) {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a header's name");
        headers.append(name, HeaderValue::from_bytes(value).expect("a header's value"));
    }
    assert!(is_binary(&headers));
    decode(&SourceName::parse("shop").expect("valid"), &headers, body.to_vec())
}

#[test]
fn attributes_are_headers_and_the_body_is_the_payload() {
    let more: &[(&str, &[u8])] = &[
        ("ce-time", b"2018-04-05T03:56:24Z"),
        ("CE-ComExample", b"x"),
        ("content-type", b"application/xml; charset=utf-8"),
        ("user-agent", b"curl"),
    ];
    let event = decoded(more, b"\xff\x00<xml/>").expect("valid");
    assert_eq!(event.id.as_deref(), Some("1234-1234-1234"));
    assert_eq!(event.content_type.as_deref(), Some("application/xml; charset=utf-8"));
    assert_eq!(event.extensions, [("comexample".to_owned(), "x".to_owned())]);
    assert_eq!(event.data, b"\xff\x00<xml/>");
    assert_eq!(decoded(&[], b"").expect("an empty body is a payload too").data, b"");
}

#[test]
fn values_are_unquoted_and_then_percent_decoded_once() {
    let subject = |value: &[u8]| decoded(&[("ce-subject", value)], b"").expect("valid").subject;
    assert_eq!(subject(b"Euro%20%E2%82%AC%20%F0%9F%98%80").as_deref(), Some("Euro € 😀"));
    assert_eq!(subject(br#""a \"quoted\" b""#).as_deref(), Some("a \"quoted\" b"));
    assert_eq!(subject(b"%2525").as_deref(), Some("%25"));
    assert_eq!(subject(b"100% of %zz%4").as_deref(), Some("100% of %zz%4"));
    assert_eq!(subject("schön".as_bytes()).as_deref(), Some("schön"));
}

#[test]
fn what_is_no_text_after_decoding_is_refused() {
    let refused = |name: &str, value: &[u8]| decoded(&[(name, value)], b"").expect_err("refused").to_string();
    assert!(refused("ce-subject", b"%FF").contains("\"ce-subject\" is not valid UTF-8"));
    assert!(refused("ce-subject", b"a%00b").contains("U+0000"));
    assert!(refused("ce-subject", b"").contains("\"subject\" is empty"));
    assert!(refused("ce-my-name", b"x").contains("\"my-name\" is not the name"));
    assert!(refused("ce-id", b"other").contains("given twice"));
    assert!(refused("ce-datacontenttype", b"text/plain").contains("Content-Type"));
    assert!(refused("ce-data", b"x").contains("\"data\" is not the name"));
    assert!(refused("ce-subject", &[b'x'; 10_000]).contains("10000 bytes"));
}

#[test]
fn a_missing_attribute_is_named() {
    let mut headers = HeaderMap::new();
    headers.insert("ce-specversion", HeaderValue::from_static("1.0"));
    headers.insert("ce-id", HeaderValue::from_static("1"));
    headers.insert("ce-source", HeaderValue::from_static("s"));
    let via = SourceName::parse("shop").expect("valid");
    assert_eq!(decode(&via, &headers, Vec::new()), Err(Error::MissingAttribute { name: "type" }));
}
