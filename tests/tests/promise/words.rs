//! The words of the code are the words of the tables: each enum equals its column's CHECK.

use std::collections::BTreeSet;

use wonce_core::alert::judge::Standing;
use wonce_core::decide::DeadReason;
use wonce_core::effect::EffectState;
use wonce_core::fault::FaultClass;
use wonce_core::operation::{ItemState, OperationState, OperationVerb};
use wonce_core::route::ParkReason;
use wonce_tests::world::{Setup, World};

type Words = BTreeSet<String>;

fn words<'a>(all: impl IntoIterator<Item = &'a str>) -> Words {
    all.into_iter().map(str::to_owned).collect()
}

/// The words of the one-column CHECK on a column.
async fn allowed(world: &World, table: &str, column: &str) -> Words {
    let query = format!(
        "select array(select m[1] from pg_constraint c, regexp_matches(pg_get_constraintdef(c.oid), '''([^'']+)''::text', 'g') m
                      where c.conrelid = 'wonce.{table}'::regclass and c.contype = 'c' and cardinality(c.conkey) = 1
                        and c.conkey[1] = (select attnum from pg_attribute
                                           where attrelid = c.conrelid and attname = '{column}'))"
    );
    world.value::<Vec<String>>(&query).await.into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_enum_has_exactly_the_words_that_its_column_allows() {
    let world = World::running(Setup::probe()).await;
    let reasons =
        DeadReason::ALL.iter().map(|r| r.as_str()).chain(ParkReason::ALL.iter().map(|r| r.as_str()));
    assert_eq!(allowed(&world, "dead_letter", "reason").await, words(reasons));
    let states = EffectState::ALL.iter().map(|state| state.as_str());
    assert_eq!(allowed(&world, "outbox", "state").await, words(states));
    let verbs = OperationVerb::ALL.iter().map(|verb| verb.as_str());
    assert_eq!(allowed(&world, "operation", "verb").await, words(verbs));
    let states = OperationState::ALL.iter().map(|state| state.as_str());
    assert_eq!(allowed(&world, "operation", "state").await, words(states));
    let states = ItemState::ALL.iter().map(|state| state.as_str());
    assert_eq!(allowed(&world, "operation_item", "state").await, words(states));
    let standings = Standing::ALL.iter().filter(|standing| **standing != Standing::Quiet);
    assert_eq!(
        allowed(&world, "alert", "standing").await,
        words(standings.map(|standing| standing.as_str()))
    );
    // A fault's class has no CHECK, so that an older database takes a newer host's class.
    assert_eq!(allowed(&world, "attempt", "class").await, words([]));
    assert_eq!(words(FaultClass::ALL.iter().map(|class| class.as_str())).len(), FaultClass::ALL.len());
    world.end().await;
}
