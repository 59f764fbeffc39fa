//! Many events in one request: all or none.

use wonce_host::pipeline::intake::IntakeSettings;
use wonce_host::source::NotAccepted;

use crate::world::{World, event};

#[tokio::test]
async fn one_event_that_nobody_wants_keeps_the_whole_batch_out() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings::default());
    let events = vec![event("pay.in", "1", "a"), event("nobody.wants", "2", "b"), event("pay.in", "3", "c")];
    let refused = intake.batch(events).await.expect_err("one is unrouted");
    assert!(matches!(refused, NotAccepted::Unrouted { index: 1, .. }), "{refused}");
    assert_eq!(world.count("SELECT count(*) FROM wonce.inbox").await, 0);
    intake.end().await;
    world.close().await;
}

#[tokio::test]
async fn one_event_that_the_database_refuses_keeps_the_whole_batch_out() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings::default());
    let mut poison = event("pay.in", "2", "b");
    poison.subject = Some("a\0b".to_owned());
    let refused = intake.batch(vec![event("pay.in", "1", "a"), poison]).await.expect_err("NUL is no text");
    assert!(matches!(refused, NotAccepted::Failed { .. }), "{refused}");
    assert_eq!(world.count("SELECT count(*) FROM wonce.inbox").await, 0);
    assert_eq!(world.count("SELECT count(*) FROM wonce.tally").await, 0);
    intake.end().await;
    world.close().await;
}

#[tokio::test]
async fn a_key_that_comes_twice_in_a_batch_is_judged_as_if_it_came_later() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings::default());
    let events = vec![
        event("pay.in", "1", "a"),
        event("pay.in", "1", "a"),
        event("pay.in", "1", "other"),
        event("pay.in", "2", "b"),
    ];
    let verdicts = intake.batch(events).await.expect("answered");
    assert_eq!(verdicts.concat(), ["accepted", "duplicate", "key_conflict", "accepted"]);
    assert_eq!(world.count("SELECT count(*) FROM wonce.inbox").await, 2);
    assert_eq!(world.count("SELECT count(*) FROM wonce.dead_letter WHERE data = 'other'").await, 1);
    intake.end().await;
    world.close().await;
}
