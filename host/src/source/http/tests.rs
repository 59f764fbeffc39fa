//! The door for events as its senders see it, in front of a door that only takes notes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;
use wonce_api::receipt::{DeliveryReceipt, EventReceipt, Verdict};
use wonce_core::event::Event;
use wonce_core::name::SourceName;

use super::{HttpSettings, router};
use crate::source::webhook::{Place, TypeRule, Webhook};
use crate::source::{Door, NotAccepted};

/// Notes what arrives and answers all of it the same.
struct Notes {
    arrived: Mutex<Vec<Event>>,
    answer: Result<Verdict, NotAccepted>,
}

#[async_trait]
impl Door for Notes {
    async fn accept(&self, events: Vec<Event>) -> Result<Vec<EventReceipt>, NotAccepted> {
        let verdict = self.answer.clone()?;
        let delivery = DeliveryReceipt {
            handler: Some("pay".to_owned()),
            key: Some("k".to_owned()),
            verdict,
            reason: None,
        };
        let receipts = events.iter().map(|_| EventReceipt { deliveries: vec![delivery.clone()] }).collect();
        self.arrived.lock().expect("no panic before").extend(events);
        Ok(receipts)
    }
}

struct Answer {
    status: StatusCode,
    retry_after: Option<String>,
    content_type: String,
    json: Value,
    arrived: Vec<Event>,
}

fn settings() -> HttpSettings {
    let type_rule = TypeRule::At(Place::Header("x-event".to_owned()));
    let webhook = Webhook { event_type: type_rule, id: None, keep_headers: Default::default() };
    HttpSettings {
        sources: [(SourceName::parse("hooks").expect("valid"), webhook)].into(),
        max_event_bytes: 100,
        max_batch_bytes: 300,
        body_timeout: Duration::from_millis(10),
        ..HttpSettings::default()
    }
}

async fn answered(answer: Result<Verdict, NotAccepted>, request: Request<Body>) -> Answer {
    let notes = Arc::new(Notes { arrived: Mutex::new(Vec::new()), answer });
    let door: Arc<dyn Door> = Arc::clone(&notes) as Arc<dyn Door>;
    let response = router(door, settings()).oneshot(request).await.expect("infallible");
    let header = |name| response.headers().get(name).map(|v| v.to_str().expect("text").to_owned());
    let (retry_after, content_type) = (header("retry-after"), header("content-type").unwrap_or_default());
    let status = response.status();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    let json = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let arrived = notes.arrived.lock().expect("no panic before").clone();
    Answer { status, retry_after, content_type, json, arrived }
}

fn post(path: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Request<Body> {
    let builder = Request::post(path);
    let builder = headers.iter().fold(builder, |builder, (name, value)| builder.header(*name, *value));
    builder.body(body.into()).expect("a request")
}

fn binary(body: impl Into<Body>) -> Request<Body> {
    let headers = [
        ("ce-specversion", "1.0"),
        ("ce-id", "1"),
        ("ce-source", "s"),
        ("ce-type", "t"),
        ("traceparent", "00-1"),
    ];
    post("/events/shop", &headers, body)
}

fn batch(body: &str) -> Request<Body> {
    post("/events/shop", &[("content-type", "application/cloudevents-batch+json")], body.to_owned())
}

fn detail(answer: &Answer) -> &str {
    assert_eq!(answer.content_type, "application/problem+json");
    assert_eq!(answer.json["status"].to_string(), answer.status.as_u16().to_string());
    answer.json["detail"].as_str().expect("a detail")
}

#[tokio::test]
async fn an_accepted_event_is_answered_with_its_receipt() {
    let answer = answered(Ok(Verdict::Accepted), binary("hello")).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED);
    assert_eq!(answer.json["deliveries"][0]["verdict"], "accepted");
    assert_eq!(answer.json["deliveries"][0]["handler"], "pay");
    assert_eq!(answer.arrived[0].data, b"hello");
    assert_eq!(answer.arrived[0].traceparent.as_deref(), Some("00-1"));
}

#[tokio::test]
async fn a_batch_is_answered_with_one_receipt_an_event() {
    let event = r#"{"specversion":"1.0","id":"1","source":"s","type":"t"}"#;
    let answer = answered(Ok(Verdict::KeyConflict), batch(&format!("[{event},{event}]"))).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED);
    assert_eq!(answer.json.as_array().map(Vec::len), Some(2));
    assert_eq!(answered(Ok(Verdict::Accepted), batch("[]")).await.json, serde_json::json!([]));
}

#[tokio::test]
async fn a_batch_with_a_fault_names_its_index_and_nothing_of_it_arrives() {
    let event = r#"{"specversion":"1.0","id":"1","source":"s","type":"t"}"#;
    let answer = answered(Ok(Verdict::Accepted), batch(&format!("[{event},{{}}]"))).await;
    assert_eq!((answer.status, &answer.json["index"]), (StatusCode::BAD_REQUEST, &serde_json::json!(1)));
    assert_eq!(answer.arrived, []);
    let large = format!(
        r#"[{event},{{"specversion":"1.0","id":"2","source":"s","type":"t","data":"{}"}}]"#,
        "x".repeat(101)
    );
    let answer = answered(Ok(Verdict::Accepted), batch(&large)).await;
    assert_eq!(
        (answer.status, &answer.json["index"]),
        (StatusCode::PAYLOAD_TOO_LARGE, &serde_json::json!(1))
    );
}

