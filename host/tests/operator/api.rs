//! The admin API: its guards, its documents and its refusals.

use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;
use wonce_core::event::Event;
use wonce_core::name::{HandlerName, Key};
use wonce_host::admin::parked::{ParkedDelivery, ParkedError, ParkedVerdict};
use wonce_host::admin::{
    AdminSettings, AdminState, AdminToken, Door, ParkedReplay, Readiness, Ready, router,
};
use wonce_host::live::{About, Hub, Logs};
use wonce_host::telemetry::logs::tail::TAIL;

use crate::world::World;

pub(crate) struct Always(pub(crate) Ready);

#[async_trait]
impl Readiness for Always {
    async fn ready(&self) -> Ready {
        self.0.clone()
    }
}

pub(crate) fn state(world: &World, token: Option<&str>) -> AdminState {
    AdminState {
        store: world.store.clone(),
        settings: AdminSettings {
            token: token.map(AdminToken::new),
            door: Door::Tcp(SocketAddr::from(([127, 0, 0, 1], 8081))),
        },
        readiness: Arc::new(Always(Ready::Ready)),
        metrics: Arc::new(|| "wonce_up 1\n".to_owned()),
        live: Hub::new(About { boot: "b".to_owned(), name: "h".to_owned(), database: "d".to_owned() }),
        logs: Arc::new(Logs::new(&TAIL)),
        parked: None,
        plugins: None,
    }
}

pub(crate) async fn ask(router: &Router, request: Request<Body>) -> (StatusCode, String, Value) {
    let response = router.clone().oneshot(request).await.expect("infallible");
    let status = response.status();
    let kind = response
        .headers()
        .get("content-type")
        .map(|v| v.to_str().expect("it works").to_owned())
        .unwrap_or_default();
    let bytes = response.into_body().collect().await.expect("a body").to_bytes();
    (status, kind, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

pub(crate) fn get(path: &str) -> Request<Body> {
    Request::get(path).header("host", "localhost:8081").body(Body::empty()).expect("a request")
}

pub(crate) fn post(path: &str, body: &str) -> Request<Body> {
    Request::post(path)
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .body(Body::from(body.to_owned()))
        .expect("a request")
}

pub(crate) async fn refused(router: &Router, request: Request<Body>, status: u16, word: &str, says: &str) {
    let path = request.uri().path().to_owned();
    let (found, kind, problem) = ask(router, request).await;
    assert_eq!(found.as_u16(), status, "{problem}");
    assert_eq!(kind, "application/problem+json");
    assert_eq!(problem["type"], format!("urn:wonce:problem:{word}"));
    assert_eq!(problem["status"].to_string(), status.to_string());
    assert_eq!(problem["instance"], path);
    let detail = problem["detail"].as_str().expect("a detail");
    assert!(detail.contains(says), "{detail}");
}

#[tokio::test]
async fn with_a_token_only_its_bearer_comes_in() {
    let world = World::new().await;
    let router = router(state(&world, Some("correct horse battery")));
    let bearing = |token: &str| {
        let value = format!("Bearer {token}");
        let request = Request::get("/v1/status").header("host", "wonce.example");
        request.header("authorization", value).body(Body::empty()).expect("a request")
    };
    assert_eq!(ask(&router, bearing("correct horse battery")).await.0, StatusCode::OK);
    refused(&router, bearing("wrong"), 401, "unauthorized", "WONCE_TOKEN").await;
    refused(&router, get("/v1/status"), 401, "unauthorized", "bears none").await;
    refused(&router, get("/metrics"), 401, "unauthorized", "bears none").await;
    refused(&router, get("/v1/nothing"), 401, "unauthorized", "bears none").await;
    assert_eq!(ask(&router, get("/healthz")).await.0, StatusCode::OK);
    world.close().await;
}

#[tokio::test]
async fn web_pages_stay_outside() {
    let world = World::new().await;
    let router = router(state(&world, None));
    let rebound =
        Request::get("/v1/status").header("host", "evil.example").body(Body::empty()).expect("it works");
    refused(&router, rebound, 403, "unknown-host", "evil.example").await;
    let nameless = Request::get("/v1/status").body(Body::empty()).expect("it works");
    refused(&router, nameless, 403, "unknown-host", "localhost").await;
    let form = Request::post("/v1/handlers/pay/pause").header("host", "localhost");
    let form = form.header("content-type", "text/plain").body(Body::from("{}")).expect("it works");
    refused(&router, form, 415, "not-json", "content-type").await;
    world.close().await;
}

#[tokio::test]
async fn what_cannot_be_done_is_refused_with_a_next_step() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"1").await;
    world.accept(pay, "a", None, b"2").await;
    let conflict = world.letter("a", "key_conflict").await;
    let router = router(state(&world, None));
    let replay = format!("/v1/dead-letters/{conflict}/replay");
    refused(&router, get("/v1/nothing"), 404, "not-found", "/v1/status").await;
    refused(&router, post("/v1/status", "{}"), 405, "method-not-allowed", "reads are GET").await;
    refused(&router, get("/v1/handlers/Bad%20Name"), 400, "bad-request", "lower-case").await;
    refused(&router, get("/v1/handlers/nobody"), 404, "not-found", "wonce handler list").await;
    refused(&router, get("/v1/events/pay"), 400, "bad-request", "?key=").await;
    refused(&router, get("/v1/events/pay?key=%00"), 400, "bad-request", "NUL").await;
    refused(&router, get("/v1/events/pay?key=zz"), 404, "not-found", "byte for byte").await;
    refused(&router, get("/v1/dead-letters/x"), 400, "bad-request", "ids are numbers").await;
    refused(&router, get("/v1/dead-letters/999"), 404, "not-found", "--state any").await;
    refused(&router, get("/v1/dead-letters?limit=0"), 400, "bad-request", "1000").await;
    refused(&router, get("/v1/dead-letters?state=lost"), 400, "bad-request", "discarded").await;
    refused(&router, get("/v1/dead-letters?reason=x"), 400, "bad-request", "key_conflict").await;
    refused(&router, post(&replay, "{"), 400, "bad-request", "body").await;
    refused(&router, post(&replay, "{\"keyy\":1}"), 400, "bad-request", "keyy").await;
    refused(&router, post(&replay, ""), 422, "needs-key", "--key").await;
    let discard = format!("/v1/dead-letters/{conflict}/discard");
    refused(&router, post(&discard, "{\"reason\":\" \"}"), 400, "bad-request", "--reason").await;
    refused(&router, post(&discard, &"x".repeat(70_000)), 413, "too-large", "65536").await;
    world.close().await;
}

