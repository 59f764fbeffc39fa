//! Events that SQL callers enqueue in their own transactions.

use wonce_host::pipeline::intake::Unrouted;
use wonce_host::pipeline::submitted::{Look, SubmittedMover};

use crate::world::World;

fn mover(world: &World) -> SubmittedMover {
    SubmittedMover {
        store: world.store.clone(),
        routes: world.routes.clone(),
        wake: world.wake.clone(),
        unrouted: Unrouted::Reject,
        max_event_bytes: 1_000,
    }
}

#[tokio::test]
async fn an_event_exists_if_and_only_if_its_caller_commits() {
    let mut world = World::new().await;
    let handler = world.handler("pay", None, None).await;
    let caller = world.client().await;
    let rolled_back = "BEGIN; SELECT wonce.enqueue('pay.in', 'x', 'e1'); ROLLBACK";
    caller.batch_execute(rolled_back).await.expect("rolled back");
    assert_eq!(mover(&world).look().await.expect("looked"), Look::Nothing);
    let committed = "BEGIN; SELECT wonce.enqueue('pay.in', '\\xff00', 'e2'), wonce.enqueue_json('pay.in', '{}', 'e1'); COMMIT";
    caller.batch_execute(committed).await.expect("committed");
    assert_eq!(mover(&world).look().await.expect("looked"), Look::Moved(2));
    world.wake.notified(handler).await;
    let sql = "SELECT array_agg(event_id ORDER BY id), (array_agg(data ORDER BY id))[1] FROM wonce.inbox";
    let row = world.client().await.query_one(sql, &[]).await.expect(sql);
    assert_eq!(row.get::<_, Vec<String>>(0), ["e2", "e1"]);
    assert_eq!(row.get::<_, Vec<u8>>(1), b"\xff\x00");
    assert_eq!(world.count("SELECT count(*) FROM wonce.submitted").await, 0);
    world.close().await;
}

#[tokio::test]
async fn rows_that_cannot_become_deliveries_are_parked_and_hold_up_nobody() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let enqueue = "
        SELECT wonce.enqueue('nobody.wants', 'a', 'e1');
        SELECT wonce.enqueue('', 'b', 'e2');
        SELECT wonce.enqueue('pay.in', convert_to(repeat('x', 1001), 'UTF8'), 'e3');
        SELECT wonce.enqueue('pay.in', 'c');
        INSERT INTO wonce.submitted (source, event_type, content_type, data, extensions)
        VALUES ('s', 'pay.in', 'text/plain', 'd', '{one,two,three}');
        SELECT wonce.enqueue('pay.in', 'good', 'e6')";
    world.client().await.batch_execute(enqueue).await.expect("enqueued");
    assert_eq!(mover(&world).look().await.expect("looked"), Look::Moved(6));
    let sql = "SELECT array_agg(reason ORDER BY id), (SELECT max(length(data)) FROM wonce.dead_letter)
               FROM wonce.dead_letter WHERE kind = 'parked'";
    let row = world.client().await.query_one(sql, &[]).await.expect(sql);
    let mut reasons: Vec<String> = row.get(0);
    reasons.sort();
    assert_eq!(reasons, ["no_key", "oversize", "undecodable", "undecodable", "unroutable"]);
    assert_eq!(row.get::<_, i32>(1), 1_001);
    assert_eq!(world.count("SELECT count(*) FROM wonce.inbox WHERE data = 'good'").await, 1);
    assert_eq!(world.count("SELECT count(*) FROM wonce.submitted").await, 0);
    world.close().await;
}

#[tokio::test]
async fn a_row_that_the_database_refuses_is_parked_alone() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let client = world.client().await;
    let refuse = "ALTER TABLE wonce.inbox ADD CHECK (event_id <> 'bad')";
    client.batch_execute(refuse).await.expect("altered");
    let enqueue = "SELECT wonce.enqueue('pay.in', 'x', 'good'), wonce.enqueue('pay.in', 'y', 'bad')";
    client.batch_execute(enqueue).await.expect("enqueued");
    assert_eq!(mover(&world).look().await.expect("looked"), Look::Moved(2));
    assert_eq!(world.count("SELECT count(*) FROM wonce.inbox WHERE event_id = 'good'").await, 1);
    let parked = "SELECT count(*) FROM wonce.dead_letter WHERE event_id = 'bad' AND reason = 'undecodable'";
    assert_eq!(world.count(parked).await, 1);
    world.close().await;
}

#[tokio::test]
async fn of_two_hosts_only_one_moves_at_a_time() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let many = "SELECT wonce.enqueue('pay.in', 'x', n::text) FROM generate_series(1, 700) AS n";
    world.client().await.batch_execute(many).await.expect("enqueued");
    let (one, other) = (mover(&world), mover(&world));
    while world.count("SELECT count(*) FROM wonce.submitted").await > 0 {
        let (one, other) = tokio::join!(one.look(), other.look());
        one.and(other).expect("looked");
    }
    assert_eq!(world.count("SELECT count(*) FROM wonce.inbox").await, 700);
    let in_order =
        "SELECT count(*) FROM (SELECT event_id::int AS n, lag(event_id::int) OVER (ORDER BY id) AS p
                    FROM wonce.inbox) AS i WHERE p > n";
    assert_eq!(world.count(in_order).await, 0);
    world.close().await;
}
