//! Whatever bytes come in: the right answer, and the bytes untouched in the database.

use serde_json::json;
use wonce_tests::world::{CLOUDEVENT, Handler, Setup, World};

/// Data that is trouble somewhere: its name, content type and bytes.
const TROUBLE: [(&str, &str, &[u8]); 7] = [
    ("nul bytes", "application/octet-stream", b"a\0b\0\0"),
    ("u+0000 in JSON", "application/json", br#"{"steps": [{"dance": "\u0000"}]}"#),
    (
        "integers above 2^63",
        "application/json",
        br#"{"n":  9223372036854775808, "m": 1.0000000000000000001}"#,
    ),
    ("an empty body", "application/json", b""),
    ("invalid UTF-8", "application/json", b"{\"n\": \"\xff\xfe\"}"),
    ("no JSON at all", "application/json", b"{\"n\": "),
    ("duplicate members", "application/json", br#"{"n": 1, "n": 2}"#),
];

#[tokio::test(flavor = "multi_thread")]
async fn troublesome_bytes_wait_and_die_untouched() {
    let world = World::running(Setup::default().with(Handler::probe().paused())).await;
    for (id, content_type, data) in TROUBLE {
        let answer = world.binary(id, content_type, data).await;
        assert_eq!((answer.status, answer.verdict()), (202, "accepted"), "{id}: {:#}", answer.body);
        let waiting = format!("select data from wonce.inbox where event_id = '{id}'");
        assert_eq!(world.value::<Vec<u8>>(&waiting).await, data, "{id}");
    }
    let resumed = world.admin_post("/v1/handlers/probe/resume", json!({"reason": "looked at them"})).await;
    assert_eq!(resumed.status, 200, "{:#}", resumed.body);
    for (id, _, data) in TROUBLE {
        assert_eq!(world.outcome("probe", id).await, "dead", "{id}");
        let dead = format!(
            "select data from wonce.dead_letter where event_id = '{id}' and reason = 'invalid_payload'"
        );
        assert_eq!(world.value::<Vec<u8>>(&dead).await, data, "{id}");
        assert_eq!(world.binary(id, "application/json", data).await.verdict(), "duplicate", "{id}");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_payload_under_a_known_key_is_refused_and_kept() {
    let world = World::running(Setup::probe()).await;
    world.binary("e1", "application/json", &br#"{"steps": []}"#[..]).await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    let other = &br#"{"steps" : [ ],  "end": "done"}"#[..];
    let answer = world.binary("e1", "application/json", other).await;
    assert_eq!((answer.status, answer.verdict()), (409, "key_conflict"), "{:#}", answer.body);
    let kept = "select data from wonce.dead_letter where kind = 'key_conflict' and reason = 'key_conflict'";
    assert_eq!(world.value::<Vec<u8>>(kept).await, other);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pending_key_conflicts_as_a_settled_one_does() {
    let world = World::running(Setup::default().with(Handler::probe().paused())).await;
    assert_eq!(world.binary("e1", "application/json", "[1]").await.status, 202);
    assert_eq!(world.binary("e1", "application/json", "[2]").await.status, 409);
    assert_eq!(world.value::<Vec<u8>>("select data from wonce.inbox").await, b"[1]");
    assert_eq!(world.value::<Vec<u8>>("select data from wonce.dead_letter").await, b"[2]");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn member_order_and_spacing_do_not_make_another_payload() {
    let world = World::running(Setup::default().with(Handler::probe().paused())).await;
    assert_eq!(world.binary("e1", "application/json", r#"{"a": 1, "b": [2]}"#).await.status, 202);
    let again = world.binary("e1", "application/json", r#"{ "b":[2],"a":1}"#).await;
    assert_eq!((again.status, again.verdict()), (202, "duplicate"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn integers_that_only_differ_beyond_a_float_make_another_payload() {
    let world = World::running(Setup::default().with(Handler::probe().paused())).await;
    assert_eq!(world.binary("e1", "application/json", "9007199254740992").await.status, 202);
    assert_eq!(world.binary("e1", "application/json", "9007199254740993").await.status, 409);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_without_a_key_is_refused_and_told_how_to_get_one() {
    let setup = Setup::probe().tables("[sources.shop]\ntype_is = \"probe.run\"");
    let world = World::running(setup).await;
    let json = ("content-type", "application/json");
    let answer = world.post("shop", &[json], "{}").await;
    assert_eq!(answer.status, 422, "{:#}", answer.body);
    assert!(answer.body["detail"].as_str().is_some_and(|text| text.contains("key")), "{:#}", answer.body);
    assert_eq!(world.post("shop", &[json, ("webhook-id", "w1")], "{}").await.status, 202);
    assert_eq!(world.value::<i64>("select sum(accepted)::bigint from wonce.tally").await, 1);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_above_the_limit_is_refused_and_leaves_nothing() {
    let world = World::running(Setup::probe().http("max_event_bytes = \"1KiB\"")).await;
    let answer = world.binary("e1", "application/octet-stream", vec![b'x'; 1025]).await;
    assert_eq!(answer.status, 413, "{:#}", answer.body);
    assert_eq!(world.binary("e1", "application/octet-stream", vec![b'x'; 1024]).await.status, 202);
    assert_eq!(world.outcome("probe", "e1").await, "dead");
    assert_eq!(world.value::<i64>("select count(*) from wonce.processed_events").await, 1);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_10_kb_is_refused_and_the_neighbours_in_its_commit_are_not() {
    let manifest = "contract = \"wonce:handler@1.0.0\"\nname = \"probe\"\nversion = \"1.0.0\"\nemits = [\"out\"]\n\
                    [[subscription]]\ntypes = [\"probe.*\"]\nkey = [\"/key\"]\n";
    let world = World::running(Setup::default().with(Handler::probe().manifest(manifest))).await;
    let long = "k".repeat(10 * 1024);
    let (bad, good) = tokio::join!(
        world.event("probe.run", "bad", json!({"key": long})),
        world.event("probe.run", "good", json!({"key": "short"}))
    );
    assert_eq!((bad.status, good.status), (422, 202), "{:#}", bad.body);
    assert_eq!(world.event("probe.run", "nul", json!({"key": "a\u{0}b"})).await.status, 422);
    assert_eq!(world.value::<i64>("select sum(accepted)::bigint from wonce.tally").await, 1);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_of_10_kb_is_no_event() {
    let world = World::running(Setup::probe()).await;
    let answer = world.probe(&"i".repeat(10 * 1024), json!({})).await;
    assert_eq!(answer.status, 400, "{:#}", answer.body);
    let answer = world.post("lab", &[CLOUDEVENT], "{\"specversion\": \"1.0\", \"id\":").await;
    assert_eq!(answer.status, 400, "{:#}", answer.body);
    assert_eq!(world.value::<i64>("select count(*) from wonce.inbox").await, 0);
    world.end().await;
}
