//! `wonce verify`: what holds, and what it finds.

use wonce_host::store::sql::catalog;

use crate::world::{World, by};

#[tokio::test]
async fn every_statement_of_the_store_prepares() {
    let world = World::new().await;
    let client = world.client().await;
    for sql in catalog() {
        if let Err(e) = client.prepare_typed(sql.text, sql.params).await {
            panic!("cannot prepare \"{}\": {:?}", sql.name, e.as_db_error());
        }
    }
    world.close().await;
}

#[tokio::test]
async fn the_books_hold_through_every_standing() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    assert_eq!(world.holding().await.accepted, 0);
    for key in ["a", "b", "c", "d"] {
        assert_eq!(world.accept(pay, key, None, b"{}").await, "accepted");
    }
    assert_eq!(world.accept(pay, "a", None, b"{}").await, "duplicate");
    assert_eq!(world.accept(pay, "a", None, b"[]").await, "key_conflict");
    world.done(pay, "a").await;
    world.fails(pay, "b").await;
    world.dies(pay, "c").await;
    world.dies(pay, "d").await;
    let letter = world.letter("d", "delivery").await;
    world.store.discard(letter, &by()).await.expect("it works").expect("it works");

    let books = world.holding().await;
    assert_eq!((books.accepted, books.pending, books.done), (4, 1, 1));
    assert_eq!((books.dead, books.discarded, books.difference), (1, 1, 0));
    let verification = world.verify().await;
    assert_eq!((verification.key_conflicts, verification.parked), (1, 0));
    assert_eq!(verification.outbox[0].effects, 1);
    world.close().await;
}

#[tokio::test]
async fn a_lost_delivery_is_found() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"{}").await;
    world.client().await.batch_execute("DELETE FROM wonce.inbox").await.expect("it works");
    let verification = world.verify().await;
    assert!(!verification.holds);
    assert_eq!(verification.handlers[0].difference, -1);
    world.close().await;
}

#[tokio::test]
async fn a_forged_delivery_is_found() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"{}").await;
    world.client().await.batch_execute("DELETE FROM wonce.tally").await.expect("it works");
    assert_eq!(world.verify().await.handlers[0].difference, 1);
    world.close().await;
}

#[tokio::test]
async fn a_dead_letter_that_vanished_is_found() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"{}").await;
    world.dies(pay, "a").await;
    world.client().await.batch_execute("DELETE FROM wonce.dead_letter").await.expect("it works");
    let verification = world.verify().await;
    assert!(!verification.holds);
    assert!(verification.handlers[0].findings[0].contains("have no open dead letter"));
    world.close().await;
}

#[tokio::test]
async fn an_effect_of_another_transaction_is_found() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"{}").await;
    world.done(pay, "a").await;
    world.holding().await;
    let forge = "INSERT INTO wonce.outbox (handler_id, key, sink, dedup_key, effect_type, data, due_at)
                 SELECT handler_id, key, sink, 'other', effect_type, data, due_at FROM wonce.outbox";
    world.client().await.batch_execute(forge).await.expect("it works");
    let verification = world.verify().await;
    assert!(!verification.holds);
    assert!(verification.handlers[0].findings[0].starts_with("1 effects were not committed"));
    world.close().await;
}

#[tokio::test]
async fn an_ordered_delivery_without_its_lane_is_found() {
    let world = World::new().await;
    let pay = world.handler("pay", "ordered").await;
    world.accept(pay, "a", Some("o-1"), b"{}").await;
    world.client().await.batch_execute("DELETE FROM wonce.lane").await.expect("it works");
    assert!(world.verify().await.handlers[0].findings[0].contains("a lane that does not exist"));
    world.close().await;
}

#[tokio::test]
async fn rows_of_a_handler_that_is_gone_still_count() {
    let world = World::new().await;
    world
        .client()
        .await
        .batch_execute("INSERT INTO wonce.tally (handler_id, accepted) VALUES (99, 1)")
        .await
        .expect("it works");
    let verification = world.verify().await;
    assert!(!verification.holds);
    assert_eq!(verification.handlers[0].handler, "unknown handler #99");
    world.close().await;
}
