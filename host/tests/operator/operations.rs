//! Operations: what was frozen is done, once, at its pace, by whichever host lives.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use wonce_api::dead_letter::Selection;
use wonce_core::operation::{ItemState, OperationState, OperationVerb};
use wonce_host::admin::router;
use wonce_host::pipeline::operation::Operations;
use wonce_host::pipeline::wake::Wake;
use wonce_host::store::operation::progress::Step;
use wonce_host::store::operation::{Asked, Begun, Change};

use crate::api::{RoutesAll, ask, get, refused, state};
use crate::world::{World, by};

/// Fast enough that nothing waits.
const FAST: f64 = 1000.0;

pub(crate) fn asked(name: &str, expected: i64) -> Asked {
    Asked {
        idempotency_key: name.to_owned(),
        verb: OperationVerb::Replay,
        selection: Selection { fingerprint: Some("f00d".to_owned()), ..Selection::default() },
        as_of: 1_000,
        expected,
        rate: FAST,
        by: by(),
    }
}

pub(crate) fn host(world: &World) -> Operations {
    Operations { store: world.store.clone(), wake: Wake::new(), parked: Arc::new(RoutesAll) }
}

/// Steps until no operation runs; answers what became of the items.
pub(crate) async fn drive(host: &Operations) -> Vec<(i64, ItemState, String)> {
    let mut items = Vec::new();
    loop {
        match host.step().await.expect("a step") {
            Step::Nothing => return items,
            Step::Later(_) => tokio::task::yield_now().await,
            Step::Item(item) => items.push((item.dead_letter, item.state, item.result)),
            Step::NotNow { reason } => panic!("{reason}"),
        }
    }
}

pub(crate) async fn dead(world: &World, keys: &[&str]) -> i64 {
    let pay = world.handler("pay", "unordered").await;
    for key in keys {
        world.accept(pay, key, None, b"{}").await;
        world.dies(pay, key).await;
    }
    pay
}

