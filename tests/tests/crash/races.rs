//! Races between hosts, forced by connections that the test holds.

use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Client;
use uuid::Uuid;
use wonce_core::decide::DeadReason;
use wonce_core::fault::{Fault, FaultClass};
use wonce_core::name::HandlerName;
use wonce_core::pace::BatchLimit;
use wonce_host::store::Store;
use wonce_host::store::action::By;
use wonce_host::store::claim::{ClaimedDelivery, FirstLane};
use wonce_host::store::deploy::{
    ChosenBy, DeploySpec, DeployVerb, Deployed, FirstState, Isolation, OnOtherVersion, Ordering, Rights,
};
use wonce_host::store::lease::LeasePool;
use wonce_host::store::place::ClaimTurns;
use wonce_host::store::settle::{Record, Settlement, Written};
use wonce_tests::child::database::{Database, until_one_waits_for_a_lock};

/// Longer than any test.
const NEVER: Duration = Duration::from_secs(3600);
/// Everything that a settlement writes.
const WRITTEN: &str = "SELECT (SELECT count(*) FROM wonce.processed_events)
                            + (SELECT count(*) FROM wonce.attempt) + (SELECT count(*) FROM wonce.dead_letter)";

/// A handler whose secret the test knows.
const HANDLER: &str =
    "INSERT INTO wonce.handler (name, ordering, active_version, policy, secret_hash, deployed_by)
    VALUES ('probe', 'ordered', sha256('v'), '{}', sha256('secret'), 'test')";
const LANE: &str =
    "INSERT INTO wonce.lane (handler_id, lane) SELECT id, wonce.lane_of('k') FROM wonce.handler";
/// What a host's claim calls, for the key of what it got.
const CLAIM: &str =
    "SELECT c.key FROM wonce.handler h, wonce.claim(h.id, 'secret', 1, 0::smallint, '-infinity', 0) c";

#[tokio::test]
async fn a_failed_commit_writes_nothing_while_or_after_another_host_has_its_row() {
    let database = Database::new().await;
    let store = store(&database).await;
    let deployed = deploy(&store, &database).await;
    accept(&database, &["first"], None).await;
    let claimed = claim_and_let_go(&deployed).await;
    let settle = async || {
        let (settlement, record) = (dead(), record(&deployed));
        let settled =
            store.settle_elsewhere(&deployed.access, &claimed.delivery, 0, &settlement, &record).await;
        settled.expect("the database answers")
    };

    let other = database.client().await;
    other.batch_execute("BEGIN; SELECT FROM wonce.inbox FOR UPDATE").await.expect("the row is another's");
    assert!(matches!(settle().await, Written::Overtaken), "another host holds the row");
    other
        .batch_execute("UPDATE wonce.inbox SET attempt = attempt + 1; COMMIT")
        .await
        .expect("it failed there");
    assert!(matches!(settle().await, Written::Overtaken), "another host counted an attempt");
    other.batch_execute("UPDATE wonce.inbox SET attempt = 0, round = 1").await.expect("a replay");
    assert!(matches!(settle().await, Written::Overtaken), "it is another round");
    assert_eq!(database.number(WRITTEN).await, 0);

    other.batch_execute("UPDATE wonce.inbox SET round = 0").await.expect("as it was claimed");
    assert!(matches!(settle().await, Written::Committed), "nobody has it");
    assert_eq!(database.number(WRITTEN).await, 3, "ledger row, attempt and dead letter");
    assert!(matches!(settle().await, Written::Overtaken), "it is gone");
    assert_eq!(database.number(WRITTEN).await, 3);
    database.close().await;
}

#[tokio::test]
async fn followers_wait_while_their_head_runs_and_after_it_was_put_off() {
    let database = ordered().await;
    let (one, two) = (database.client().await, database.client().await);
    one.batch_execute("BEGIN").await.expect("a transaction");
    assert_eq!(claim(&one).await, ["head"]);
    assert_eq!(claim(&two).await, Vec::<String>::new(), "the head runs");
    one.batch_execute(
        "UPDATE wonce.inbox SET due_at = now() + interval '1 h', attempt = 1 WHERE key = 'head'; COMMIT",
    )
    .await
    .expect("put off");
    assert_eq!(claim(&two).await, Vec::<String>::new(), "the head waits for its next try");
    two.batch_execute("UPDATE wonce.inbox SET due_at = now() WHERE key = 'head'").await.expect("due");
    assert_eq!(claim(&two).await, ["head"]);
    two.batch_execute("DELETE FROM wonce.inbox WHERE key = 'head'").await.expect("settled");
    assert_eq!(claim(&two).await, ["follower"]);
    database.close().await;
}

