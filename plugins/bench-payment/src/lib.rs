//! `bench.payment`: a payment as real handlers book it. One UPDATE whose answer decides, and one effect. The bench
//! measures with it what a round trip inside the transaction and an outbox row cost.

use serde::Deserialize;
use serde_json::json;
use wonce::prelude::*;

#[derive(Deserialize)]
struct Payment {
    id: i64,
    amount: i64,
    fail: Option<Fail>,
}

/// The bench makes one event in a hundred fail.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Fail {
    /// The first attempt.
    Retry,
    /// Every attempt.
    Permanent,
}

#[wonce::handler]
fn handle(event: Event, delivery: Delivery) -> wonce::Result {
    let payment: Payment = event.json()?;
    let total = sql::query_opt::<i64>(
        "UPDATE bench.orders SET status = 'paid', hits = hits + 1, amount = amount + $2 WHERE id = $1 RETURNING amount",
        &[&payment.id, &payment.amount],
    )?;
    let Some(total) = total else {
        return Err(permanent("no-such-order", format!("order {} does not exist", payment.id)));
    };
    let receipt = json!({ "order": payment.id, "amount": payment.amount, "total": total });
    outbox::emit(Effect::to("receipts").json("bench.receipt", &receipt)?)?;
    match payment.fail {
        Some(Fail::Retry) if delivery.attempt == 1 => Err(retry("asked-to", "the bench asked for a retry")),
        Some(Fail::Permanent) => Err(permanent("asked-to", "the bench asked for a dead letter")),
        Some(Fail::Retry) | None => Ok(Done),
    }
}
