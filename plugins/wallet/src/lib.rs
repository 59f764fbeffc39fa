//! `wallet.credited`: money that must never be booked twice. The host runs each key once; the journal's primary key
//! holds even if somebody sends the same credit under another key or prunes the host's ledger.

use serde::Deserialize;
use serde_json::json;
use wonce::prelude::*;

#[derive(Deserialize)]
struct Credit {
    credit_id: String,
    wallet_id: String,
    amount_cents: i64,
    currency: String,
    reason: Option<String>,
}

#[derive(FromRow)]
struct Wallet {
    currency: String,
    balance_cents: i64,
}

#[wonce::handler]
fn handle(event: Event) -> wonce::Result {
    let credit: Credit = event.json()?;
    if credit.amount_cents <= 0 {
        return Err(rejected("not-a-credit", format!("{} cents is not a credit", credit.amount_cents)));
    }
    let wallet = lock_wallet(&credit.wallet_id)?;
    if let Some(booked) = find_booking(&credit)? {
        return already_booked(&credit, &booked);
    }
    let balance = new_balance(&credit, &wallet)?;
    book(&credit, balance)?;
    info!(wallet = credit.wallet_id, balance_cents = balance; "credited {} cents", credit.amount_cents);
    Ok(Done)
}

/// Reads the wallet and keeps others from changing it until the transaction ends.
fn lock_wallet(id: &str) -> wonce::Result<Wallet> {
    let wallet = sql::query_opt(
        "select currency, balance_cents from wallet.wallets where id = $1 for update",
        &[&id],
    )?;
    wallet.ok_or_else(|| retry("wallet-missing", format!("wallet \"{id}\" does not exist yet")))
}

#[derive(FromRow)]
struct Booking {
    wallet_id: String,
    amount_cents: i64,
}

fn find_booking(credit: &Credit) -> wonce::Result<Option<Booking>> {
    let found = sql::query_opt(
        "select wallet_id, amount_cents from wallet.journal where credit_id = $1",
        &[&credit.credit_id],
    )?;
    Ok(found)
}

/// The same credit is left alone; another credit under the same id is never settled in silence.
fn already_booked(credit: &Credit, booked: &Booking) -> wonce::Result {
    if (&booked.wallet_id, booked.amount_cents) == (&credit.wallet_id, credit.amount_cents) {
        return Ok(ignored(format!("credit \"{}\" is already in the journal", credit.credit_id)));
    }
    let text = format!("credit \"{}\" is in the journal with another wallet or amount", credit.credit_id);
    Err(permanent("credit-conflict", text).with_details(&json!({
        "booked": { "wallet_id": booked.wallet_id, "amount_cents": booked.amount_cents },
        "received": { "wallet_id": credit.wallet_id, "amount_cents": credit.amount_cents },
    })))
}

fn new_balance(credit: &Credit, wallet: &Wallet) -> wonce::Result<i64> {
    if credit.currency != wallet.currency {
        let text =
            format!("wallet \"{}\" is in {}, not {}", credit.wallet_id, wallet.currency, credit.currency);
        return Err(permanent("wrong-currency", text));
    }
    wallet.balance_cents.checked_add(credit.amount_cents).ok_or_else(|| {
        permanent("balance-overflow", format!("wallet \"{}\" cannot hold that much", credit.wallet_id))
    })
}

fn book(credit: &Credit, balance: i64) -> wonce::Result<()> {
    sql::execute(
        "insert into wallet.journal (credit_id, wallet_id, amount_cents, balance_cents, reason) values ($1, $2, $3, $4, $5)",
        &[&credit.credit_id, &credit.wallet_id, &credit.amount_cents, &balance, &credit.reason],
    )?;
    sql::execute(
        "update wallet.wallets set balance_cents = $2 where id = $1",
        &[&credit.wallet_id, &balance],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests;
