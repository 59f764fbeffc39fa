//! Hosts that die, stall, stop or lose the database while effects are on their way.

use std::num::NonZeroUsize;

use wonce_host::sink::SinkSettings;

use crate::receiver::Receiver;
use crate::world::{SINK, World, patient};

#[tokio::test]
async fn what_a_dead_host_was_sending_is_sent_again_under_the_same_key() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    world.plan(SINK, "d1", Some("o")).await;
    world.plan(SINK, "d2", Some("o")).await;
    let first = world.relay(&receiver.url, patient());
    let unanswered = receiver.next().await;
    first.kill().await;

    let second = world.relay(&receiver.url, patient());
    world.pass_the_deadline().await;
    let again = receiver.next().await;
    assert_eq!((unanswered.key(), again.key()), ("d1".to_owned(), "d1".to_owned()));
    again.answer(200);
    let follower = receiver.next().await;
    assert_eq!(follower.key(), "d2");
    follower.answer(200);

    world.until("dedup_key = 'd1' AND state = 'confirmed' AND attempt = 2 AND in_doubt").await;
    world.until("dedup_key = 'd2' AND state = 'confirmed' AND attempt = 1 AND NOT in_doubt").await;
    second.end().await;
    world.close().await;
}

#[tokio::test]
async fn the_late_answer_of_an_overtaken_host_changes_nothing() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    world.plan(SINK, "d1", None).await;
    let slow = world.relay(&receiver.url, patient());
    let late = receiver.next().await;
    let quick = world.relay(&receiver.url, patient());
    world.pass_the_deadline().await;
    let again = receiver.next().await;
    late.answer(400);
    again.answer(200);

    world.until("state = 'confirmed' AND attempt = 2").await;
    slow.end().await;
    quick.end().await;
    world.until("state = 'confirmed' AND attempt = 2").await;
    assert_eq!(receiver.unseen(), 0);
    world.close().await;
}

#[tokio::test]
async fn what_a_living_host_is_sending_is_left_to_it() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    world.plan(SINK, "d1", None).await;
    let first = world.relay(&receiver.url, patient());
    let held = receiver.next().await;
    let second = world.relay(&receiver.url, patient());
    // Later effects, sent by whoever is free, show that the second host has looked.
    for round in 0..8 {
        world.plan(SINK, &format!("later-{round}"), None).await;
        let request = receiver.next().await;
        assert_ne!(request.key(), "d1");
        request.answer(200);
    }
    held.answer(200);
    world.until("dedup_key = 'd1' AND state = 'confirmed' AND attempt = 1").await;
    first.end().await;
    second.end().await;
    world.close().await;
}

#[tokio::test]
async fn a_stop_waits_for_what_is_being_sent_and_claims_nothing_more() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    world.plan(SINK, "d1", None).await;
    // With room for one only, no claim is under way while the first is being sent.
    let relay = world.relay(&receiver.url, SinkSettings { concurrency: NonZeroUsize::MIN, ..patient() });
    let request = receiver.next().await;
    relay.stop.cancel();
    world.plan(SINK, "d2", None).await;
    request.answer(200);
    relay.end().await;

    world.until("dedup_key = 'd1' AND state = 'confirmed'").await;
    let left = world.text("SELECT state || attempt FROM wonce.outbox WHERE dedup_key = 'd2'").await;
    assert_eq!(left, "planned0");
    assert_eq!(receiver.unseen(), 0);
    world.close().await;
}

#[tokio::test]
async fn an_answer_survives_the_loss_of_every_database_connection() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    world.plan(SINK, "d1", None).await;
    let relay = world.relay(&receiver.url, patient());
    let request = receiver.next().await;
    world
        .execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        .await;
    request.answer(200);

    world.until("state = 'confirmed' AND attempt = 1").await;
    relay.end().await;
    assert_eq!(receiver.unseen(), 0);
    world.close().await;
}

#[tokio::test]
async fn effects_for_a_sink_that_no_host_knows_stay_planned() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    world.plan("elsewhere", "e1", None).await;
    world.plan("elsewhere", "e2", Some("o")).await;
    world.plan(SINK, "d1", None).await;
    let relay = world.relay(&receiver.url, patient());
    receiver.next().await.answer(200);
    world.until("dedup_key = 'd1' AND state = 'confirmed'").await;
    assert_eq!(world.store.sinks_with_planned_effects().await.expect("sinks"), ["elsewhere"]);
    relay.end().await;
    let left = world
        .text("SELECT string_agg(DISTINCT state || attempt, ',') FROM wonce.outbox WHERE sink = 'elsewhere'");
    assert_eq!(left.await, "planned0");
    world.close().await;
}
