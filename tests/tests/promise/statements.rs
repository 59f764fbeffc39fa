//! Every statement of the store, against the schema that the migrations make.

use wonce_host::store::Store;
use wonce_host::store::sql::catalog;
use wonce_tests::world::{Setup, World};

#[tokio::test(flavor = "multi_thread")]
async fn every_statement_prepares_with_its_declared_parameter_types() {
    let world = World::running(Setup::probe()).await;
    let client = world.connect().await;
    let mut failures = Vec::new();
    for sql in catalog() {
        match client.prepare_typed(sql.text, sql.params).await {
            Ok(statement) if statement.params() == sql.params => {}
            Ok(statement) => {
                failures.push(format!(
                    "\"{}\": {:?} is declared, {:?} it is",
                    sql.name,
                    sql.params,
                    statement.params()
                ));
            }
            Err(error) => failures.push(format!("\"{}\": {error:?}", sql.name)),
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_two_statements_have_one_name() {
    let mut names: Vec<_> = catalog().iter().map(|sql| sql.name).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[tokio::test(flavor = "multi_thread")]
async fn migrating_a_migrated_database_changes_nothing() {
    let world = World::running(Setup::probe()).await;
    let tables = "select string_agg(c.relname || c.oid, ',' order by c.oid) from pg_class c
                  where c.relnamespace = 'wonce'::regnamespace";
    let before: String = world.value(tables).await;
    let store = Store::connect(&world.url().parse().expect("a URL"), 1).await.expect("a connection");
    store.migrate().await.expect("nothing to do");
    assert_eq!(world.value::<String>(tables).await, before);
    world.end().await;
}
