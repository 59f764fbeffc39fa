//! What the README says of a transaction-mode pooler: everything but invocations may go through it.

use serde_json::{Value, json};
use tokio::task::JoinSet;
use wonce_tests::child::database::Database;
use wonce_tests::child::pooler::Pooler;
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::sender::{Event, Sender};
use wonce_tests::child::setup::Setup;
use wonce_tests::child::{Doors, Host, verb};
use wonce_tests::wait::{bounded, until};

const EVENTS: usize = 60;
const DEAD: &str = "doomed";

#[tokio::test]
async fn hosts_behind_a_transaction_mode_pooler_keep_every_promise() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let pooler = Pooler::start(&database).await;
    let setups = [(); 2].map(|()| Setup::new(&database, receiver.address).through(&pooler));
    let mut hosts = setups.each_ref().map(|setup| Host::launch(setup, None));
    let doors = both_ready(&mut hosts).await;
    let migrated = hosts.iter().filter(|host| host.log().text().contains("brought the database up to date"));
    assert_eq!(migrated.count(), 1, "migrations run once, under a lock that survives the pooler");

    send_everything_twice(doors).await;
    enqueue_from_sql(&pooler).await;
    until("every event is settled", async || settled(&database).await == EVENTS + 2).await;
    until("nothing is pending", async || database.number("SELECT count(*) FROM wonce.inbox").await == 0)
        .await;
    operate(&database, doors[0]).await;
    database.settles(2).await;

    // All but the one that dies, and the one from SQL.
    let handled = i64::try_from(EVENTS + 1).expect("a small number");
    assert_eq!(database.number("SELECT count(*) FROM app.entry").await, handled);
    let confirmed = "SELECT count(*) FROM wonce.outbox WHERE state = 'confirmed'";
    assert_eq!(database.number(confirmed).await, handled);
    let repeats = "SELECT sum(duplicate_early + duplicate_late)::bigint FROM wonce.tally";
    let twice = i64::try_from(EVENTS + 1).expect("a small number");
    assert_eq!(database.number(repeats).await, twice, "what came by HTTP came twice");
    assert!(pooler.transactions().await > EVENTS as u64, "the pooler was on the way");
    verify(&["--database-url", &pooler.url]).await;
    database.books_hold().await;
    for host in hosts {
        host.stop().await;
    }
    drop(pooler);
    database.close().await;
}

#[tokio::test]
async fn a_pooler_that_changes_the_login_of_a_handler_runs_no_handler() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let pooler = Pooler::start(&database).await;
    let setup = Setup::new(&database, receiver.address).invoking_through(&pooler);
    let mut host = Host::launch(&setup, None);
    let doors = host.ready().await.unwrap_or_else(|status| panic!("{status}:\n{}", host.log().text()));

    let (sender, _hosts) = Sender::new(&[doors.http]);
    sender.send(&Event { id: "e0".to_owned(), script: books("e0") }).await;
    until("the host says why", async || {
        host.log().text().contains("database.direct_url leads past the pooler")
    })
    .await;

    assert_eq!(database.number("SELECT count(*) FROM app.entry").await, 0);
    assert_eq!(database.number("SELECT count(*) FROM wonce.inbox WHERE attempt = 0").await, 1);
    database.books_hold().await;
    host.stop().await;
    drop(pooler);
    database.close().await;
}

async fn both_ready(hosts: &mut [Host; 2]) -> [Doors; 2] {
    let mut doors = Vec::new();
    for host in hosts {
        let ready = host.ready().await;
        doors.push(ready.unwrap_or_else(|status| panic!("{status}:\n{}", host.log().text())));
    }
    [doors[0], doors[1]]
}

async fn settled(database: &Database) -> usize {
    let settled = database.number("SELECT count(*) FROM wonce.processed_events").await;
    usize::try_from(settled).expect("a count")
}

fn books(id: &str) -> Value {
    json!({"steps": [
        {"sql": "insert into app.entry (event) values ($1)", "params": [id]},
        {"emit": {"data": {"event": id}}},
    ]})
}

/// At once, to either host.
async fn send_everything_twice(doors: [Doors; 2]) {
    let (sender, _hosts) = Sender::new(&doors.map(|doors| doors.http));
    let mut events: Vec<Event> =
        (0..EVENTS).map(|n| format!("e{n}")).map(|id| Event { script: books(&id), id }).collect();
    let doomed = json!({"steps": [], "end": {"permanent": {"code": "scripted"}}});
    events.push(Event { id: DEAD.to_owned(), script: doomed });
    let mut sending = JoinSet::new();
    for event in events.iter().chain(&events) {
        let (sender, event) = (sender.clone(), event.clone());
        sending.spawn(async move { sender.send(&event).await });
    }
    bounded("every event is answered", async {
        while let Some(sent) = sending.join_next().await {
            sent.expect("a sender does not fail");
        }
    })
    .await;
}

/// In a transaction of its own on the pooler.
async fn enqueue_from_sql(pooler: &Pooler) {
    let (client, connection) =
        tokio_postgres::connect(&pooler.url, tokio_postgres::NoTls).await.expect("the pooler answers");
    tokio::spawn(connection);
    let enqueue = format!(
        "BEGIN; SELECT wonce.enqueue_json('probe.run', '{}', event_id => 'from-sql'); COMMIT",
        books("from-sql")
    );
    client.batch_execute(&enqueue).await.expect("it is enqueued");
}

/// The operator's verbs, over a host whose control connections go through the pooler.
async fn operate(database: &Database, doors: Doors) {
    let admin = format!("http://{}", doors.admin);
    let said = |words: &'static [&'static str]| {
        let admin = admin.clone();
        async move { answer(&[words, &["--connect", &admin]].concat()).await }
    };
    assert!(said(&["status"]).await.contains("probe"));
    let key = "SELECT key FROM wonce.processed_events WHERE event_id = 'e0'";
    let key = &database.texts(key).await[0];
    let shown = answer(&["event", "show", "probe", key, "--connect", &admin]).await;
    assert!(shown.contains("confirmed"), "{shown}");
    assert!(said(&["handler", "pause", "probe", "--reason", "a test"]).await.contains("paused"));
    assert!(said(&["handler", "resume", "probe", "--reason", "a test"]).await.contains("probe"));
    let dead = database.texts("SELECT id::text FROM wonce.dead_letter WHERE state = 'dead'").await;
    answer(&["dead", "replay", &dead[0], "--reason", "a test", "--connect", &admin]).await;
    until("it died again", async || {
        let again = "SELECT count(*) FROM wonce.dead_letter WHERE state = 'dead' AND id <> ";
        database.number(&format!("{again}{}", dead[0])).await == 1
    })
    .await;
    verify(&["--connect", &admin]).await;
}

async fn verify(words: &[&str]) {
    assert!(answer(&[&["verify"], words].concat()).await.contains("holds"));
}

async fn answer(words: &[&str]) -> String {
    let output = verb(words).await;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?} ended with {}:\n{said}{complaint}", output.status);
    said
}
