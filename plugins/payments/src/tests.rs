use wonce::mock::{self, Answer, Host, Run};

use super::*;

fn order(status: &str, payment_id: Option<&str>) -> Answer {
    mock::row(&[
        ("status", &status),
        ("amount_cents", &1299_i64),
        ("currency", &"EUR"),
        ("customer_email", &"ada@example.com"),
        ("payment_id", &payment_id),
    ])
}

fn paying(amount_cents: i64) -> Event {
    let payload =
        json!({"payment_id": "p-1", "order_id": "o-1", "amount_cents": amount_cents, "currency": "EUR"});
    mock::event("payment.paid", &payload)
}

fn on_order(answer: Answer) -> Run {
    Host::new().expect("from shop.orders where id = $1 for update", answer).run(handle, paying(1299))
}

#[test]
fn an_open_order_becomes_paid_and_its_customer_gets_a_receipt_in_the_locale_that_is_set() {
    let run = Host::new()
        .emits(&["email"])
        .setting("receipt_locale", "pt")
        .expect("for update", order("open", None))
        .expect("update shop.orders set status = 'paid'", mock::affected(1))
        .run(handle, paying(1299));
    assert_eq!(run.result, Ok(Done));
    assert_eq!(run.statements[1].params[1], sql::Value::Text("p-1".into()));
    assert_eq!(run.effects[0].ordering_key.as_deref(), Some("o-1"));
    let receipt: serde_json::Value = run.effects[0].json();
    assert_eq!((&receipt["to"], &receipt["locale"]), (&json!("ada@example.com"), &json!("pt")));
}

#[test]
fn a_payment_before_its_order_is_tried_again() {
    let run = on_order(mock::no_rows());
    assert!(matches!(&run.result, Err(Failure::Retry(_))), "{:?}", run.result);
    assert_eq!(run.code(), "order-missing");
}

#[test]
fn an_order_is_not_paid_twice_and_the_same_payment_is_left_alone() {
    assert!(matches!(on_order(order("paid", Some("p-1"))).result, Ok(Outcome::Ignored(_))));
    assert_eq!(on_order(order("paid", Some("p-0"))).code(), "paid-twice");
    assert_eq!(on_order(order("cancelled", None)).code(), "order-cancelled");
}

#[test]
fn another_amount_changes_nothing_and_says_both() {
    let run = Host::new().expect("for update", order("open", None)).run(handle, paying(990));
    assert_eq!((run.code(), run.effects.len()), ("wrong-amount", 0));
    let details = run.result.unwrap_err().fault().details.clone().unwrap();
    assert!(details.contains("1299") && details.contains("990"), "{details}");
}

#[test]
fn a_payload_that_is_no_payment_is_the_producers_mistake() {
    let run = Host::new().run(handle, mock::event_bytes("payment.paid", "application/json", "{"));
    assert!(matches!(&run.result, Err(Failure::Rejected(_))), "{:?}", run.result);
}
