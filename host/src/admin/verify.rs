//! `GET /v1/verify`: the books as the store counted them, judged by the conservation law.

use axum::Json;
use axum::extract::State;
use wonce_api::verify::{Account, Verification};
use wonce_core::conservation::Balance;

use super::AdminState;
use super::refusal::Refusal;
use crate::store::verify::{Books, HandlerBooks};

pub(super) async fn verify(State(state): State<AdminState>) -> Result<Json<Verification>, Refusal> {
    Ok(Json(judge(state.store.books().await?)))
}

/// Whether the books hold, handler by handler.
#[must_use]
pub fn judge(books: Books) -> Verification {
    let handlers: Vec<Account> = books.handlers.iter().map(account).collect();
    let findings = words(&[(
        books.operations_differ,
        "operations do not count their items right, so their progress cannot be trusted",
    )]);
    Verification {
        taken: books.taken,
        holds: handlers.iter().all(|account| account.holds) && findings.is_empty(),
        handlers,
        findings,
        key_conflicts: books.key_conflicts,
        parked: books.parked,
        outbox: books.outbox,
    }
}

fn account(books: &HandlerBooks) -> Account {
    let ledger = &books.ledger;
    let findings = findings(books);
    Account {
        handler: books.handler.clone(),
        holds: ledger.holds() && findings.is_empty(),
        accepted: number(ledger.accepted),
        pending: number(ledger.pending),
        done: number(ledger.done),
        ignored: number(ledger.ignored),
        dead: number(ledger.dead),
        discarded: number(ledger.discarded),
        duplicate_late: number(ledger.duplicate_late),
        expired: number(ledger.expired),
        difference: difference(ledger.balance()),
        late_to_come: books.late_to_come,
        findings,
    }
}

fn findings(books: &HandlerBooks) -> Vec<String> {
    let checks = [
        (books.dead_without_letter, "ledger rows are dead and have no open dead letter"),
        (books.letters_without_dead, "open dead letters have no dead ledger row"),
        (books.stray_effects, "effects were not committed together with a ledger row of their event"),
        (books.unreachable, "ordered deliveries are in a lane that does not exist, so nothing claims them"),
    ];
    words(&checks)
}

/// The checks that found something.
fn words(checks: &[(i64, &str)]) -> Vec<String> {
    checks.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect()
}

fn difference(balance: Balance) -> i64 {
    let signed = |count: u128| i64::try_from(count).unwrap_or(i64::MAX);
    match balance {
        Balance::Holds => 0,
        Balance::Missing(count) => -signed(count),
        Balance::Surplus(count) => signed(count),
    }
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
