//! `bench.blind`: the smallest handler that changes something. One UPDATE by primary key whose answer it does not need,
//! so it queues the statement and is done. The bench measures with it what the host itself costs.

use serde::Deserialize;
use wonce::prelude::*;

#[derive(Deserialize)]
struct Order {
    id: i64,
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
    let order: Order = event.json()?;
    sql::queue("UPDATE bench.orders SET status = 'seen', hits = hits + 1 WHERE id = $1", &[&order.id])?;
    match order.fail {
        Some(Fail::Retry) if delivery.attempt == 1 => Err(retry("asked-to", "the bench asked for a retry")),
        Some(Fail::Permanent) => Err(permanent("asked-to", "the bench asked for a dead letter")),
        Some(Fail::Retry) | None => Ok(Done),
    }
}
