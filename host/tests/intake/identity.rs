//! The same event again, and another under its key.

use std::time::Duration;

use tokio::time::timeout;
use wonce_core::event::Micros;
use wonce_host::pipeline::intake::{IntakeSettings, Unrouted};
use wonce_host::source::NotAccepted;

use super::world::{SECRET, World, event};

const SETTLE: &str = "WITH gone AS (DELETE FROM wonce.inbox RETURNING *)
    INSERT INTO wonce.processed_events (handler_id, key, outcome, payload_digest, hash_rule, key_rule,
        via, source, event_type, round, attempts, version, accepted_at)
    SELECT handler_id, key, 'done', payload_digest, hash_rule, key_rule, via, source, event_type, 0, 1,
           sha256('v'), accepted_at FROM gone";

#[tokio::test]
async fn the_same_event_again_is_a_duplicate_while_pending_and_when_settled() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings::default());
    let paid = || event("pay.in", "1", br#"{"a": 1, "b": 2}"#.to_vec());
    assert_eq!(intake.send(paid()).await.expect("answered"), ["accepted"]);
    let respelled = event("pay.in", "1", br#"{"b":2,"a":1}"#.to_vec());
    assert_eq!(intake.send(respelled).await.expect("answered"), ["duplicate"]);
    world.client().await.batch_execute(SETTLE).await.expect("settled");
    assert_eq!(intake.send(paid()).await.expect("answered"), ["duplicate"]);
    assert_eq!(world.count("SELECT count(*) FROM wonce.inbox").await, 0);
    assert_eq!(world.count("SELECT sum(accepted)::bigint FROM wonce.tally").await, 1);
    assert_eq!(world.count("SELECT sum(duplicate_early)::bigint FROM wonce.tally").await, 2);
    intake.end().await;
    world.close().await;
}

#[tokio::test]
async fn all_attributes_and_bytes_are_kept_as_they_came() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings::default());
    let mut whole = event("pay.in", "1", b"\xff\x00\xfe".to_vec());
    whole.time = Some(Micros(-1_500_000));
    whole.subject = Some("€".to_owned());
    whole.extensions = vec![("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())];
    let plain = event("pay.in", "2", b"".to_vec());
    assert_eq!(intake.batch(vec![whole, plain]).await.expect("answered").len(), 2);
    let rows = world.client().await;
    let sql = "SELECT data, subject, event_time::text = '1969-12-31 23:59:58.5+00', extensions
               FROM wonce.inbox ORDER BY id";
    rows.batch_execute("SET timezone = 'UTC'").await.expect("set");
    let rows = rows.query(sql, &[]).await.expect(sql);
    assert_eq!(rows[0].get::<_, Vec<u8>>(0), b"\xff\x00\xfe");
    assert_eq!(rows[0].get::<_, String>(1), "€");
    assert!(rows[0].get::<_, bool>(2));
    assert_eq!(rows[0].get::<_, Vec<String>>(3), ["a", "1", "b", "2"]);
    assert_eq!((rows[1].get::<_, Vec<u8>>(0), rows[1].get::<_, Vec<String>>(3)), (vec![], vec![]));
    intake.end().await;
    world.close().await;
}

#[tokio::test]
async fn another_payload_under_a_key_is_kept_byte_for_byte_as_a_dead_letter() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings::default());
    assert_eq!(intake.send(event("pay.in", "1", b"first".to_vec())).await.expect("answered"), ["accepted"]);
    let other = event("pay.in", "1", b"\xff\x00second".to_vec());
    assert_eq!(intake.send(other).await.expect("answered"), ["key_conflict"]);
    let sql = "SELECT kind, key, data FROM wonce.dead_letter";
    let row = world.client().await.query_one(sql, &[]).await.expect(sql);
    assert_eq!((row.get::<_, &str>(0), row.get::<_, &str>(1)), ("key_conflict", r#"["s","1"]"#));
    assert_eq!(row.get::<_, Vec<u8>>(2), b"\xff\x00second");
    assert_eq!(world.count("SELECT count(*) FROM wonce.inbox WHERE data = 'first'").await, 1);
    intake.end().await;
    world.close().await;
}

#[tokio::test]
async fn a_duplicate_does_not_wait_for_the_invocation_of_its_original() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings::default());
    intake.send(event("pay.in", "1", b"x".to_vec())).await.expect("answered");
    let invocation = world.client().await;
    invocation.batch_execute("BEGIN; SELECT FROM wonce.inbox FOR UPDATE").await.expect("claimed");
    let again = intake.send(event("pay.in", "1", b"x".to_vec()));
    let verdict = timeout(Duration::from_secs(20), again).await.expect("it does not wait for the lock");
    assert_eq!(verdict.expect("answered"), ["duplicate"]);
    invocation.batch_execute("ROLLBACK").await.expect("released");
    intake.end().await;
    world.close().await;
}

