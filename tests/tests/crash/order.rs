//! Order over two hosts with failures among the events.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;
use tokio::task::JoinSet;
use wonce_tests::child::Host;
use wonce_tests::child::database::Database;
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::sender::{Event, Sender};
use wonce_tests::child::setup::Setup;
use wonce_tests::wait::{bounded, until};

const KEYS: usize = 50;
const EVENTS: usize = 40;
/// Of a hundred events, how many fail at first.
const FAILURES: u32 = 15;

#[tokio::test]
async fn each_ordering_key_is_handled_in_intake_order_and_never_two_at_once() {
    let mut rng = StdRng::seed_from_u64(3);
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    // Both hosts run the same order: each has 8 permits.
    let setup = || Setup::new(&database, receiver.address).ordered_by("/end/ignored");
    let setups = [setup(), setup()];
    let (one, one_doors) = Host::start(&setups[0]).await;
    let (two, two_doors) = Host::start(&setups[1]).await;
    let (sender, _hosts) = Sender::new(&[one_doors.http, two_doors.http]);
    let mut sending = JoinSet::new();
    for key in 0..KEYS {
        let events: Vec<Event> = (0..EVENTS).map(|n| event(key, n, &mut rng)).collect();
        let sender = sender.clone();
        // Within a key the next is sent when the last is accepted: sending order is intake order.
        sending.spawn(async move {
            for event in &events {
                sender.send(event).await;
            }
        });
    }
    bounded("every event is answered", async {
        while let Some(sent) = sending.join_next().await {
            sent.expect("a sender does not fail");
        }
    })
    .await;
    until("nothing is pending", async || database.number("SELECT count(*) FROM wonce.inbox").await == 0)
        .await;
    one.stop().await;
    two.stop().await;
    check(&database).await;
    database.books_hold().await;
    database.close().await;
}

/// The ordering key is the reason for which the guest ignores the event: the one member of a
/// script that may hold any text.
fn event(key: usize, n: usize, rng: &mut StdRng) -> Event {
    let (id, key) = (format!("k{key}-{n}"), format!("k{key}"));
    let attempt = if rng.random_range(0..100) < FAILURES { 2 } else { 1 };
    let insert = "insert into app.entry (event, k, n) values ($1, $2, $3)";
    let script = json!({
        "steps": [
            {"sql": insert, "params": [id, key, {"int4": n}]},
            {"require_attempt": attempt},
            {"sql": "update app.entry set ended = clock_timestamp() where event = $1", "params": [id]},
        ],
        "end": {"ignored": key},
    });
    Event { id, script }
}

async fn check(database: &Database) {
    let all = i64::try_from(KEYS * EVENTS).expect("a small number");
    assert_eq!(database.number("SELECT count(*) FROM app.entry WHERE ended IS NOT NULL").await, all);
    assert_ne!(database.number("SELECT count(*) FROM wonce.attempt").await, 0, "some failed at first");
    let passed = "SELECT format('%s: %s after %s', k, n, before)
                  FROM (SELECT k, n, lag(n) OVER (PARTITION BY k ORDER BY begun) AS before FROM app.entry) AS e
                  WHERE n <> coalesce(before + 1, 0)";
    assert_eq!(database.texts(passed).await, Vec::<String>::new(), "out of order");
    // A failed attempt's own row is gone; its record says when it ended and how long it ran.
    let overlapping = "WITH run AS (
            SELECT k, event, 'done' AS how, begun, ended FROM app.entry
            UNION ALL
            SELECT p.ignored_reason, p.event_id, 'failed',
                   a.failed_at - a.duration_us * interval '1 microsecond', a.failed_at
            FROM wonce.attempt a JOIN wonce.processed_events p USING (handler_id, key))
        SELECT format('%s during %s', a.event, b.event)
        FROM run a JOIN run b ON a.k = b.k AND (a.event, a.how) < (b.event, b.how)
                             AND a.begun < b.ended AND b.begun < a.ended";
    assert_eq!(database.texts(overlapping).await, Vec::<String>::new(), "two at once");
}
