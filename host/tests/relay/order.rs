//! Order per ordering key, across hosts and failures.

use std::collections::{BTreeMap, VecDeque};

use crate::receiver::{Receiver, Request};
use crate::world::{SINK, World, patient};

const KEYS: usize = 4;
const EFFECTS_A_KEY: usize = 6;
/// Requests that the receiver keeps open before it answers the oldest, so that two of one key
/// would meet there.
const HELD: usize = 3;

/// What the receiver has seen of one ordering key.
#[derive(Default)]
struct Lane {
    confirmed: usize,
    open: bool,
    refused_once: bool,
}

#[tokio::test]
async fn effects_of_a_key_arrive_in_order_and_one_at_a_time_across_two_hosts() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    for effect in 0..EFFECTS_A_KEY {
        for key in 0..KEYS {
            let ordering_key = format!("o{key}");
            world.plan(SINK, &format!("{ordering_key}/{effect}"), Some(&ordering_key)).await;
        }
    }
    let relays = [world.relay(&receiver.url, patient()), world.relay(&receiver.url, patient())];

    let mut lanes: BTreeMap<String, Lane> = BTreeMap::new();
    let mut held: VecDeque<Request> = VecDeque::new();
    loop {
        let unfinished = KEYS - lanes.values().filter(|l| l.confirmed == EFFECTS_A_KEY).count();
        if unfinished == 0 {
            break;
        }
        if held.len() == HELD.min(unfinished) {
            let oldest = held.pop_front().expect("one is held");
            answer(oldest, &mut lanes);
            continue;
        }
        let request = receiver.next().await;
        let (key, effect) = split(&request);
        let lane = lanes.entry(key.clone()).or_default();
        assert!(!lane.open, "two effects of {key} at once");
        assert_eq!(effect, lane.confirmed, "{key} in order");
        lane.open = true;
        held.push_back(request);
    }

    world.until("NOT EXISTS (SELECT FROM wonce.outbox o WHERE o.state <> 'confirmed')").await;
    for relay in relays {
        relay.end().await;
    }
    assert_eq!(receiver.unseen(), 0);
    let retried = world.text("SELECT count(*)::text FROM wonce.outbox WHERE attempt = 2").await;
    assert_eq!(retried, (KEYS * EFFECTS_A_KEY / 2).to_string(), "every second effect failed once");
    world.close().await;
}

/// Every second effect fails at first.
fn answer(request: Request, lanes: &mut BTreeMap<String, Lane>) {
    let (key, effect) = split(&request);
    let lane = lanes.get_mut(&key).expect("was seen");
    lane.open = false;
    if effect % 2 == 1 && !lane.refused_once {
        lane.refused_once = true;
        request.answer(503);
    } else {
        lane.refused_once = false;
        lane.confirmed += 1;
        request.answer(200);
    }
}

fn split(request: &Request) -> (String, usize) {
    let key = request.key();
    let (ordering_key, effect) = key.split_once('/').expect("two parts");
    (ordering_key.to_owned(), effect.parse().expect("a number"))
}

#[tokio::test]
async fn a_head_that_waits_for_its_retry_blocks_only_its_key() {
    let (world, mut receiver) = (World::new().await, Receiver::start().await);
    for (dedup_key, ordering_key) in [("a1", Some("a")), ("a2", Some("a")), ("b1", Some("b")), ("u1", None)] {
        world.plan(SINK, dedup_key, ordering_key).await;
    }
    let relay = world.relay(&receiver.url, patient());
    for _ in 0..3 {
        let request = receiver.next().await;
        match request.key().as_str() {
            "a1" => request.answer_with(429, &[("retry-after", "3600")], ""),
            "b1" | "u1" => request.answer(200),
            other => panic!("{other} passed the head of its key"),
        }
    }

    world.until("(SELECT count(*) FROM wonce.outbox o WHERE o.state = 'confirmed') = 2").await;
    world.until("dedup_key = 'a1' AND state = 'planned' AND attempt = 1").await;
    world.execute("UPDATE wonce.outbox SET due_at = now() WHERE dedup_key = 'a1'").await;
    for expected in ["a1", "a2"] {
        let request = receiver.next().await;
        assert_eq!(request.key(), expected);
        request.answer(200);
    }
    world.until("(SELECT count(*) FROM wonce.outbox o WHERE o.state = 'confirmed') = 4").await;
    relay.end().await;
    world.close().await;
}