pub(crate) async fn begin(world: &World, asked: &Asked) -> i64 {
    match world.store.begin_operation(asked).await.expect("it works") {
        Begun::New(id) => id,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn write(method: &str, path: &str, key: Option<&str>, body: &str) -> Request<Body> {
    let request = Request::builder().method(method).uri(path).header("host", "localhost");
    let request = request.header("content-type", "application/json");
    let request = key.into_iter().fold(request, |request, key| request.header("idempotency-key", key));
    request.body(Body::from(body.to_owned())).expect("a request")
}

#[tokio::test]
async fn the_list_is_frozen_when_it_is_asked_for() {
    let world = World::new().await;
    let pay = dead(&world, &["a", "b", "c"]).await;
    let id = begin(&world, &asked("one", 3)).await;
    world.accept(pay, "late", None, b"{}").await;
    world.dies(pay, "late").await;
    let items = drive(&host(&world)).await;
    assert_eq!(items.len(), 3, "{items:?}");
    assert!(items.is_sorted(), "oldest first: {items:?}");
    let books = world.holding().await;
    assert_eq!((books.accepted, books.pending, books.dead), (4, 3, 1));
    world.letter("late", "delivery").await;
    let detail = world.store.operation(id).await.expect("it works").expect("it is there");
    let operation = detail.operation;
    assert_eq!((operation.state.as_str(), operation.succeeded, operation.waiting), ("finished", 3, 0));
    assert!(operation.ended_at.is_some());
    let sql = "SELECT count(*) FROM wonce.action WHERE verb = 'replay' AND actor = 'ada' AND
               reason = 'because (operation 1)' AND target LIKE 'dead-letter/%'";
    assert_eq!(world.count(sql).await, 3);
    world.close().await;
}

#[tokio::test]
async fn what_failed_again_is_not_taken_a_second_time() {
    let world = World::new().await;
    let pay = dead(&world, &["a", "b"]).await;
    begin(&world, &asked("one", 2)).await;
    let host = host(&world);
    loop {
        if let Step::Item(item) = host.step().await.expect("a step") {
            assert_eq!(item.state, ItemState::Succeeded);
            break;
        }
    }
    world.dies(pay, "a").await;
    let rest = drive(&host).await;
    assert_eq!(rest.len(), 1);
    let books = world.holding().await;
    assert_eq!((books.pending, books.dead), (1, 1));
    world.close().await;
}

#[tokio::test]
async fn another_count_than_expected_begins_nothing_and_says_what_was_found() {
    let world = World::new().await;
    dead(&world, &["a", "b"]).await;
    let router = router(state(&world, None));
    let body = r#"{"verb":"replay","filter":{"handler":"pay"},"as_of":1000,"expected":3}"#;
    refused(&router, write("POST", "/v1/operations", Some("k"), body), 409, "count-differs", "2 dead").await;
    let (_, _, problem) = ask(&router, write("POST", "/v1/operations", Some("k"), body)).await;
    assert_eq!(problem["found"].to_string(), "2");
    // Those that came after the caller looked are not his.
    let body = r#"{"verb":"replay","filter":{"handler":"pay"},"as_of":1,"expected":2}"#;
    let (_, _, problem) = ask(&router, write("POST", "/v1/operations", Some("k"), body)).await;
    assert_eq!(problem["found"].to_string(), "1");
    let rows = "SELECT (SELECT count(*) FROM wonce.operation) + (SELECT count(*) FROM wonce.operation_item)
                     + (SELECT count(*) FROM wonce.action)";
    assert_eq!(world.count(rows).await, 0);
    world.close().await;
}

#[tokio::test]
async fn a_request_that_is_sent_twice_is_one_operation() {
    let world = World::new().await;
    dead(&world, &["a", "b"]).await;
    let asked = asked("twice", 2);
    let all = futures_util::future::join_all((0..6).map(|_| world.store.begin_operation(&asked))).await;
    let begun: Vec<Begun> = all.into_iter().map(Result::unwrap).collect();
    let id =
        begun.iter().find_map(|b| if let Begun::New(id) = b { Some(*id) } else { None }).expect("a new one");
    assert_eq!(begun.iter().filter(|b| **b == Begun::Known(id)).count(), 5, "{begun:?}");
    let other = Asked { expected: 1, ..asked.clone() };
    assert_eq!(world.store.begin_operation(&other).await.expect("it works"), Begun::OtherRequest(id));
    drive(&host(&world)).await;
    assert_eq!(world.store.begin_operation(&asked).await.expect("it works"), Begun::Known(id));
    assert_eq!(world.count("SELECT count(*) FROM wonce.operation").await, 1);
    assert_eq!(world.holding().await.pending, 2);
    world.close().await;
}

#[tokio::test]
async fn a_paused_operation_waits_and_an_aborted_one_leaves_the_rest() {
    let world = World::new().await;
    dead(&world, &["a", "b", "c"]).await;
    let id = begin(&world, &asked("one", 3)).await;
    let host = host(&world);
    let change =
        async |state, rate| world.store.change_operation(id, state, rate, &by()).await.expect("it works");
    assert!(matches!(host.step().await.expect("a step"), Step::Item(_)));
    assert_eq!(change(Some(OperationState::Paused), None).await, Change::Made);
    assert_eq!(host.step().await.expect("a step"), Step::Nothing);
    assert_eq!(change(Some(OperationState::Paused), Some(0.01)).await, Change::Made);
    assert_eq!(change(Some(OperationState::Running), None).await, Change::Made);
    // The pace is in the row: at one item in 100 s the third is not due after the second.
    assert!(matches!(host.step().await.expect("a step"), Step::Item(_)));
    match host.step().await.expect("a step") {
        Step::Later(wait) => assert!(wait > Duration::from_secs(60), "{wait:?}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(change(Some(OperationState::Finished), None).await, Change::NotByWish);
    assert_eq!(change(Some(OperationState::Aborted), None).await, Change::Made);
    assert_eq!(host.step().await.expect("a step"), Step::Nothing);
    assert_eq!(change(Some(OperationState::Running), None).await, Change::Ended(OperationState::Aborted));
    assert_eq!(change(None, Some(5.0)).await, Change::Ended(OperationState::Aborted));
    let books = world.holding().await;
    assert_eq!((books.pending, books.dead), (2, 1));
    let detail = world.store.operation(id).await.expect("it works").expect("it is there");
    assert_eq!((detail.operation.succeeded, detail.operation.waiting), (2, 1));
    let verbs: Vec<&str> = detail.actions.iter().map(|action| action.verb.as_str()).collect();
    assert_eq!(verbs, ["abort", "resume", "pace", "pause", "replay"]);
    world.close().await;
}

#[tokio::test]
async fn an_item_that_cannot_be_done_is_refused_with_its_reason_and_holds_up_nothing() {
    let world = World::new().await;
    let pay = dead(&world, &["a", "b"]).await;
    world.accept(pay, "b", None, b"other").await;
    world.accept(pay, "c", None, b"{}").await;
    world.dies(pay, "c").await;
    let by_handler = Selection { handler: Some("pay".to_owned()), ..Selection::default() };
    let id = begin(&world, &Asked { selection: by_handler, ..asked("one", 4) }).await;
    let letter = world.letter("a", "delivery").await;
    world.store.replay(letter, None, &by()).await.expect("it works").expect("it works");
    let results: Vec<String> = drive(&host(&world)).await.into_iter().map(|(.., result)| result).collect();
    assert_eq!(results, ["was_replayed", "accepted", "needs_key", "accepted"]);
    let detail = world.store.operation(id).await.expect("it works").expect("it is there");
    assert_eq!((detail.operation.succeeded, detail.operation.refused), (2, 2));
    assert_eq!(detail.refusals.len(), 2);
    let items = world.store.operation_items(id, None, None, 3).await.expect("it works").expect("it is there");
    assert_eq!(items.items.len(), 3);
    assert_eq!(items.items[1].standing.as_deref(), Some("pending"));
    let rest = world.store.operation_items(id, None, items.next_after, 3).await.expect("it works");
    assert_eq!(rest.expect("it is there").items.len(), 1);
    world.holding().await;
    world.close().await;
}

#[tokio::test]
async fn a_host_that_dies_within_an_item_leaves_it_to_the_others() {
    let world = World::new().await;
    dead(&world, &["a", "b"]).await;
    begin(&world, &asked("one", 2)).await;
    let dying = world.client().await;
    dying.batch_execute("BEGIN; SELECT wonce.advance_operation()").await.expect("within an item");
    let living = host(&world);
    // Its operation is locked, so nobody else does the same item.
    assert!(matches!(living.step().await.expect("a step"), Step::Later(_)));
    assert_eq!(world.holding().await.dead, 2);
    drop(dying);
    assert_eq!(drive(&living).await.len(), 2);
    assert_eq!(world.holding().await.pending, 2);
    world.close().await;
}

#[tokio::test]
async fn two_hosts_share_the_work_and_do_each_item_once() {
    let world = World::new().await;
    let keys: Vec<String> = (0..30).map(|n| format!("k-{n}")).collect();
    dead(&world, &keys.iter().map(String::as_str).collect::<Vec<_>>()).await;
    begin(&world, &asked("one", 30)).await;
    let (one, two) = (host(&world), host(&world));
    let (mut done, other) = tokio::join!(drive(&one), drive(&two));
    done.extend(other);
    done.sort();
    done.dedup_by_key(|(letter, ..)| *letter);
    assert_eq!(done.len(), 30);
    assert!(done.iter().all(|(_, state, _)| *state == ItemState::Succeeded), "{done:?}");
    assert_eq!(world.count("SELECT count(*) FROM wonce.action WHERE verb = 'replay'").await, 31);
    assert_eq!(world.holding().await.pending, 30);
    world.close().await;
}

#[tokio::test]
async fn parked_events_are_routed_again_one_by_one() {
    let world = World::new().await;
    let park = "INSERT INTO wonce.dead_letter (kind, reason, code, message, fingerprint, accepted_at, first_failed_at,
                    last_failed_at, via, event_id, source, event_type, event_time, data)
                SELECT 'parked', 'unroutable', 'c', 'm', 'f', now(), now(), now(), 'web', id, 's', 't', now(), 'x'
                FROM unnest(ARRAY['e-1', NULL, 'e-2']) AS id";
    world.client().await.batch_execute(park).await.expect("parked");
    let unroutable = Selection { reason: Some("unroutable".to_owned()), ..Selection::default() };
    begin(&world, &Asked { selection: unroutable, ..asked("one", 3) }).await;
    let results: Vec<String> = drive(&host(&world)).await.into_iter().map(|(.., result)| result).collect();
    assert_eq!(results, ["accepted", "no rule gives a key", "accepted"]);
    let states = "SELECT count(*) FROM wonce.dead_letter WHERE state = 'replayed'";
    assert_eq!(world.count(states).await, 2);
    world.close().await;
}

#[tokio::test]
async fn many_are_discarded_with_one_reason_on_record() {
    let world = World::new().await;
    dead(&world, &["a-1", "a-2", "b-1"]).await;
    let prefix = Selection { key_prefix: Some("a-".to_owned()), ..Selection::default() };
    begin(&world, &Asked { selection: prefix, verb: OperationVerb::Discard, ..asked("one", 2) }).await;
    drive(&host(&world)).await;
    let books = world.holding().await;
    assert_eq!((books.dead, books.discarded), (1, 2));
    world.close().await;
}

#[tokio::test]
async fn operations_work_over_http() {
    let world = World::new().await;
    dead(&world, &["a", "b"]).await;
    let router = router(state(&world, None));
    let (_, _, seen) = ask(&router, get("/v1/dead-letters?handler=pay&limit=1")).await;
    let body = format!(
        r#"{{"verb":"replay","filter":{{"handler":"pay"}},"as_of":{},"expected":{},"rate":5,"actor":"ada"}}"#,
        seen["as_of"], seen["total"]
    );
    let (status, _, begun) = ask(&router, write("POST", "/v1/operations", Some("k"), &body)).await;
    assert_eq!((status, begun["operation"]["state"].as_str()), (StatusCode::ACCEPTED, Some("running")));
    assert_eq!(ask(&router, write("POST", "/v1/operations", Some("k"), &body)).await.0, StatusCode::OK);
    let path = format!("/v1/operations/{}", begun["operation"]["id"]);
    let pause = r#"{"state":"paused","rate":7.5,"reason":"lunch"}"#;
    let (status, _, paused) = ask(&router, write("PATCH", &path, None, pause)).await;
    assert_eq!((status, paused["operation"]["state"].as_str()), (StatusCode::OK, Some("paused")));
    assert_eq!(paused["operation"]["rate"].to_string(), "7.5");
    assert_eq!(paused["actions"][0]["reason"], "lunch");
    let (_, _, list) = ask(&router, get("/v1/operations")).await;
    assert_eq!(list["operations"][0]["waiting"].to_string(), "2");
    let (_, _, items) = ask(&router, get(&format!("{path}/items?state=waiting&limit=1"))).await;
    assert_eq!((items["items"][0]["key"].as_str(), items["next_after"].is_null()), (Some("a"), false));

    let begin = |key: Option<&str>, body: &str| write("POST", "/v1/operations", key, body);
    refused(&router, begin(None, &body), 400, "bad-request", "idempotency-key").await;
    let other = body.replace("pay", "pays");
    refused(&router, begin(Some("k"), &other), 422, "idempotency-key-reused", "new key").await;
    let nothing = r#"{"verb":"replay","filter":{"handler":"none"},"as_of":9,"expected":0}"#;
    refused(&router, begin(Some("n"), nothing), 422, "nothing-matches", "wonce dead list").await;
    let silent = body.replace("replay", "discard");
    refused(&router, begin(Some("d"), &silent), 400, "bad-request", "--reason").await;
    let fast = body.replace(r#""rate":5"#, r#""rate":5000"#);
    refused(&router, begin(Some("f"), &fast), 400, "bad-request", "1000 items a second").await;
    let unknown = body.replace("replay", "resend");
    refused(&router, begin(Some("u"), &unknown), 400, "bad-request", "replay, discard").await;
    refused(&router, write("PATCH", &path, None, "{}"), 400, "bad-request", "nothing is to be changed").await;
    let finish = r#"{"state":"finished"}"#;
    refused(&router, write("PATCH", &path, None, finish), 400, "bad-request", "abort it").await;
    refused(&router, get("/v1/operations/99"), 404, "not-found", "wonce operation list").await;
    world.holding().await;
    world.close().await;
}

#[tokio::test]
async fn verify_notices_an_operation_that_counts_wrong() {
    let world = World::new().await;
    dead(&world, &["a", "b"]).await;
    begin(&world, &asked("one", 2)).await;
    assert!(world.verify().await.holds);
    world.client().await.batch_execute("UPDATE wonce.operation SET succeeded = 1").await.expect("it works");
    let verification = world.verify().await;
    assert!(!verification.holds);
    assert!(verification.findings[0].starts_with("1 operations do not count"), "{:?}", verification.findings);
    world.close().await;
}
