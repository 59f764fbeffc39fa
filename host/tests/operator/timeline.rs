//! `event show`, `status` and `dead show`: everything that is known, in one place.

use crate::world::{World, by};

#[tokio::test]
async fn a_timeline_tells_the_whole_story() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"{}").await;
    world.accept(pay, "a", None, b"{}").await;
    world.fails(pay, "a").await;
    world.dies(pay, "a").await;
    let letter = world.letter("a", "delivery").await;
    world.store.replay(letter, None, &by()).await.expect("it works").expect("it works");
    let pending = world.store.timeline("pay", "a").await.expect("it works").expect("it works");
    assert_eq!(pending.standing, "pending");
    assert_eq!(pending.waiting.as_ref().expect("it works").round, 1);
    assert_eq!(pending.accepted.bytes, Some(2));

    world.done(pay, "a").await;
    let timeline = world.store.timeline("pay", "a").await.expect("it works").expect("it works");
    assert_eq!(timeline.standing, "done");
    assert!(timeline.waiting.is_none());
    let accepted = &timeline.accepted;
    assert_eq!(
        (accepted.via.as_str(), accepted.source.as_str(), accepted.key_rule.as_str()),
        ("web", "shop", "/id")
    );
    assert_eq!(accepted.event_id.as_deref(), Some("e-a"));
    let attempts: Vec<_> = timeline
        .attempts
        .iter()
        .map(|a| (a.attempt, a.decision.as_str(), a.class.as_str(), a.duration_us))
        .collect();
    assert_eq!(attempts, [(1, "retry", "transient", 1500), (2, "dead", "permanent", 2500)]);
    assert_eq!(timeline.attempts[0].log_tail, "looked for o-1");
    assert_eq!((timeline.effects[0].sink.as_str(), timeline.effects[0].dedup_key.as_str()), ("mail", "a:0"));
    assert_eq!(timeline.duplicates.len(), 1);
    assert_eq!(timeline.dead_letters[0].state, "replayed");
    assert_eq!(timeline.actions[0].actor, "ada");
    let outcome = timeline.outcome.expect("it works");
    assert_eq!((outcome.outcome.as_str(), outcome.round, outcome.attempts), ("done", 1, 1));
    assert!(outcome.xact.parse::<u64>().expect("it works") > 0);
    assert!(world.store.timeline("pay", "b").await.expect("it works").is_none());
    world.close().await;
}

#[tokio::test]
async fn a_follower_names_the_head_that_blocks_it() {
    let world = World::new().await;
    let pay = world.handler("pay", "ordered").await;
    for key in ["a", "b", "c"] {
        world.accept(pay, key, Some("o-1"), b"{}").await;
    }
    world.fails(pay, "a").await;
    let timeline = world.store.timeline("pay", "c").await.expect("it works").expect("it works");
    let head = timeline.waiting.expect("it works").behind.expect("it works");
    assert_eq!((head.key.as_str(), head.failed_attempts, head.between), ("a", 1, 1));
    assert_eq!(head.message.as_deref(), Some("the order does not exist yet"));
    let first = world.store.timeline("pay", "a").await.expect("it works").expect("it works");
    assert!(first.waiting.expect("it works").behind.is_none());

    let blocked = world.store.handler("pay").await.expect("it works").expect("it works").blocked;
    assert_eq!((blocked.len(), blocked[0].head.as_str(), blocked[0].followers), (1, "a", 2));
    world.close().await;
}

#[tokio::test]
async fn a_key_conflict_shows_the_first_payload_while_it_is_kept() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"1").await;
    world.accept(pay, "a", None, b"\xff2").await;
    let letter = world.letter("a", "key_conflict").await;
    let detail = world.store.dead_letter(letter).await.expect("it works").expect("it works");
    assert_eq!((detail.payload.encoding.as_str(), detail.payload.body.as_str()), ("hex", "ff32"));
    assert_eq!(detail.extensions, [("tenant".to_owned(), "a".to_owned())]);
    let first = detail.original.expect("it works");
    assert_eq!((first.standing.as_str(), first.payload.expect("it works").body.as_str()), ("pending", "1"));

    world.dies(pay, "a").await;
    let first = world
        .store
        .dead_letter(letter)
        .await
        .expect("it works")
        .expect("it works")
        .original
        .expect("it works");
    assert_eq!((first.standing.as_str(), first.payload.expect("it works").body.as_str()), ("dead", "1"));
    let dead = world.letter("a", "delivery").await;
    world.store.replay(dead, None, &by()).await.expect("it works").expect("it works");
    world.done(pay, "a").await;
    let first = world
        .store
        .dead_letter(letter)
        .await
        .expect("it works")
        .expect("it works")
        .original
        .expect("it works");
    assert_eq!((first.standing.as_str(), first.payload), ("done", None));
    world.close().await;
}

#[tokio::test]
async fn the_status_counts_what_is_there() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    for key in ["a", "b", "c", "d"] {
        world.accept(pay, key, None, b"{}").await;
    }
    world.done(pay, "a").await;
    world.fails(pay, "b").await;
    world.dies(pay, "c").await;
    world.client().await.batch_execute(
        "INSERT INTO wonce.host (boot_id, name, version, last_seen, stopped_at) VALUES
         (gen_random_uuid(), 'now', '1', now(), NULL), (gen_random_uuid(), 'lost', '1', now() - interval '1 min', NULL),
         (gen_random_uuid(), 'left', '1', now() - interval '2 min', now()),
         (gen_random_uuid(), 'history', '1', now() - interval '2 days', NULL)",
    ).await.expect("it works");
    let status = world.store.status().await.expect("it works");
    let handler = &status.handlers[0];
    assert_eq!((handler.pending, handler.due, handler.scheduled_retries, handler.dead_letters), (2, 1, 1, 1));
    assert_eq!(handler.oldest_due_seconds, Some(0));
    assert_eq!(handler.version.label, "1.0.0");
    let hosts: Vec<_> = status.hosts.iter().map(|h| (h.name.as_str(), h.state.as_str())).collect();
    assert_eq!(hosts, [("now", "alive"), ("lost", "silent"), ("left", "stopped")]);
    assert_eq!((status.outbox[0].state.as_str(), status.outbox[0].effects), ("planned", 1));
    assert!(status.database.schema >= 8);
    world.close().await;
}
