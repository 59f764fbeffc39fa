//! The stream. Everything is counted from a few numbers, so that the proof can ask for exact figures.
//! Knows nothing of how events are sent.

use serde_json::{Value, json};

pub(crate) const ORDERS: usize = 100;
/// Paid before the order itself is known.
pub(crate) const LATE_ORDERS: usize = 10;
pub(crate) const CANCELLED_ORDERS: usize = 3;
pub(crate) const WRONG_AMOUNTS: usize = 5;
pub(crate) const POISON: usize = 6;
pub(crate) const CONFLICTS: usize = 5;
/// Payments sent twice.
pub(crate) const PAYMENT_DUPLICATES: usize = 30;
pub(crate) const WALLETS: usize = 10;
pub(crate) const CREDITS: usize = 100;
pub(crate) const CREDIT_DUPLICATES: usize = 25;
pub(crate) const CREDIT_CENTS: usize = 250;
pub(crate) const SHIPMENTS: usize = 20;
/// News of one shipment, sent newest first.
pub(crate) const SHIPMENT_VERSIONS: usize = 4;
/// Guests that loop for ever, and guests that abort.
pub(crate) const LOOPS: usize = 1;
pub(crate) const ABORTS: usize = 2;

/// The amount of an order.
pub(crate) fn amount_cents(order: usize) -> usize {
    1_000 + order
}

/// The main stream, in an order that mixes everything.
pub(crate) fn stream() -> Vec<Value> {
    let mut events = Vec::new();
    for order in 0..ORDERS + LATE_ORDERS + CANCELLED_ORDERS {
        events.push(payment(order, amount_cents(order)));
    }
    let known: Vec<Value> = events.iter().take(PAYMENT_DUPLICATES).cloned().collect();
    for order in 0..WRONG_AMOUNTS {
        events.push(payment(1_000 + order, 1));
    }
    for n in 0..POISON {
        let data = json!({"payment_id": format!("poison-{n}"), "order_id": format!("poison-{n}"), "amount_cents": "a lot"});
        events.push(event("payment.paid", &format!("poison-{n}"), &data));
    }
    for n in 0..CREDITS {
        events.push(credit(n));
    }
    events.extend((0..CREDIT_DUPLICATES).map(credit));
    for version in (1..=SHIPMENT_VERSIONS).rev() {
        events.extend((0..SHIPMENTS).map(|shipment| news(shipment, version)));
    }
    for n in 0..LOOPS {
        events.push(event("probe.loop", &format!("loop-{n}"), &json!({"steps": [{"loop": true}]})));
    }
    for n in 0..ABORTS {
        events.push(event("probe.abort", &format!("abort-{n}"), &json!({"steps": [{"abort": true}]})));
    }
    events.extend(known);
    events
}

/// Payments that are known already, under another amount.
pub(crate) fn conflicts() -> Vec<Value> {
    (0..CONFLICTS).map(|order| payment(order, 7)).collect()
}

fn payment(order: usize, amount_cents: usize) -> Value {
    let data = json!({
        "payment_id": format!("payment-{order}"),
        "order_id": format!("order-{order}"),
        "amount_cents": amount_cents,
        "currency": "EUR",
    });
    event("payment.paid", &format!("paid-{order}-{amount_cents}"), &data)
}

fn credit(n: usize) -> Value {
    let data = json!({
        "credit_id": format!("credit-{n}"),
        "wallet_id": format!("wallet-{}", n % WALLETS),
        "amount_cents": CREDIT_CENTS,
        "currency": "EUR",
    });
    event("wallet.credited", &format!("credit-{n}"), &data)
}

fn news(shipment: usize, version: usize) -> Value {
    const STATUS: [&str; SHIPMENT_VERSIONS] = ["announced", "in_transit", "out_for_delivery", "delivered"];
    let data = json!({
        "shipment_id": format!("shipment-{shipment}"),
        "version": version,
        "status": STATUS[version - 1],
        "changed_at": format!("2026-01-0{version}T12:00:00Z"),
    });
    event("shipment.status-changed", &format!("shipment-{shipment}-{version}"), &data)
}

fn event(kind: &str, id: &str, data: &Value) -> Value {
    json!({"specversion": "1.0", "type": kind, "source": "demo", "id": id, "data": data})
}
