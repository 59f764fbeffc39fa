//! `payment.paid`: the order becomes paid and its customer gets a receipt, both or neither.
//!
//! | the order | the event |
//! |---|---|
//! | does not exist yet | retried: its own event may still be on the way |
//! | is open, for this amount | done |
//! | is open, for another amount or currency | dead letter: a person must look at the money |
//! | is cancelled | dead letter: the money must go back |
//! | is paid by this payment | ignored: the same payment came under another key |
//! | is paid by another payment | dead letter: the customer paid twice |

use serde::Deserialize;
use serde_json::json;
use wonce::prelude::*;

/// The payload. Unknown members are the producer's business.
#[derive(Deserialize)]
struct Payment {
    payment_id: String,
    order_id: String,
    amount_cents: i64,
    currency: String,
    paid_at: Option<Timestamp>,
}

#[derive(FromRow)]
struct Order {
    status: String,
    amount_cents: i64,
    currency: String,
    customer_email: String,
    payment_id: Option<String>,
}

#[wonce::handler]
fn handle(event: Event) -> wonce::Result {
    let payment: Payment = event.json()?;
    let order = lock_order(&payment.order_id)?;
    match order.status.as_str() {
        "open" => {}
        "paid" => return already_paid(&payment, &order),
        "cancelled" => return Err(order_cancelled(&payment)),
        other => return Err(permanent("unknown-status", format!("{} is \"{other}\"", name(&payment)))),
    }
    check_amount(&payment, &order)?;
    mark_paid(&payment)?;
    request_receipt(&payment, &order)?;
    info!(order = payment.order_id, amount_cents = payment.amount_cents; "order is paid");
    Ok(Done)
}

/// Reads the order and keeps it from changing until the transaction ends: a cancellation waits for us.
fn lock_order(id: &str) -> wonce::Result<Order> {
    let order = sql::query_opt(
        "select status, amount_cents, currency, customer_email, payment_id from shop.orders where id = $1 for update",
        &[&id],
    )?;
    order.ok_or_else(|| retry("order-missing", format!("order \"{id}\" does not exist yet")))
}

/// The host lets one payment through once per key, so this is the same payment under another key (a second source,
/// a changed key rule) or really a second payment. No second receipt in either case.
fn already_paid(payment: &Payment, order: &Order) -> wonce::Result {
    let by = order.payment_id.as_deref().unwrap_or_default();
    if by == payment.payment_id {
        return Ok(ignored(format!("{} is already paid by this payment", name(payment))));
    }
    let text =
        format!("{} is already paid by \"{by}\"; \"{}\" must be refunded", name(payment), payment.payment_id);
    Err(permanent("paid-twice", text))
}

fn order_cancelled(payment: &Payment) -> Failure {
    let text = format!("{} is cancelled; \"{}\" must be refunded", name(payment), payment.payment_id);
    permanent("order-cancelled", text)
}

fn check_amount(payment: &Payment, order: &Order) -> wonce::Result<()> {
    if (payment.amount_cents, &payment.currency) == (order.amount_cents, &order.currency) {
        return Ok(());
    }
    let text = format!("{} costs another amount than was paid", name(payment));
    Err(permanent("wrong-amount", text).with_details(&json!({
        "expected": { "cents": order.amount_cents, "currency": order.currency },
        "paid": { "cents": payment.amount_cents, "currency": payment.currency },
    })))
}

fn mark_paid(payment: &Payment) -> wonce::Result<()> {
    let paid_at = payment.paid_at.unwrap_or_else(context::now);
    sql::execute(
        "update shop.orders set status = 'paid', payment_id = $2, paid_at = $3 where id = $1",
        &[&payment.order_id, &payment.payment_id, &paid_at],
    )?;
    Ok(())
}

fn request_receipt(payment: &Payment, order: &Order) -> wonce::Result<()> {
    let body = json!({
        "to": order.customer_email,
        "locale": config::parse_or("receipt_locale", "en".to_owned())?,
        "order_id": payment.order_id,
        "amount_cents": payment.amount_cents,
        "currency": payment.currency,
    });
    outbox::emit(Effect::to("email").ordered_by(&payment.order_id).json("receipt.requested", &body)?)?;
    Ok(())
}

fn name(payment: &Payment) -> String {
    format!("order \"{}\"", payment.order_id)
}

#[cfg(test)]
mod tests;