#[tokio::test]
async fn the_verbs_work_over_http() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a b&c/ü", None, b"1").await;
    world.dies(pay, "a b&c/ü").await;
    let letter = world.letter("a b&c/ü", "delivery").await;
    let router = router(state(&world, None));
    let (_, _, timeline) = ask(&router, get("/v1/events/pay?key=a%20b%26c%2F%C3%BC")).await;
    assert_eq!(timeline["standing"], "dead");
    let (_, _, list) = ask(&router, get("/v1/dead-letters?handler=pay&reason=permanent")).await;
    assert_eq!(
        (list["total"].to_string().as_str(), list["dead_letters"][0]["key"].as_str()),
        ("1", Some("a b&c/ü"))
    );
    let (status, _, replayed) =
        ask(&router, post(&format!("/v1/dead-letters/{letter}/replay"), "{\"actor\":\"ada\"}")).await;
    assert_eq!((status, replayed["deliveries"][0]["verdict"].as_str()), (StatusCode::OK, Some("accepted")));
    let again = post(&format!("/v1/dead-letters/{letter}/replay"), "{}");
    refused(&router, again, 409, "already-replayed", "happens once").await;
    let (_, _, paused) = ask(&router, post("/v1/handlers/pay/pause", "{\"reason\":\"rest\"}")).await;
    assert_eq!((paused["state"].as_str(), paused["changed"].as_bool()), (Some("paused"), Some(true)));
    let (_, _, verified) = ask(&router, get("/v1/verify")).await;
    assert_eq!(verified["holds"], true);
    world.close().await;
}

