//! Replay and discard: once, under the right key, at the tail, and on record.

use wonce_core::name::Key;
use wonce_host::store::dead_letter::Hindrance;
use wonce_host::store::handler_state::{HandlerState, StateChange};

use crate::world::{World, by};

#[tokio::test]
async fn a_replayed_delivery_starts_a_new_round_under_its_key() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"{\"n\":1}").await;
    world.fails(pay, "a").await;
    world.dies(pay, "a").await;
    assert_eq!(world.holding().await.dead, 1);
    let letter = world.letter("a", "delivery").await;

    let requeued = world.store.replay(letter, None, &by()).await.expect("it works").expect("it works");
    assert_eq!((requeued.handler.as_str(), requeued.key.as_str(), requeued.round), ("pay", "a", 1));
    let books = world.holding().await;
    assert_eq!((books.accepted, books.pending, books.dead), (1, 1, 0));
    let sql =
        "SELECT count(*) FROM wonce.inbox WHERE attempt = 0 AND round = 1 AND due_at <= clock_timestamp()
               AND convert_from(data, 'UTF8') = '{\"n\":1}' AND extensions = '{tenant,a}'";
    assert_eq!(world.count(sql).await, 1);
    assert_eq!(world.accept(pay, "a", None, b"{\"n\":1}").await, "duplicate");

    world.done(pay, "a").await;
    let books = world.holding().await;
    assert_eq!((books.pending, books.done), (0, 1));
    let sql =
        "SELECT count(*) FROM wonce.action WHERE verb = 'replay' AND actor = 'ada' AND reason = 'because'";
    assert_eq!(world.count(sql).await, 1);
    world.close().await;
}

#[tokio::test]
async fn however_many_replay_at_once_it_happens_once() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"{}").await;
    world.dies(pay, "a").await;
    let letter = world.letter("a", "delivery").await;
    let by = by();
    let all = futures_util::future::join_all((0..6).map(|_| world.store.replay(letter, None, &by))).await;
    let verdicts: Vec<_> = all.into_iter().map(Result::unwrap).collect();
    assert_eq!(verdicts.iter().filter(|v| v.is_ok()).count(), 1);
    assert_eq!(verdicts.iter().filter(|v| **v == Err(Hindrance::WasReplayed)).count(), 5);
    assert_eq!(world.count("SELECT count(*) FROM wonce.action").await, 1);
    assert_eq!(world.holding().await.pending, 1);
    world.close().await;
}

#[tokio::test]
async fn a_replayed_ordered_delivery_lands_at_the_tail() {
    let world = World::new().await;
    let pay = world.handler("pay", "ordered").await;
    for key in ["a", "b", "c"] {
        world.accept(pay, key, Some("o-1"), b"{}").await;
    }
    world.dies(pay, "a").await;
    // The lane went with upkeep: a replay must bring it back.
    world.client().await.batch_execute("DELETE FROM wonce.lane").await.expect("it works");
    let letter = world.letter("a", "delivery").await;
    world.store.replay(letter, None, &by()).await.expect("it works").expect("it works");
    let row = world
        .client()
        .await
        .query_one("SELECT array_agg(key ORDER BY id) FROM wonce.inbox", &[])
        .await
        .expect("it works");
    assert_eq!(row.get::<_, Vec<String>>(0), ["b", "c", "a"]);
    world.holding().await;
    world.close().await;
}

#[tokio::test]
async fn a_replay_waits_for_an_intake_of_the_same_ordering_key() {
    let world = World::new().await;
    let pay = world.handler("pay", "ordered").await;
    world.accept(pay, "a", Some("o-1"), b"{}").await;
    world.dies(pay, "a").await;
    let letter = world.letter("a", "delivery").await;
    // An intake that holds the key's lock and has not committed.
    let intake = world.client().await;
    intake.batch_execute("BEGIN").await.expect("it works");
    intake
        .query("SELECT pg_advisory_xact_lock(hashtextextended('o-1', $1))", &[&pay])
        .await
        .expect("it works");
    let store = world.store.clone();
    let replay = tokio::spawn(async move { store.replay(letter, None, &by()).await });
    let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                   AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let watcher = world.client().await;
    while watcher.query_one(waiting, &[]).await.expect("it works").get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
    intake.batch_execute(
        "INSERT INTO wonce.inbox (handler_id, key, key_rule, ordering_key, lane, due_at, accepted_at, payload_digest,
                                  hash_rule, via, source, event_type, data)
         SELECT handler_id, 'b', key_rule, ordering_key, wonce.lane_of(ordering_key), now(), now(), payload_digest,
                hash_rule, via, source, event_type, data FROM wonce.dead_letter;
         INSERT INTO wonce.tally (handler_id, accepted) SELECT handler_id, 1 FROM wonce.dead_letter;
         COMMIT",
    ).await.expect("it works");
    replay.await.expect("it works").expect("it works").expect("it works");
    let row = world
        .client()
        .await
        .query_one("SELECT array_agg(key ORDER BY id) FROM wonce.inbox", &[])
        .await
        .expect("it works");
    assert_eq!(row.get::<_, Vec<String>>(0), ["b", "a"]);
    world.holding().await;
    world.close().await;
}

