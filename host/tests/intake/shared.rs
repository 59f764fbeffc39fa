//! Many senders in one commit: none harms another, none is lost.

use futures_util::future::join_all;
use wonce_core::delivery::PayloadHash;
use wonce_core::event::Event;
use wonce_core::name::{HandlerName, Key, OrderingKey};
use wonce_host::pipeline::intake::IntakeSettings;
use wonce_host::source::NotAccepted;
use wonce_host::store::Store;
use wonce_host::store::intake::{Arrival, Landed, NewDelivery, Recipient};

use crate::world::{World, event};

const ROUNDS: usize = 40;
const KEYS: usize = 24;

fn arrival(handler: i64, event: Event, ordering_key: Option<String>) -> Arrival {
    let key = event.id.clone().expect("an id");
    let delivery = NewDelivery {
        recipient: Recipient { id: handler, name: HandlerName::parse("pay").expect("a name") },
        key: Key::parse(key).expect("a key"),
        key_rule: "event:id".to_owned(),
        ordering_key: ordering_key.map(|key| OrderingKey::parse(key).expect("an ordering key")),
        hash: PayloadHash { rule: "test".to_owned(), digest: [7; 32] },
    };
    Arrival { event, deliveries: vec![delivery], parked: Vec::new() }
}

async fn accepted(store: &Store, arrivals: Vec<Arrival>) -> usize {
    let arrivals: Vec<&Arrival> = arrivals.iter().collect();
    let landed = store.accept(&arrivals).await.expect("no deadlock");
    landed.concat().into_iter().filter(|landed| *landed == Landed::Accepted).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shared_commits_with_the_same_keys_in_other_orders_never_deadlock() {
    let mut world = World::new().await;
    let plain = world.handler("pay", None, None).await;
    let ordered = world.handler("ship", None, Some("/o")).await;
    for round in 0..ROUNDS {
        let arrivals = || -> Vec<Arrival> {
            let one = |key: usize| {
                let event = event("pay.in", &format!("{round}-{key}"), "x");
                [
                    arrival(plain, event.clone(), None),
                    arrival(ordered, event, Some(format!("{}", (key * 7) % 5))),
                ]
            };
            (0..KEYS).flat_map(one).collect()
        };
        let mut turned = arrivals();
        turned.reverse();
        let mut mixed = arrivals();
        mixed.rotate_left(KEYS);
        let counts = tokio::join!(
            accepted(&world.store, arrivals()),
            accepted(&world.store, turned),
            accepted(&world.store, mixed)
        );
        assert_eq!(counts.0 + counts.1 + counts.2, 2 * KEYS, "each key is accepted once");
    }
    world.close().await;
}

#[tokio::test]
async fn an_event_that_the_database_refuses_costs_its_neighbours_nothing() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings { committers: 1, ..IntakeSettings::default() });
    let sends = (0..20).map(|n| {
        let mut event = event("pay.in", &n.to_string(), "x");
        event.subject = (n % 7 == 3).then(|| "a\0b".to_owned());
        intake.send(event)
    });
    let answers = join_all(sends).await;
    for (n, answer) in answers.iter().enumerate() {
        match answer {
            Ok(verdicts) => assert_eq!((verdicts[0].as_str(), n % 7 == 3), ("accepted", false)),
            Err(reason) => assert!(matches!(reason, NotAccepted::Failed { .. }) && n % 7 == 3, "{reason}"),
        }
    }
    assert_eq!(world.count("SELECT count(*) FROM wonce.inbox").await, 17);
    intake.end().await;
    world.close().await;
}

#[tokio::test]
async fn what_waits_when_the_host_stops_is_committed_and_the_rest_refused() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings { commit_events: 4, ..IntakeSettings::default() });
    let sends = join_all((0..50).map(|n| intake.send(event("pay.in", &n.to_string(), "x"))));
    let stop = async { intake.stop.cancel() };
    let (answers, ()) = tokio::join!(sends, stop);
    let kept = answers.iter().filter(|answer| answer.is_ok()).count();
    for reason in answers.into_iter().filter_map(Result::err) {
        assert!(matches!(reason, NotAccepted::Stopping { .. }), "{reason}");
    }
    assert!(kept > 0, "what was queued before the stop is committed");
    assert_eq!(world.count("SELECT count(*) FROM wonce.inbox").await, i64::try_from(kept).expect("few"));
    let late = intake.send(event("pay.in", "late", "x")).await;
    assert!(matches!(late, Err(NotAccepted::Stopping { .. })));
    intake.end().await;
    world.close().await;
}

#[tokio::test]
async fn a_database_that_is_gone_is_an_outage_and_not_a_refusal() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings::default());
    intake.send(event("pay.in", "1", "x")).await.expect("answered");
    world.close().await;
    let answer = intake.send(event("pay.in", "2", "x")).await;
    assert!(matches!(answer, Err(NotAccepted::Unavailable { .. })), "{answer:?}");
    intake.end().await;
}