#[tokio::test]
async fn a_key_conflict_is_a_409_that_lists_the_deliveries() {
    let answer = answered(Ok(Verdict::KeyConflict), binary("other")).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    assert!(detail(&answer).contains("handler \"pay\" key \"k\""));
    assert_eq!(answer.json["type"], "urn:wonce:problem:key-conflict");
    assert_eq!(answer.json["instance"], "/events/shop");
    assert_eq!(answer.json["deliveries"][0]["verdict"], "key_conflict");
}

#[tokio::test]
async fn each_reason_not_to_accept_has_its_status() {
    let retry_after = Duration::from_secs(7);
    let no_key = NotAccepted::NoKey { index: 0, reasons: vec!["declare key = [...]".to_owned()] };
    let unrouted = NotAccepted::Unrouted { index: 0, event_type: "t".to_owned(), via: "shop".to_owned() };
    for (reason, status, waits) in [
        (no_key, 422, None),
        (unrouted, 404, None),
        (NotAccepted::Busy { waiting: 9, retry_after }, 429, Some("7")),
        (NotAccepted::Unavailable { retry_after }, 503, Some("7")),
        (NotAccepted::Stopping { retry_after }, 503, Some("7")),
        (NotAccepted::Failed { reason: "no".to_owned() }, 500, None),
    ] {
        let text = reason.to_string();
        let answer = answered(Err(reason), binary("x")).await;
        assert_eq!((answer.status.as_u16(), answer.retry_after.as_deref()), (status, waits), "{text}");
        assert_eq!(detail(&answer), text);
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_while_it_streams() {
    let endless = futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>("0123456789"));
    let answer = answered(Ok(Verdict::Accepted), binary(Body::from_stream(endless))).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(detail(&answer).contains("http.max_event_bytes"));
    assert_eq!(answer.arrived, []);
    let exact = answered(Ok(Verdict::Accepted), binary("x".repeat(100))).await;
    assert_eq!(exact.status, StatusCode::ACCEPTED);
    let declared = Request::from_parts(
        post("/events/hooks", &[("x-event", "t"), ("content-length", "101")], "").into_parts().0,
        Body::from("x".repeat(101)),
    );
    assert_eq!(answered(Ok(Verdict::Accepted), declared).await.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_body_that_never_comes_is_given_up() {
    let silent = futures_util::stream::pending::<Result<&str, std::io::Error>>();
    let answer = answered(Ok(Verdict::Accepted), binary(Body::from_stream(silent))).await;
    assert_eq!(answer.status, StatusCode::REQUEST_TIMEOUT);
}

#[tokio::test]
async fn a_plain_request_to_an_undeclared_source_hears_how_to_declare_it() {
    let answer = answered(Ok(Verdict::Accepted), post("/events/shop", &[], "{}")).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(detail(&answer).contains("[sources.shop]"));
    let declared = answered(Ok(Verdict::Accepted), post("/events/hooks", &[("x-event", "t")], "{}")).await;
    assert_eq!((declared.status, declared.arrived[0].event_type.as_str()), (StatusCode::ACCEPTED, "t"));
}

#[tokio::test]
async fn forms_that_wonce_does_not_read_are_refused_as_such() {
    for headers in [
        [("content-type", "application/cloudevents+avro"), ("x-event", "t")],
        [("content-type", "application/cloudevents"), ("x-event", "t")],
        [("content-type", "application/cloudevents+json; charset=utf-16"), ("x-event", "t")],
        [("content-encoding", "gzip"), ("x-event", "t")],
    ] {
        let answer = answered(Ok(Verdict::Accepted), post("/events/hooks", &headers, "{}")).await;
        assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{headers:?}");
    }
    let upper = [("content-type", "Application/CloudEvents+JSON; charset=\"UTF-8\"")];
    let event = r#"{"specversion":"1.0","id":"1","source":"s","type":"t"}"#;
    let answer = answered(Ok(Verdict::Accepted), post("/events/shop", &upper, event)).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn other_methods_and_paths_hear_what_to_do() {
    for method in ["GET", "PUT", "DELETE"] {
        let request = Request::builder().method(method).uri("/events/shop").body(Body::empty());
        let answer = answered(Ok(Verdict::Accepted), request.expect("a request")).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert!(detail(&answer).contains("POST"));
    }
    for path in ["/events", "/events/", "/events/Not%20A%20Name"] {
        let answer = answered(Ok(Verdict::Accepted), post(path, &[], "")).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert!(detail(&answer).contains("/events/<source>"));
    }
}
