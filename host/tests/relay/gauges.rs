//! The numbers that only the database knows, sampled once for all hosts.

use std::time::Duration;

use uuid::Uuid;
use wonce_api::live::gauges::{Count, Gauges, Method};
use wonce_host::store::gauges::Cap;
use wonce_host::store::tick::Since;

use crate::world::{SINK, World};

const NOT_OFTEN: Duration = Duration::from_secs(3_600);
const SINCE: Since = Since { seconds: 60.0, action: 0 };

async fn sampled(world: &World) -> Gauges {
    let heard = world.store.exchange_ticks(Uuid::new_v4(), None, SINCE).await.expect("heard");
    serde_json::from_str(&heard.samples["gauges"].body).expect("the sample's document")
}

fn exact(n: u64) -> Count {
    Count { n, method: Method::Exact }
}

#[tokio::test]
async fn counts_are_exact_up_to_the_cap_and_never_below_it_above() {
    let world = World::new().await;
    for n in 0..5 {
        world.plan(SINK, &format!("d{n}"), None).await;
    }
    world.plan("sms", "d0", Some("o")).await;
    world.execute("UPDATE wonce.outbox SET state = 'confirmed' WHERE dedup_key = 'd4'").await;
    assert!(world.store.sample_gauges(Uuid::new_v4(), Cap(2), Duration::ZERO).await.expect("sampled"));
    let gauges = sampled(&world).await;
    let sinks: Vec<&str> = gauges.sinks.iter().map(|sink| sink.sink.as_str()).collect();
    let mut sorted = vec![SINK, "sms"];
    sorted.sort_unstable();
    assert_eq!(sinks, sorted);
    let of = |name: &str| gauges.sinks.iter().find(|sink| sink.sink == name).expect("it has effects");
    assert_eq!((of("sms").planned, of("sms").unknown), (exact(1), exact(0)));
    assert!(of("sms").oldest_planned_ms.is_some());
    let planned = of(SINK).planned;
    assert_eq!(planned.method, Method::Estimate);
    assert!(planned.n > 2, "{planned:?}: more than the cap were counted");
    world.close().await;
}

#[tokio::test]
async fn a_handler_with_a_due_and_a_waiting_delivery_shows_both() {
    let world = World::new().await;
    world
        .execute(
            "INSERT INTO wonce.inbox (handler_id, key, key_rule, due_at, accepted_at, payload_digest, hash_rule,
                                      via, source, event_type, data)
             SELECT h.id, 'k' || n, 'r', now() + n * interval '1 hour', now(), sha256('p'), 'r', 'v', 's', 't', ''
             FROM wonce.handler h, unnest(ARRAY[-1, 1]) AS n",
        )
        .await;
    world.store.sample_gauges(Uuid::new_v4(), Cap(10), Duration::ZERO).await.expect("sampled");
    let gauges = sampled(&world).await;
    let payments = gauges.handlers.iter().find(|h| h.handler == "payments").expect("is there");
    assert_eq!((payments.depth, payments.due, payments.scheduled_retries), (exact(2), exact(1), exact(1)));
    assert!(payments.oldest_due_ms >= Some(3_600_000), "{payments:?}");
    assert_eq!((payments.dead, payments.oldest_dead_ms), (exact(0), None));
    assert_eq!(gauges.parked, exact(0));
    world.close().await;
}

#[tokio::test]
async fn one_host_samples_for_all_and_not_before_it_is_time() {
    let world = World::new().await;
    let (one, two) = (Uuid::new_v4(), Uuid::new_v4());
    assert!(world.store.sample_gauges(one, Cap(10), NOT_OFTEN).await.expect("sampled"));
    assert!(!world.store.sample_gauges(two, Cap(10), NOT_OFTEN).await.expect("asked"));
    let heard = world.store.exchange_ticks(two, None, SINCE).await.expect("heard");
    assert_eq!(heard.samples["gauges"].boot, one.to_string());
    world.execute("UPDATE wonce.sample SET at = at - interval '2 hours', took_ms = 10").await;
    assert!(world.store.sample_gauges(two, Cap(10), NOT_OFTEN).await.expect("sampled"));
    world.execute("UPDATE wonce.sample SET took_ms = 60000").await;
    let asked = world.store.sample_gauges(one, Cap(10), Duration::ZERO).await.expect("asked");
    assert!(!asked, "a look that takes a minute is not repeated at once");
    assert!(world.store.sample_books(one).await.expect("counted"));
    assert!(!world.store.sample_books(two).await.expect("asked"), "not within half a minute");
    world.close().await;
}

#[tokio::test]
async fn hosts_read_each_others_ticks_and_not_their_own() {
    let world = World::new().await;
    let (one, two) = (Uuid::new_v4(), Uuid::new_v4());
    for (boot, name) in [(one, "one"), (two, "two")] {
        world.store.register_host(boot, name).await.expect("registered");
    }
    world.store.exchange_ticks(one, Some((1, "first")), SINCE).await.expect("written");
    world.store.exchange_ticks(one, Some((2, "second")), SINCE).await.expect("written");
    let heard = world.store.exchange_ticks(two, Some((1, "mine")), SINCE).await.expect("heard");
    let ticks: Vec<(u64, &str)> = heard.ticks.iter().map(|tick| (tick.seq, tick.body.as_str())).collect();
    assert_eq!(ticks, [(1, "first"), (2, "second")]);
    let names: Vec<(&str, bool)> = heard.hosts.iter().map(|host| (host.name.as_str(), host.ticks)).collect();
    assert_eq!(names, [("one", true), ("two", true)]);

    world.store.exchange_ticks(one, Some((400, "much later")), SINCE).await.expect("written");
    assert_eq!(
        world.text("SELECT string_agg(body, ' ' ORDER BY body) FROM wonce.tick").await,
        "mine much later"
    );
    world.close().await;
}

#[tokio::test]
async fn a_host_whose_next_boot_runs_is_not_listed_any_more() {
    let world = World::new().await;
    let (old, new) = (Uuid::new_v4(), Uuid::new_v4());
    world.store.register_host(old, "same").await.expect("registered");
    world.store.exchange_ticks(old, Some((1, "t")), SINCE).await.expect("written");
    world.store.register_host(new, "same").await.expect("registered");
    let heard = world.store.exchange_ticks(new, None, SINCE).await.expect("heard");
    let boots: Vec<&str> = heard.hosts.iter().map(|host| host.boot.as_str()).collect();
    assert_eq!(boots, [new.to_string()]);
    world.close().await;
}
