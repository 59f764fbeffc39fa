use wonce_core::name::SourceName;

use super::{decode, decode_batch};
use crate::source::Error;

fn via() -> SourceName {
    SourceName::parse("shop").expect("valid")
}

fn refused(json: &str) -> String {
    decode(&via(), json.as_bytes()).expect_err(json).to_string()
}

/// The example of the JSON format's section 3.2, with a vendor extension of each type.
const SPEC_EXAMPLE: &str = r#"{
    "specversion" : "1.0",
    "type" : "com.example.someevent",
    "source" : "/mycontext",
    "subject": null,
    "id" : "C234-1234-1234",
    "time" : "2018-04-05T17:31:00Z",
    "comexampleextension1" : "value",
    "comexampleothervalue" : 5,
    "comexampleflag": true,
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b9c7c989f97918e1-01",
    "datacontenttype" : "application/json",
    "data" : {
        "appinfoA" : "abc",
        "appinfoB" : 123,  "appinfoC" : true
    }
}"#;

#[test]
fn the_example_of_the_specification_is_read_whole() {
    let event = decode(&via(), SPEC_EXAMPLE.as_bytes()).expect("valid");
    assert_eq!(event.via, via());
    assert_eq!(event.id.as_deref(), Some("C234-1234-1234"));
    assert_eq!(event.source, "/mycontext");
    assert_eq!(event.event_type, "com.example.someevent");
    assert_eq!(event.subject, None);
    assert_eq!(event.time.map(|t| t.0), Some(1_522_949_460_000_000));
    assert_eq!(event.content_type.as_deref(), Some("application/json"));
    assert_eq!(event.extension("comexampleextension1"), Some("value"));
    assert_eq!(event.extension("comexampleothervalue"), Some("5"));
    assert_eq!(event.extension("comexampleflag"), Some("true"));
    assert!(event.traceparent.is_some_and(|t| t.starts_with("00-0af7")));
}

#[test]
fn json_data_keeps_every_byte_of_the_request() {
    let data = "{ \"b\" : 1.0,\n  \"a\": 12345678901234567890123, \"\\u00e9\": \"\\/\" }";
    let json = format!(r#"{{"specversion":"1.0","id":"1","source":"s","type":"t","data":  {data}  }}"#);
    let event = decode(&via(), json.as_bytes()).expect("valid");
    assert_eq!(event.data, data.as_bytes());
    assert_eq!(event.content_type.as_deref(), Some("application/json"));
}

#[test]
fn text_of_another_type_is_what_the_json_string_says() {
    let json = r#"{"specversion":"1.0","id":"1","source":"s","type":"t","datacontenttype":"text/xml",
        "data":"<much wow=\"xml\"/>"}"#;
    assert_eq!(decode(&via(), json.as_bytes()).expect("valid").data, b"<much wow=\"xml\"/>");
    let json = r#"{"specversion":"1.0","id":"1","source":"s","type":"t","datacontenttype":"text/xml","data":{"a":1}}"#;
    assert!(refused(json).contains("data is no string"), "{}", refused(json));
}

#[test]
fn base64_data_are_the_bytes_they_stand_for() {
    let json = r#"{"specversion":"1.0","id":"1","source":"s","type":"t","datacontenttype":"application/octet-stream","data_base64":"AP/+"}"#;
    assert_eq!(decode(&via(), json.as_bytes()).expect("valid").data, [0, 0xff, 0xfe]);
    assert!(refused(&json.replace("AP/+", "AP_-")).contains("not base64"));
    assert!(refused(&json.replace("\"data_base64\"", "\"data\":1,\"data_base64\"")).contains("both"));
}

#[test]
fn an_event_without_data_has_an_empty_payload() {
    let json = r#"{"specversion":"1.0","id":"1","source":"s","type":"t"}"#;
    let event = decode(&via(), json.as_bytes()).expect("valid");
    assert_eq!((event.data.as_slice(), event.content_type), (&[] as &[u8], None));
}

#[test]
fn required_attributes_must_be_there_and_say_something() {
    let whole = r#"{"specversion":"1.0","id":"1","source":"s","type":"t"}"#;
    for (attribute, member) in
        [("specversion", r#""specversion":"1.0","#), ("id", r#""id":"1","#), ("source", r#""source":"s","#)]
    {
        let message = refused(&whole.replace(member, ""));
        assert!(message.contains(&format!("\"{attribute}\" is missing")), "{message}");
    }
    assert!(refused(&whole.replace(r#""id":"1""#, r#""id":"""#)).contains("\"id\" is empty"));
    assert!(refused(&whole.replace(r#""id":"1""#, r#""id":null"#)).contains("\"id\" is missing"));
    assert!(refused(&whole.replace("1.0", "0.3")).contains("specversion is \"0.3\""));
    assert!(refused(&whole.replace(r#""id":"1""#, r#""id":1"#)).contains("a number"));
}

#[test]
fn names_and_values_outside_the_specification_are_refused() {
    let with = |member: &str| format!(r#"{{"specversion":"1.0","id":"1","source":"s","type":"t",{member}}}"#);
    for (member, part) in [
        (r#""Upper":"x""#, "\"Upper\" is not the name"),
        (r#""with-dash":"x""#, "\"with-dash\" is not the name"),
        (r#""":"x""#, "is not the name"),
        (r#""ext":{"a":1}"#, "an object"),
        (r#""ext":1.5"#, "no 32-bit integer"),
        (r#""ext":2147483648"#, "no 32-bit integer"),
        (r#""subject":"a\u0000b""#, "U+0000"),
        (r#""subject":"a\nb""#, "U+000A"),
        (r#""ext":"\ud800""#, "attribute \"ext\""),
        (r#""id":"2""#, "\"id\" is given twice"),
        (r#""ext":"1","ext":"2""#, "\"ext\" is given twice"),
        (r#""data":1,"data":2"#, "\"data\" is given twice"),
        (r#""time":"yesterday""#, "RFC 3339"),
    ] {
        let message = refused(&with(member));
        assert!(message.contains(part), "{member}: {message}");
    }
}

#[test]
fn a_body_that_is_no_json_object_says_where_it_goes_wrong() {
    assert!(refused("").contains("EOF"));
    assert!(refused("[]").contains("an object"));
    assert!(refused("{\"id\": }").contains("column 8"));
    let not_utf8 = b"{\"specversion\":\"1.0\",\"id\":\"\xff\",\"source\":\"s\",\"type\":\"t\"}";
    assert!(matches!(decode(&via(), not_utf8), Err(Error::NotJson { .. })));
}

#[test]
fn a_batch_keeps_its_order_and_names_the_index_at_fault() {
    let event = |id: &str| format!(r#"{{"specversion":"1.0","id":"{id}","source":"s","type":"t"}}"#);
    let batch = format!("[{}, {}]", event("1"), event("2"));
    let events = decode_batch(&via(), batch.as_bytes(), 2).expect("valid");
    assert_eq!(events.iter().filter_map(|e| e.id.as_deref()).collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(decode_batch(&via(), b"[]", 2).expect("valid"), []);

    let fault = decode_batch(&via(), format!("[{},{}]", event("1"), event("")).as_bytes(), 2);
    assert_eq!(fault.expect_err("the second has no id").index, Some(1));
    let too_many = decode_batch(&via(), batch.as_bytes(), 1).expect_err("two are too many");
    assert_eq!((too_many.index, too_many.error), (None, Error::TooMany { events: 2, limit: 1 }));
}