#[tokio::test]
async fn a_key_conflict_is_replayed_under_a_free_new_key_only() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"1").await;
    world.accept(pay, "b", None, b"1").await;
    world.done(pay, "b").await;
    assert_eq!(world.accept(pay, "a", None, b"2").await, "key_conflict");
    let letter = world.letter("a", "key_conflict").await;
    let replay = async |key: Option<&str>| {
        let key = key.map(|k| Key::parse(k).expect("it works"));
        world.store.replay(letter, key.as_ref(), &by()).await.expect("it works")
    };
    assert_eq!(replay(None).await, Err(Hindrance::NeedsKey));
    assert_eq!(replay(Some("a")).await, Err(Hindrance::NeedsKey));
    assert_eq!(replay(Some("b")).await, Err(Hindrance::KeyTaken));
    world.accept(pay, "pending", None, b"1").await;
    assert_eq!(replay(Some("pending")).await, Err(Hindrance::KeyTaken));
    assert_eq!(world.holding().await.accepted, 3);
    assert_eq!(replay(Some("a-2")).await.expect("it works").round, 0);
    let books = world.holding().await;
    assert_eq!((books.accepted, books.pending, books.done), (4, 3, 1));
    world.close().await;
}

#[tokio::test]
async fn a_replay_gives_way_to_a_repeat_that_waits() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"1").await;
    world.dies(pay, "a").await;
    let letter = world.letter("a", "delivery").await;
    // As a concurrent intake leaves it: it looked before the original settled.
    world.client().await.batch_execute(
        "INSERT INTO wonce.inbox (handler_id, key, key_rule, due_at, accepted_at, payload_digest, hash_rule, via,
                                  source, event_type, data)
         SELECT handler_id, key, key_rule, now(), now(), payload_digest, hash_rule, via, source, event_type, data
         FROM wonce.dead_letter;
         INSERT INTO wonce.tally (handler_id, accepted) SELECT handler_id, 1 FROM wonce.dead_letter",
    ).await.expect("it works");
    assert_eq!(world.holding().await.late_to_come, 1);
    assert_eq!(
        world.store.replay(letter, None, &by()).await.expect("it works"),
        Err(Hindrance::RepeatPending)
    );
    let books = world.holding().await;
    assert_eq!((books.dead, books.pending), (1, 1));
    world.close().await;
}

#[tokio::test]
async fn a_discarded_letter_is_not_replayed_and_its_key_stays_known() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"1").await;
    world.dies(pay, "a").await;
    let letter = world.letter("a", "delivery").await;
    world.store.discard(letter, &by()).await.expect("it works").expect("it works");
    assert_eq!(world.store.discard(letter, &by()).await.expect("it works"), Err(Hindrance::WasDiscarded));
    assert_eq!(
        world.store.replay(letter, None, &by()).await.expect("it works"),
        Err(Hindrance::WasDiscarded)
    );
    assert_eq!(
        world.store.replay(letter + 99, None, &by()).await.expect("it works"),
        Err(Hindrance::Unknown)
    );
    assert_eq!(world.accept(pay, "a", None, b"1").await, "duplicate");
    let books = world.holding().await;
    assert_eq!((books.dead, books.discarded), (0, 1));
    world.close().await;
}

#[tokio::test]
async fn a_letter_without_its_ledger_row_is_left_alone() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"1").await;
    world.dies(pay, "a").await;
    world.client().await.batch_execute("DELETE FROM wonce.processed_events").await.expect("it works");
    let letter = world.letter("a", "delivery").await;
    assert_eq!(world.store.replay(letter, None, &by()).await.expect("it works"), Err(Hindrance::NoLedgerRow));
    assert_eq!(world.store.discard(letter, &by()).await.expect("it works"), Err(Hindrance::NoLedgerRow));
    assert_eq!(world.count("SELECT count(*) FROM wonce.inbox").await, 0);
    world.close().await;
}

#[tokio::test]
async fn pausing_twice_records_once() {
    let world = World::new().await;
    world.handler("pay", "unordered").await;
    let set =
        async |name: &str, state| world.store.set_handler_state(name, state, &by()).await.expect("it works");
    assert_eq!(set("pay", HandlerState::Paused).await, StateChange::Changed);
    assert_eq!(set("pay", HandlerState::Paused).await, StateChange::Unchanged);
    assert_eq!(set("nobody", HandlerState::Paused).await, StateChange::UnknownHandler);
    assert_eq!(set("pay", HandlerState::Active).await, StateChange::Changed);
    let detail = world.store.handler("pay").await.expect("it works").expect("it works");
    let verbs: Vec<_> = detail.actions.iter().map(|a| a.verb.as_str()).collect();
    assert_eq!(verbs, ["resume", "pause"]);
    world.close().await;
}
