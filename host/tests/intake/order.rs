//! Intake order is commit order within an ordering key.

use wonce_host::pipeline::intake::IntakeSettings;

use crate::world::{World, event};

#[tokio::test]
async fn a_later_arrival_of_an_ordering_key_draws_its_id_after_the_earlier_committed() {
    let mut world = World::new().await;
    let handler = world.handler("ship", None, Some("/order")).await;
    let intake = world.intake(IntakeSettings::default());
    let earlier = world.client().await;
    earlier.batch_execute("BEGIN").await.expect("begun");
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended('o1', $1)), nextval('wonce.inbox_id_seq')";
    let drawn: i64 = earlier.query_one(lock, &[&handler]).await.expect(lock).get(1);

    let other = intake.send(event("ship.out", "other", r#"{"order":"o2"}"#)).await;
    assert_eq!(other.expect("another ordering key does not wait"), ["accepted"]);

    let later = intake.send(event("ship.out", "later", r#"{"order":"o1"}"#));
    let commit = async {
        world.until_one_waits().await;
        assert_eq!(world.count("SELECT last_value FROM wonce.inbox_id_seq").await, drawn + 1);
        earlier.batch_execute("COMMIT").await.expect("committed");
    };
    let (verdict, ()) = tokio::join!(later, commit);
    assert_eq!(verdict.expect("answered"), ["accepted"]);
    let id = world.count("SELECT id FROM wonce.inbox WHERE ordering_key = 'o1'").await;
    assert!(id > drawn, "{id} was drawn before {drawn} was committed");
    intake.end().await;
    world.close().await;
}

#[tokio::test]
async fn a_shared_commit_keeps_the_order_in_which_its_events_arrived() {
    let mut world = World::new().await;
    world.handler("ship", None, Some("/order")).await;
    let intake = world.intake(IntakeSettings::default());
    let events = ["z", "m", "a"].map(|id| event("ship.out", id, r#"{"order":"o1"}"#));
    intake.batch(events.into()).await.expect("answered");
    let sql = "SELECT array_agg(event_id ORDER BY id) FROM wonce.inbox";
    let row = world.client().await.query_one(sql, &[]).await.expect(sql);
    assert_eq!(row.get::<_, Vec<String>>(0), ["z", "m", "a"]);
    intake.end().await;
    world.close().await;
}
