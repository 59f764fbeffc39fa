use wonce::mock::{self, Answer, Host, Run};

use super::*;

fn wallet(balance_cents: i64) -> Answer {
    mock::row(&[("currency", &"EUR"), ("balance_cents", &balance_cents)])
}

fn booking(amount_cents: i64) -> Answer {
    mock::row(&[("wallet_id", &"w-1"), ("amount_cents", &amount_cents)])
}

fn credit(amount_cents: i64) -> Event {
    let payload =
        json!({"credit_id": "c-1", "wallet_id": "w-1", "amount_cents": amount_cents, "currency": "EUR"});
    mock::event("wallet.credited", &payload)
}

fn with_journal(journal: Answer) -> Run {
    Host::new()
        .expect("from wallet.wallets where id = $1 for update", wallet(100))
        .expect("from wallet.journal where credit_id = $1", journal)
        .run(handle, credit(500))
}

#[test]
fn a_credit_is_booked_with_the_balance_that_it_makes() {
    let run = Host::new()
        .expect("for update", wallet(100))
        .expect("from wallet.journal", mock::no_rows())
        .expect("insert into wallet.journal", mock::affected(1))
        .expect("update wallet.wallets", mock::affected(1))
        .run(handle, credit(500));
    assert_eq!(run.result, Ok(Done));
    assert_eq!(run.statements[3].params[1], sql::Value::Int8(600));
}

#[test]
fn a_credit_that_is_in_the_journal_is_not_booked_again_and_another_one_under_its_id_is_a_conflict() {
    assert!(matches!(with_journal(booking(500)).result, Ok(Outcome::Ignored(_))));
    assert_eq!(with_journal(booking(400)).code(), "credit-conflict");
}

#[test]
fn a_balance_does_not_overflow() {
    let run = Host::new()
        .expect("for update", wallet(i64::MAX))
        .expect("from wallet.journal", mock::no_rows())
        .run(handle, credit(1));
    assert_eq!(run.code(), "balance-overflow");
}

#[test]
fn what_is_no_credit_is_refused_before_any_statement() {
    let run = Host::new().run(handle, credit(0));
    assert_eq!((run.code(), run.statements.len()), ("not-a-credit", 0));
}