#[tokio::test]
async fn a_head_that_is_put_off_between_the_two_looks_of_a_claim_is_not_passed() {
    let database = ordered().await;
    let (gate, other) = (database.client().await, database.client().await);
    // Lets the first look pass, which only reads, and holds back the lock on the lane.
    gate.batch_execute("BEGIN; LOCK TABLE wonce.lane IN EXCLUSIVE MODE").await.expect("a lock");
    let claimer = database.client().await;
    let claiming = tokio::spawn(async move { claim(&claimer).await });
    until_one_waits_for_a_lock(&database).await;
    other
        .batch_execute(
            "UPDATE wonce.inbox SET due_at = now() + interval '1 h', attempt = 1 WHERE key = 'head'",
        )
        .await
        .expect("another host put the head off");
    gate.batch_execute("COMMIT").await.expect("the lane is free");
    assert_eq!(claiming.await.expect("a claim"), Vec::<String>::new(), "the follower passed its head");
    database.close().await;
}

/// A database with a head and its follower.
async fn ordered() -> Database {
    let database = Database::new().await;
    store(&database).await;
    database.execute(HANDLER).await;
    database.execute(LANE).await;
    accept(&database, &["head", "follower"], Some("k")).await;
    database
}

async fn claim(client: &Client) -> Vec<String> {
    client.query(CLAIM, &[]).await.expect("a claim").iter().map(|row| row.get(0)).collect()
}

async fn accept(database: &Database, keys: &[&str], ordering_key: Option<&str>) {
    let sql = "WITH accepted AS (
        INSERT INTO wonce.inbox (handler_id, key, key_rule, ordering_key, lane, due_at, accepted_at,
                                 payload_digest, hash_rule, via, source, event_type, data)
        SELECT id, $1, 'test', $2, wonce.lane_of($2), now(), now(), sha256(''), 'bytes', 'test', 's', 'probe.run', ''
        FROM wonce.handler RETURNING 1) SELECT count(*) FROM accepted";
    for key in keys {
        assert_eq!(database.number_of(sql, &[key, &ordering_key]).await, 1);
    }
}

async fn store(database: &Database) -> Store {
    let store = Store::connect(&database.url.parse().expect("a URL"), 2).await.expect("a connection");
    store.migrate().await.expect("a schema");
    store
}

async fn deploy(store: &Store, database: &Database) -> Deployed {
    let boot = Uuid::new_v4();
    store.register_host(boot, "test").await.expect("known");
    let spec = DeploySpec {
        name: HandlerName::parse("probe").expect("a name"),
        ordering: Ordering::Unordered,
        component: b"never run".to_vec(),
        manifest: String::new(),
        label: "1.0.0".to_owned(),
        owner: None,
        policy: serde_json::json!({}),
        isolation: Isolation::Role,
        settings: Default::default(),
        signature: None,
        rights: Some(Rights::default()),
        setup: None,
        first_state: FirstState::Active,
        on_other_version: OnOtherVersion::Refuse,
        chosen_by: ChosenBy::File,
        verb: DeployVerb::Deploy,
        by: By::new("test", "").expect("recordable"),
        boot,
    };
    store.deploy(&spec, &database.url.parse().expect("a URL")).await.expect("deployed")
}

/// What a host knows whose commit failed: what it had claimed, and that it holds it no more.
async fn claim_and_let_go(deployed: &Deployed) -> ClaimedDelivery {
    let (access, turns) = (Arc::new(deployed.access.clone()), ClaimTurns::default());
    let claimed = LeasePool::new(1)
        .claim(&access, &turns, BatchLimit::ONE, FirstLane(0), NEVER)
        .await
        .expect("a claim");
    let mut claimed = claimed.expect("something is due");
    claimed.transaction.release().await;
    claimed.deliveries.remove(0)
}

fn dead() -> Settlement {
    let fault = Fault::new(FaultClass::Permanent, "23514", "at commit: refused");
    Settlement::Dead { fault, reason: DeadReason::Permanent, fingerprint: "f".to_owned() }
}

fn record(deployed: &Deployed) -> Record {
    Record {
        version: deployed.digest,
        host: Uuid::new_v4(),
        duration: Duration::ZERO,
        log_tail: String::new(),
        owner: None,
    }
}
