//! Effects over all events: those that are not confirmed, by sink and state, page by page.

use axum::http::StatusCode;
use serde_json::Value;
use wonce_host::admin::router;

use crate::api::{ask, get, refused, state};
use crate::world::World;

/// Ten effects to `mail`, two to `crm`; each second one of `mail` is confirmed, one of `crm` refused.
async fn world() -> World {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    for n in 0..10 {
        let key = format!("k-{n}");
        world.accept(pay, &key, None, b"{}").await;
        world.done(pay, &key).await;
    }
    world
        .client()
        .await
        .batch_execute(
            "UPDATE wonce.outbox SET state = 'confirmed', settled_at = now() WHERE id % 2 = 0;
             UPDATE wonce.outbox SET sink = 'crm' WHERE id IN (1, 3);
             UPDATE wonce.outbox SET state = 'refused', last_error = 'no such customer' WHERE id = 3",
        )
        .await
        .expect("as wanted");
    world
}

async fn listed(world: &World, query: &str) -> (Vec<i64>, Value) {
    let (status, _, list) = ask(&router(state(world, None)), get(&format!("/v1/effects{query}"))).await;
    assert_eq!(status, StatusCode::OK, "{list}");
    let ids = list["effects"].as_array().expect("effects").iter();
    (ids.map(|effect| effect["id"].as_i64().expect("an id")).collect(), list)
}

#[tokio::test]
async fn effects_that_are_not_confirmed_are_listed_over_all_sinks_latest_first() {
    let world = world().await;
    let (ids, list) = listed(&world, "").await;
    assert_eq!(ids, [9, 7, 5, 3, 1]);
    let refused = &list["effects"][3];
    assert_eq!(
        (refused["sink"].as_str(), refused["last_error"].as_str()),
        (Some("crm"), Some("no such customer"))
    );
    assert_eq!((refused["handler"].as_str(), refused["key"].as_str()), (Some("pay"), Some("k-2")));
    assert!(refused["due_in_seconds"].is_null() && list["effects"][0]["due_in_seconds"].is_i64());
    world.close().await;
}

#[tokio::test]
async fn effects_are_narrowed_by_sink_and_state_and_come_in_pages() {
    let world = world().await;
    assert_eq!(listed(&world, "?sink=crm").await.0, [3, 1]);
    assert_eq!(listed(&world, "?sink=crm&state=refused").await.0, [3]);
    assert_eq!(listed(&world, "?state=planned").await.0, [9, 7, 5, 1]);
    assert_eq!(listed(&world, "?state=confirmed&sink=mail").await.0, [10, 8, 6, 4, 2]);
    assert_eq!(listed(&world, "?sink=nobody").await.0, [0_i64; 0]);
    for (state, all) in [("planned", vec![9, 7, 5, 1]), ("confirmed", vec![10, 8, 6, 4, 2])] {
        let (mut ids, mut before) = (Vec::new(), String::new());
        loop {
            let (page, list) = listed(&world, &format!("?state={state}&limit=2{before}")).await;
            ids.extend(page);
            let Some(next) = list["next_before"].as_i64() else { break };
            before = format!("&before={next}");
        }
        assert_eq!(ids, all, "{state}");
    }
    let router = router(state(&world, None));
    refused(&router, get("/v1/effects?state=lost"), 400, "bad-request", "planned, sending").await;
    refused(&router, get("/v1/effects?sink=A%20b"), 400, "bad-request", "sink").await;
    world.close().await;
}
