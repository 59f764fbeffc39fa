//! The example handlers keep their own promises.

use serde_json::{Value as Json, json};
use wonce_tests::world::{Handler, Setup, World};

fn state(version: i64, status: &str) -> Json {
    let changed_at = "2026-01-01T00:00:00Z";
    json!({"shipment_id": "s1", "version": version, "status": status, "location": null, "changed_at": changed_at})
}

fn payment(sent_at: &str) -> Json {
    json!({"payment_id": "p1", "order_id": "o1", "amount_cents": 1299, "currency": "EUR", "sent_at": sent_at})
}

fn credit(id: &str) -> Json {
    json!({"credit_id": id, "wallet_id": "w1", "amount_cents": 500, "currency": "EUR"})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_state_is_not_overwritten_by_a_late_webhook() {
    let world =
        World::running(Setup::default().with(Handler::example("shipments", &["shipping.shipments"]))).await;
    world.event("shipment.status-changed", "new", state(3, "delivered")).await;
    assert_eq!(world.outcome("shipments", "new").await, "done");
    world.event("shipment.status-changed", "old", state(2, "in_transit")).await;
    assert_eq!(world.outcome("shipments", "old").await, "ignored");
    let shipment = "select format('%s %s', version, status) from shipping.shipments";
    assert_eq!(world.value::<String>(shipment).await, "3 delivered");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_sent_twice_pays_once_and_asks_for_one_receipt() {
    let world = World::running(Setup::default().with(Handler::example("payments", &["shop.orders"]))).await;
    world
        .sql("insert into shop.orders (id, amount_cents, currency, customer_email) values ('o1', 1299, 'EUR', 'ada@example.com')")
        .await;
    assert_eq!(world.event("payment.paid", "e1", payment("10:00")).await.verdict(), "accepted");
    assert_eq!(world.outcome("payments", "e1").await, "done");
    // Another event id and another stamp: the payment is the same.
    assert_eq!(world.event("payment.paid", "e2", payment("10:05")).await.verdict(), "duplicate");
    let receipts = world.effects(1).await;
    assert_eq!(receipts.len(), 1);
    assert_eq!((receipts[0].sink.as_str(), &receipts[0].json()["to"]), ("email", &json!("ada@example.com")));
    assert_eq!(world.value::<String>("select status from shop.orders").await, "paid");
    assert_eq!(world.value::<i64>("select count(*) from wonce.outbox").await, 1);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_before_its_order_is_done_once_the_order_is_there() {
    let handler = Handler::example("payments", &["shop.orders"]).max_attempts(1000);
    let world = World::running(Setup::default().with(handler)).await;
    world.event("payment.paid", "e1", payment("10:00")).await;
    world.until("select count(*) >= 1 from wonce.attempt where code = 'order-missing'").await;
    world
        .sql("insert into shop.orders (id, amount_cents, currency, customer_email) values ('o1', 1299, 'EUR', 'ada@example.com')")
        .await;
    assert_eq!(world.outcome("payments", "e1").await, "done");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn credits_are_booked_once_each() {
    let handler = Handler::example("wallet", &["wallet.wallets", "wallet.journal"]);
    let world = World::running(Setup::default().with(handler)).await;
    world.sql("insert into wallet.wallets (id, currency) values ('w1', 'EUR')").await;
    for (id, credit_id) in [("e1", "c1"), ("e2", "c2"), ("e3", "c1"), ("e4", "c2"), ("e5", "c3")] {
        world.event("wallet.credited", id, credit(credit_id)).await;
    }
    world.until("select count(*) = 3 from wonce.processed_events where outcome = 'done'").await;
    assert_eq!(world.value::<i64>("select balance_cents from wallet.wallets").await, 1500);
    assert_eq!(world.value::<i64>("select count(*) from wallet.journal").await, 3);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_in_c_keeps_one_row_for_every_event() {
    let world = World::running(Setup::default().with(Handler::example("c-audit", &["audit.entry"]))).await;
    assert_eq!(world.event("order.paid", "e1", json!({"n": 1})).await.verdict(), "accepted");
    assert_eq!(world.outcome("c-audit", "e1").await, "done");
    assert_eq!(world.event("order.paid", "e1", json!({"n": 1})).await.verdict(), "duplicate");
    world.event("order.shipped", "e2", json!({"n": 22})).await;
    assert_eq!(world.outcome("c-audit", "e2").await, "done");
    let rows =
        "select string_agg(format('%s %s %s %s', event_id, type, attempt, bytes), ', ' order by event_id)
                from audit.entry";
    assert_eq!(world.value::<String>(rows).await, "e1 order.paid 1 7, e2 order.shipped 1 8");
    world.until("select sum(duplicate_early + duplicate_late) = 1 from wonce.tally").await;
    world.end().await;
}
