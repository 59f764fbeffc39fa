//! What each answer of a receiver leads to.

use wonce_core::relay::UnknownPolicy;
use wonce_core::retry::RetryPolicy;
use wonce_host::sink::SinkSettings;

use crate::receiver::Receiver;
use crate::world::{SINK, World, impatient, patient};

#[tokio::test]
async fn an_effect_is_sent_once_with_its_key_and_attributes() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    let relay = world.relay(&receiver.url, patient());
    world.plan(SINK, "payments-0-abc", None).await;
    relay.hint.notify_one();

    let request = receiver.next().await;
    for (name, value) in [
        ("idempotency-key", "payments-0-abc"),
        ("ce-id", "payments-0-abc"),
        ("ce-type", "mail.receipt"),
        ("ce-source", "wonce/payments"),
        ("ce-tenant", "blue"),
        ("content-type", "text/plain"),
        ("authorization", "Bearer hush"),
    ] {
        assert_eq!(request.header(name), value, "{name}");
    }
    assert_eq!(request.body, "hello");
    world.until("state = 'sending' AND sending_deadline > now() AND attempt = 1").await;
    request.answer(202);

    world.until("state = 'confirmed' AND attempt = 1 AND last_error IS NULL AND NOT in_doubt").await;
    relay.end().await;
    assert_eq!(receiver.unseen(), 0);
    world.close().await;
}

#[tokio::test]
async fn a_busy_receiver_gets_the_effect_again_when_it_asked_for_it() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    let relay = world.relay(&receiver.url, patient());
    world.plan(SINK, "d1", None).await;
    receiver.next().await.answer_with(503, &[("retry-after", "3600")], "try later");

    world.until("state = 'planned' AND attempt = 1 AND due_at > now() + interval '3000 s'").await;
    assert_eq!(
        world.text("SELECT last_error FROM wonce.outbox").await,
        "answered 503 Service Unavailable: try later"
    );
    world.execute("UPDATE wonce.outbox SET due_at = now()").await;
    let again = receiver.next().await;
    assert_eq!(again.key(), "d1");
    again.answer(200);
    world.until("state = 'confirmed' AND attempt = 2 AND NOT in_doubt").await;
    relay.end().await;
    world.close().await;
}

#[tokio::test]
async fn a_refused_effect_is_not_sent_again() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    let relay = world.relay(&receiver.url, patient());
    world.plan(SINK, "d1", None).await;
    receiver.next().await.answer_with(400, &[], "no such mailbox");

    world.until("state = 'refused' AND attempt = 1").await;
    relay.end().await;
    assert_eq!(receiver.unseen(), 0);
    assert_eq!(
        world.text("SELECT last_error FROM wonce.outbox").await,
        "answered 400 Bad Request: no such mailbox"
    );
    world.close().await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    let relay = world.relay(&receiver.url, patient());
    world.plan(SINK, "d1", None).await;
    receiver.next().await.answer_with(307, &[("location", "/elsewhere")], "");

    world.until("state = 'refused' AND last_error LIKE '%redirects are not followed%'").await;
    relay.end().await;
    assert_eq!(receiver.unseen(), 0);
    world.close().await;
}

#[tokio::test]
async fn used_up_attempts_end_as_refused() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    let retry = RetryPolicy { max_attempts: 3, ..patient().retry };
    let relay = world.relay(&receiver.url, SinkSettings { retry, ..patient() });
    world.plan(SINK, "d1", None).await;
    for _ in 0..3 {
        receiver.next().await.answer(500);
    }

    world.until("state = 'refused' AND attempt = 3 AND last_error LIKE 'attempts used up (3)%'").await;
    relay.end().await;
    assert_eq!(receiver.unseen(), 0);
    world.close().await;
}

#[tokio::test]
async fn a_receiver_that_is_down_costs_attempts_but_raises_no_doubt() {
    let (world, receiver) = (World::new().await, Receiver::start().await);
    let url = receiver.url.clone();
    drop(receiver);
    let retry = RetryPolicy { max_attempts: 2, ..patient().retry };
    let relay = world.relay(&url, SinkSettings { retry, ..patient() });
    world.plan(SINK, "d1", None).await;

    world
        .until("state = 'refused' AND attempt = 2 AND NOT in_doubt AND last_error LIKE '%no connection%'")
        .await;
    relay.end().await;
    world.close().await;
}

#[tokio::test]
async fn an_effect_without_an_answer_is_sent_again_under_the_same_key() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    let relay = world.relay(&receiver.url, impatient(UnknownPolicy::Resend));
    world.plan(SINK, "d1", None).await;

    let silent = receiver.next().await;
    let again = receiver.next().await;
    assert_eq!((silent.key(), again.key()), ("d1".to_owned(), "d1".to_owned()));
    again.answer(200);
    world.until("state = 'confirmed' AND attempt = 2 AND in_doubt").await;
    relay.end().await;
    world.close().await;
}

#[tokio::test]
async fn an_effect_in_doubt_is_never_called_refused() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    let relay = world.relay(&receiver.url, impatient(UnknownPolicy::Resend));
    world.plan(SINK, "d1", None).await;

    let _silent = receiver.next().await;
    receiver.next().await.answer(400);
    world.until("state = 'unknown' AND last_error LIKE 'an earlier attempt may have arrived%'").await;
    relay.end().await;
    world.close().await;
}

#[tokio::test]
async fn a_sink_that_cannot_dedup_holds_what_got_no_answer() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    let relay = world.relay(&receiver.url, impatient(UnknownPolicy::Hold));
    world.plan(SINK, "d1", None).await;

    let _silent = receiver.next().await;
    world.until("state = 'unknown' AND attempt = 1 AND last_error = 'no answer in time'").await;
    relay.end().await;
    assert_eq!(receiver.unseen(), 0);
    world.close().await;
}