#[tokio::test]
async fn a_page_of_dead_letters_leads_to_the_next() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    for key in ["a", "b", "c"] {
        world.accept(pay, key, None, b"1").await;
        world.dies(pay, key).await;
    }
    let router = router(state(&world, None));
    let (_, _, first) = ask(&router, get("/v1/dead-letters?limit=2")).await;
    assert_eq!(first["dead_letters"].as_array().expect("it works").len(), 2);
    let before = first["next_before"].to_string();
    let (_, _, last) = ask(&router, get(&format!("/v1/dead-letters?limit=2&before={before}"))).await;
    assert_eq!((last["dead_letters"][0]["key"].as_str(), last["next_before"].is_null()), (Some("a"), true));
    world.close().await;
}

pub(crate) struct RoutesAll;

#[async_trait]
impl ParkedReplay for RoutesAll {
    async fn replay(&self, event: Event) -> Result<Vec<ParkedDelivery>, ParkedError> {
        if event.id.is_none() {
            return Err(ParkedError::StillParked { reason: "no rule gives a key".to_owned() });
        }
        let handler = HandlerName::parse("pay").expect("a name");
        let key = Key::parse(event.id.expect("checked")).expect("a key");
        Ok(vec![ParkedDelivery { handler, key, verdict: ParkedVerdict::Accepted }])
    }
}

#[tokio::test]
async fn a_parked_event_is_replayed_by_the_intake_only() {
    let world = World::new().await;
    let park = "INSERT INTO wonce.dead_letter (kind, reason, code, message, fingerprint, accepted_at, first_failed_at,
                    last_failed_at, via, event_id, source, event_type, event_time, data)
                VALUES ('parked', 'unroutable', 'c', 'm', 'f', now(), now(), now(), 'web', $1, 's', 't', now(), 'x')
                RETURNING id";
    let client = world.client().await;
    let known: i64 = client.query_one(park, &[&Some("e-1")]).await.expect("it works").get(0);
    let nameless: i64 = client.query_one(park, &[&None::<&str>]).await.expect("it works").get(0);
    let path = |id: i64| format!("/v1/dead-letters/{id}/replay");
    let alone = router(state(&world, None));
    refused(&alone, post(&path(known), "{}"), 409, "parked", "routed anew").await;

    let routing = router(AdminState { parked: Some(Arc::new(RoutesAll)), ..state(&world, None) });
    refused(&routing, post(&path(nameless), "{}"), 409, "still-parked", "no rule gives a key").await;
    let (status, _, replayed) = ask(&routing, post(&path(known), "{}")).await;
    assert_eq!((status, replayed["deliveries"][0]["key"].as_str()), (StatusCode::OK, Some("e-1")));
    refused(&routing, post(&path(known), "{}"), 409, "already-replayed", "once").await;
    world.close().await;
}

#[tokio::test]
async fn health_needs_nothing_and_readiness_says_why_not() {
    let world = World::new().await;
    let reason = "nothing was claimed for 60 s while 3 deliveries are due".to_owned();
    let readiness = Arc::new(Always(Ready::NotReady { reason }));
    let router = router(AdminState { readiness, ..state(&world, None) });
    assert_eq!(ask(&router, get("/healthz")).await.0, StatusCode::OK);
    refused(&router, get("/readyz"), 503, "not-ready", "nothing was claimed").await;
    let (status, kind, _) = ask(&router, get("/metrics")).await;
    assert_eq!((status, kind.as_str()), (StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8"));
    world.close().await;
}

#[tokio::test]
async fn an_outage_of_the_database_is_a_503_that_may_pass() {
    let world = World::new().await;
    let router = router(state(&world, None));
    world.close().await;
    refused(&router, get("/v1/status"), 503, "database-unavailable", "ask again").await;
}

#[tokio::test]
async fn log_lines_of_a_level_or_handler_that_cannot_be_are_refused() {
    let world = World::new().await;
    let router = router(state(&world, None));
    let path = "/v1/live/logs";
    refused(&router, get(&format!("{path}?level=loud")), 400, "bad-request", "error, warn, info").await;
    refused(&router, get(&format!("{path}?handler=a%20b")), 400, "bad-request", "not a handler's name").await;
    refused(&router, get(&format!("{path}?colour=red")), 400, "bad-request", "colour").await;
    world.close().await;
}