#[tokio::test]
async fn a_key_that_settles_while_it_arrives_again_is_found_out_at_its_claim() {
    let mut world = World::new().await;
    let handler = world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings::default());
    intake.send(event("pay.in", "1", b"x".to_vec())).await.expect("answered");
    let settling = world.client().await;
    settling.batch_execute("BEGIN").await.expect("begun");
    settling.batch_execute(SETTLE).await.expect("settled");
    let again = intake.send(event("pay.in", "1", b"x".to_vec()));
    let commit = async {
        world.until_one_waits().await;
        settling.batch_execute("COMMIT").await.expect("committed");
    };
    let (verdict, ()) = tokio::join!(again, commit);
    assert_eq!(verdict.expect("answered"), ["accepted"]);
    let sql = "SELECT repeat FROM wonce.claim($1, $2, 1, 0::smallint, '-infinity', 0)";
    let claimed = world.client().await.query_one(sql, &[&handler, &SECRET]).await.expect(sql);
    assert_eq!(claimed.get::<_, Option<&str>>(0), Some("duplicate"));
    intake.end().await;
    world.close().await;
}

#[tokio::test]
async fn what_one_handler_cannot_take_is_parked_in_the_commit_of_the_others() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings { unrouted: Unrouted::Park, ..IntakeSettings::default() });
    let unknown = intake.send(event("nobody.wants", "1", b"\xff".to_vec())).await;
    assert_eq!(unknown.expect("answered"), ["parked"]);
    let sql = "SELECT count(*) FROM wonce.dead_letter
               WHERE kind = 'parked' AND reason = 'unroutable' AND code = 'unroutable'
                 AND data = '\\xff' AND handler_id IS NULL AND length(fingerprint) = 16";
    assert_eq!(world.count(sql).await, 1);
    let mut nameless = event("pay.in", "", b"{}".to_vec());
    nameless.id = None;
    assert!(matches!(intake.send(nameless).await, Err(NotAccepted::NoKey { index: 0, .. })));
    intake.end().await;
    world.close().await;
}

#[tokio::test]
async fn a_parked_event_is_routed_again_and_never_parked_twice() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings { unrouted: Unrouted::Park, ..IntakeSettings::default() });
    let parked = || event("ship.out", "1", "x");
    assert_eq!(intake.send(parked()).await.expect("answered"), ["parked"]);
    let refused = intake.door.accept_parked(parked()).await;
    assert!(matches!(refused, Err(NotAccepted::Unrouted { .. })), "{refused:?}");
    world.handler("ship", None, None).await;
    let receipt = intake.door.accept_parked(parked()).await.expect("there is a handler now");
    assert_eq!(receipt.deliveries[0].handler.as_deref(), Some("ship"));
    assert_eq!(world.count("SELECT count(*) FROM wonce.dead_letter").await, 1);
    intake.end().await;
    world.close().await;
}

#[tokio::test]
async fn a_key_of_ten_kilobytes_is_refused_before_it_meets_the_database() {
    let mut world = World::new().await;
    world.handler("pay", Some("/id"), None).await;
    let intake = world.intake(IntakeSettings::default());
    let long = event("pay.in", "1", format!(r#"{{"id":"{}"}}"#, "k".repeat(10_000)));
    let refused = intake.send(long).await.expect_err("too long");
    assert!(refused.to_string().contains("10000 bytes"), "{refused}");
    let nul = event("pay.in", "1", r#"{"id":"a\u0000b"}"#);
    assert!(intake.send(nul).await.expect_err("NUL").to_string().contains("NUL"));
    assert_eq!(world.count("SELECT count(*) FROM wonce.inbox").await, 0);
    intake.end().await;
    world.close().await;
}

#[tokio::test]
async fn an_accepted_event_rings_its_handlers_bell() {
    let mut world = World::new().await;
    let handler = world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings::default());
    intake.send(event("pay.in", "1", b"x".to_vec())).await.expect("answered");
    world.wake.notified(handler).await;
    intake.end().await;
    world.close().await;
}
