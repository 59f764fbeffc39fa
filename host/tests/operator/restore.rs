//! A discard is taken back: for seven days, once, as it was, one or a whole operation.

use std::time::Duration;

use axum::http::StatusCode;
use wonce_api::dead_letter::{RESTORABLE_DAYS, Selection};
use wonce_core::operation::{ItemState, OperationVerb};
use wonce_host::admin::router;
use wonce_host::store::dead_letter::Hindrance;
use wonce_host::store::operation::Asked;
use wonce_host::store::upkeep::Retention;

use crate::api::{ask, post, refused, state};
use crate::operations::{asked, begin, dead, drive, host, write};
use crate::world::{World, by};

#[tokio::test]
async fn a_discarded_letter_is_open_again_as_it_was() {
    let world = World::new().await;
    let pay = dead(&world, &["a"]).await;
    let letter = world.letter("a", "delivery").await;
    assert_eq!(world.store.restore(letter, &by()).await.expect("it works"), Err(Hindrance::IsOpen));
    let before = world.store.dead_letter(letter).await.expect("it works").expect("it is there");
    world.store.discard(letter, &by()).await.expect("it works").expect("it works");
    // Whatever upkeep lets go, a discarded payload is not part of it.
    world.store.upkeep(&[Retention { handler: pay, keep: Duration::ZERO }]).await.expect("a round");
    world.store.restore(letter, &by()).await.expect("it works").expect("it works");
    let books = world.holding().await;
    assert_eq!((books.dead, books.discarded), (1, 0));
    let after = world.store.dead_letter(letter).await.expect("it works").expect("it is there");
    assert_eq!((&after.summary, &after.payload), (&before.summary, &before.payload));
    let verbs: Vec<&str> = after.actions.iter().map(|action| action.verb.as_str()).collect();
    assert_eq!(verbs, ["restore", "discard"]);
    assert_eq!(world.store.restore(letter, &by()).await.expect("it works"), Err(Hindrance::IsOpen));

    assert_eq!(world.accept(pay, "a", None, b"{}").await, "duplicate");
    world.store.replay(letter, None, &by()).await.expect("it works").expect("it works");
    assert_eq!(world.store.restore(letter, &by()).await.expect("it works"), Err(Hindrance::WasReplayed));
    world.done(pay, "a").await;
    let books = world.holding().await;
    assert_eq!((books.dead, books.discarded, books.done), (0, 0, 1));
    world.close().await;
}

#[tokio::test]
async fn after_seven_days_a_discard_is_final() {
    let world = World::new().await;
    dead(&world, &["a", "b"]).await;
    let (a, b) = (world.letter("a", "delivery").await, world.letter("b", "delivery").await);
    for letter in [a, b] {
        world.store.discard(letter, &by()).await.expect("it works").expect("it works");
    }
    let days = "SELECT (extract(epoch FROM wonce.restorable_for()) / 86400)::bigint";
    assert_eq!(world.count(days).await, i64::from(RESTORABLE_DAYS));
    let age = format!(
        "UPDATE wonce.dead_letter SET acted_at = acted_at - wonce.restorable_for()
             + CASE WHEN id = {a} THEN interval '1 hour' ELSE interval '0' END"
    );
    world.client().await.batch_execute(&age).await.expect("they age");
    let router = router(state(&world, None));
    let (status, _, restored) = ask(&router, post(&format!("/v1/dead-letters/{a}/restore"), "{}")).await;
    assert_eq!((status, &restored["id"]), (StatusCode::OK, &a.into()), "{restored}");
    let path = format!("/v1/dead-letters/{b}/restore");
    refused(&router, post(&path, "{}"), 409, "too-late", "more than 7 days ago").await;
    refused(&router, post("/v1/dead-letters/99/restore", "{}"), 404, "not-found", "wonce dead list").await;
    let books = world.holding().await;
    assert_eq!((books.dead, books.discarded), (1, 1));
    world.close().await;
}

#[tokio::test]
async fn a_discard_of_what_owns_no_delivery_is_taken_back_too() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"1").await;
    assert_eq!(world.accept(pay, "a", None, b"2").await, "key_conflict");
    let letter = world.letter("a", "key_conflict").await;
    world.store.discard(letter, &by()).await.expect("it works").expect("it works");
    world.store.restore(letter, &by()).await.expect("it works").expect("it works");
    assert_eq!(world.letter("a", "key_conflict").await, letter);
    assert_eq!(world.holding().await.pending, 1);
    world.close().await;
}

#[tokio::test]
async fn an_operation_that_discarded_is_taken_back_as_a_whole() {
    let world = World::new().await;
    dead(&world, &["a", "b", "c", "d"]).await;
    let d = world.letter("d", "delivery").await;
    world.store.discard(d, &by()).await.expect("it works").expect("it works");
    let discard = begin(&world, &asked_to(OperationVerb::Discard, None, "discard", 3)).await;
    drive(&host(&world)).await;
    // One of them was taken back before, and given up again for a reason of its own.
    let a = world.letter_in("a", "discarded").await;
    world.store.restore(a, &by()).await.expect("it works").expect("it works");
    world.store.discard(a, &by()).await.expect("it works").expect("it works");

    let whole = begin(&world, &asked_to(OperationVerb::Restore, Some(discard), "restore", 2)).await;
    let items = drive(&host(&world)).await;
    assert!(
        items
            .iter()
            .all(|(_, state, result)| (*state, result.as_str()) == (ItemState::Succeeded, "restored"))
    );
    let books = world.holding().await;
    assert_eq!((books.dead, books.discarded), (2, 2));
    world.letter("b", "delivery").await;
    world.letter("c", "delivery").await;

    let router = router(state(&world, None));
    let restore = |operation: i64| {
        let body =
            format!(r#"{{"verb":"restore","filter":{{"operation":{operation}}},"as_of":99,"expected":1}}"#);
        write("POST", "/v1/operations", Some("again"), &body)
    };
    refused(&router, restore(whole), 422, "not-a-discard", "only a discard can be taken back").await;
    refused(&router, restore(99), 404, "not-found", "no operation 99").await;
    refused(&router, restore(discard), 409, "count-differs", "0 dead letters match").await;
    world.close().await;
}

fn asked_to(verb: OperationVerb, operation: Option<i64>, name: &str, expected: i64) -> Asked {
    Asked { verb, selection: Selection { operation, ..Selection::default() }, ..asked(name, expected) }
}
