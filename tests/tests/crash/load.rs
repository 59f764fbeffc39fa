//! Seeded load: events of which some retry once and some die, and what must be true in the end.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use wonce_tests::child::database::Database;
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::sender::{Event, Sender};

/// Of a hundred events, how many retry once, die, and are sent twice.
const RETRIES: u32 = 15;
const DEATHS: u32 = 10;
const DUPLICATES: u32 = 20;

/// Events in the order in which they are sent, duplicates among them.
pub(crate) struct Load {
    pub(crate) sendings: Vec<Event>,
    good: Vec<String>,
    dying: Vec<String>,
}

impl Load {
    pub(crate) fn draw(rng: &mut StdRng, events: usize) -> Self {
        let mut load = Self { sendings: Vec::new(), good: Vec::new(), dying: Vec::new() };
        for number in 0..events {
            let id = format!("e{number}");
            let drawn = rng.random_range(0..100);
            let (steps, end) = match drawn {
                _ if drawn < DEATHS => (json!([]), json!({"permanent": {"code": "scripted"}})),
                _ if drawn < DEATHS + RETRIES => (json!([{"require_attempt": 2}]), json!("done")),
                _ => (json!([]), json!("done")),
            };
            if drawn < DEATHS {
                load.dying.push(id.clone())
            } else {
                load.good.push(id.clone())
            }
            let event = Event { script: script(&id, &steps, &end), id };
            if rng.random_range(0..100) < DUPLICATES {
                load.sendings.push(event.clone());
            }
            load.sendings.push(event);
        }
        // Near its original, as repeats are: within a slice of about two lives.
        load.sendings.chunks_mut(20).for_each(|chunk| chunk.shuffle(rng));
        load
    }

    /// Sends a part, everything at once.
    pub(crate) fn send(events: &[Event], sender: &Sender, sending: &mut JoinSet<()>) {
        for event in events {
            let (sender, event) = (sender.clone(), event.clone());
            sending.spawn(async move { sender.send(&event).await });
        }
    }

    /// Each good event has one business row and one confirmed effect, each other one a dead
    /// letter and nothing else; the receiver saw no event under two keys; the books hold.
    pub(crate) async fn is_handled_exactly_once(&self, database: &Database, receiver: &Receiver) {
        let mut good = self.good.clone();
        good.sort();
        let entries = database.texts("SELECT event FROM app.entry ORDER BY event COLLATE \"C\"").await;
        assert_eq!(entries, good, "business rows");
        let effects = "SELECT convert_from(data, 'UTF8')::jsonb ->> 'event' COLLATE \"C\" FROM wonce.outbox
                       WHERE state = 'confirmed' ORDER BY 1";
        assert_eq!(database.texts(effects).await, good, "effects");
        let dead = "SELECT event_id COLLATE \"C\" FROM wonce.dead_letter
                    WHERE state = 'dead' AND reason = 'permanent' ORDER BY 1";
        let mut dying = self.dying.clone();
        dying.sort();
        assert_eq!(database.texts(dead).await, dying, "dead letters");
        let received = receiver.received();
        assert_eq!(received.keys().cloned().collect::<Vec<_>>(), good, "received");
        for (event, received) in received {
            assert_eq!(received.idempotency_keys.len(), 1, "{event} arrived as {received:?}");
        }
        database.books_hold().await;
    }
}

/// Business row and effect come first: what is rolled back must have been there.
fn script(id: &str, steps: &Value, end: &Value) -> Value {
    let mut all = vec![
        json!({"sql": "insert into app.entry (event) values ($1)", "params": [id]}),
        json!({"emit": {"data": {"event": id}}}),
    ];
    all.extend(steps.as_array().cloned().unwrap_or_default());
    json!({"steps": all, "end": end})
}
