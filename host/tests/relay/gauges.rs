//! The numbers that only the database knows.

use wonce_core::effect::EffectState;
use wonce_host::store::gauges::OutboxCount;

use crate::world::{SINK, World};

#[tokio::test]
async fn counts_stop_at_their_cap_and_leave_confirmed_effects_out() {
    let world = World::new().await;
    for n in 0..4 {
        world.plan(SINK, &format!("d{n}"), None).await;
    }
    world.plan("sms", "d0", Some("o")).await;
    world.execute("UPDATE wonce.outbox SET state = 'confirmed' WHERE dedup_key = 'd3'").await;
    let counts = world.store.outbox_counts(1).await.expect("counts");
    let of = |sink: &str, state| {
        let count: Option<&OutboxCount> = counts.iter().find(|c| c.sink == sink && c.state == state);
        count.map(|c| c.effects)
    };
    assert_eq!(of(SINK, EffectState::Planned), Some(2), "one more than the cap");
    assert_eq!(of("sms", EffectState::Planned), Some(1));
    assert_eq!(of(SINK, EffectState::Unknown), Some(0));
    assert_eq!(of(SINK, EffectState::Confirmed), None);
    world.close().await;
}

#[tokio::test]
async fn a_handler_with_a_due_and_a_waiting_delivery_shows_both() {
    let world = World::new().await;
    world
        .execute(
            "INSERT INTO wonce.inbox (handler_id, key, key_rule, due_at, accepted_at, payload_digest, hash_rule,
                                      via, source, event_type, data)
             SELECT h.id, 'k' || n, 'r', now() + n * interval '1 hour', now(), sha256('p'), 'r', 'v', 's', 't', ''
             FROM wonce.handler h, unnest(ARRAY[-1, 1]) AS n",
        )
        .await;
    let counts = world.store.handler_counts(10).await.expect("counts");
    let payments = counts.iter().find(|c| c.handler == "payments").expect("is there");
    assert_eq!((payments.inbox_depth, payments.inbox_due, payments.scheduled_retries), (2, 1, 1));
    assert!(payments.oldest_due_age.as_secs() >= 3600, "{payments:?}");
    assert!(counts.iter().any(|c| c.handler == "-"), "parked events have a row");
    world.close().await;
}
