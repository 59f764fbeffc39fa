//! The one trip that settles a batch: everything that is left to do goes out in order, with the
//! COMMIT at its end. Knows nothing of what the outcome leads to.

use std::time::Duration;

use futures_util::TryFutureExt;
use tokio::time::timeout;
use wonce_core::sql::SqlError;

use super::call::Call;
use super::columns::{Done, Effects};
use super::{Entry, Settled, Written, failed};
use crate::store::guest::queued::{Queued, pack};
use crate::store::guest::refused;
use crate::store::lease::{Connection, HandlerAccess};
use crate::store::settle::{DONE, EMIT};
use crate::store::sql::{Param, Sql};
use crate::store::transaction::{OpenTransaction, PlannedEffect, Savepoint};
use crate::store::trip::Trip;

/// How long a cancelled settlement may take to say so.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);

/// What a request of the trip was, in the order of the trip.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// A statement that only has to succeed.
    Step,
    /// The settlement of all that was handled.
    Done,
    /// The settlement of one entry, by its place.
    Entry(usize),
}

/// What the transaction still has to send. Borrowed in parts: the whole holds a future that only one
/// task may touch.
struct Unsent<'a> {
    access: &'a HandlerAccess,
    guarded: bool,
    first_roll_back: Option<Savepoint>,
    queued: &'a [Queued],
    effects: &'a [PlannedEffect],
}

/// The ledger has the key: somebody else settled it.
fn is_settled_already(error: &SqlError) -> bool {
    match error {
        SqlError::Database(error) => error.constraint.as_deref() == Some("processed_events_pkey"),
        SqlError::Aborted
        | SqlError::Parameter(..)
        | SqlError::Denied(_)
        | SqlError::LimitExceeded(_)
        | SqlError::ConnectionLost(_) => false,
    }
}

/// Settles; after `limit` everything is cancelled. The COMMIT behind a refused statement only rolls
/// back, so "committed" is said only when every part answered well.
pub(super) async fn settle(open: &mut OpenTransaction, entries: &[Entry<'_>], limit: Duration) -> Settled {
    let OpenTransaction { lease, access, guarded, first_roll_back, queued, effects, .. } = open;
    let unsent = Unsent { access, guarded: *guarded, first_roll_back: *first_roll_back, queued, effects };
    let connection = lease.connection();
    let answers = send_all(&unsent, connection, entries);
    tokio::pin!(answers);
    let answers = match timeout(limit, &mut answers).await {
        Ok(answers) => answers,
        Err(_) => {
            connection.cancel().await;
            match timeout(CANCEL_LIMIT, answers).await {
                Ok(answers) => answers,
                Err(_) => {
                    let reason = "the commit was not answered".to_owned();
                    return Settled::Lost { reason, guest_statements: unsent.queued.len() };
                }
            }
        }
    };
    judge(&unsent, entries, answers)
}

async fn send_all(
    unsent: &Unsent<'_>,
    connection: &Connection,
    entries: &[Entry<'_>],
) -> Vec<(Part, Result<bool, SqlError>)> {
    let client = &connection.client;
    let done = Done::of(entries);
    let effects = Effects::of(unsent.effects);
    let parcels = pack(unsent.queued);
    let mut parts = Vec::new();
    let mut trip = Trip::new();
    let simple = async |statement: &'static str| client.batch_execute(statement).await.map(|()| true);
    let call = async |sql: &'static Sql, params: Vec<Param<'_>>| {
        let row = client.query_one(connection.bookkeeping(sql), &params).await?;
        Ok(row.get::<_, bool>(0))
    };

    if let Some(savepoint) = unsent.first_roll_back {
        trip.send(simple(savepoint.roll_back()).map_err(refused)).await;
        parts.push(Part::Step);
    }
    if unsent.guarded {
        // What deletes a row must be the transaction that locked it and not one below: else Postgres
        // keeps both as a multixact, whose dead rows every later claim has to walk over.
        trip.send(simple("RELEASE SAVEPOINT wonce_batch").map_err(refused)).await;
        parts.push(Part::Step);
    }
    for parcel in &parcels {
        trip.send(parcel.run(client).map_ok(|()| true).map_err(|refused| refused.error)).await;
        parts.push(Part::Step);
    }
    if !unsent.effects.is_empty() {
        trip.send(call(&EMIT, effects.params(unsent.access)).map_err(refused)).await;
        parts.push(Part::Step);
    }
    if !done.inbox_ids.is_empty() {
        // Deferred constraints are checked now, as faults like any other.
        trip.send(simple("SET CONSTRAINTS ALL IMMEDIATE").map_err(refused)).await;
        trip.send(call(&DONE, done.params(unsent.access)).map_err(refused)).await;
        parts.extend([Part::Step, Part::Done]);
    }
    for (place, entry) in entries.iter().enumerate() {
        let Some(sql) = entry.settlement.call() else { continue };
        let settling = async move {
            let (claimed, record) = (entry.delivery, &entry.record);
            let xact = Some(claimed.xact.as_str());
            let settlement = entry.settlement;
            let single = Call::new(unsent.access, &claimed.delivery, xact, claimed.marks, settlement, record);
            call(sql, single.params()).await
        };
        trip.send(settling.map_err(refused)).await;
        parts.push(Part::Entry(place));
    }
    trip.send(simple("COMMIT").map_err(refused)).await;
    parts.push(Part::Step);
    parts.into_iter().zip(trip.answers().await).collect()
}

fn judge(
    unsent: &Unsent<'_>,
    entries: &[Entry<'_>],
    answers: Vec<(Part, Result<bool, SqlError>)>,
) -> Settled {
    let mut written = vec![Written::Committed; entries.len()];
    for (part, answer) in answers {
        match (part, answer) {
            (Part::Done, Err(error)) if is_settled_already(&error) => return Settled::Overtaken,
            (_, Err(error)) => return failed(error, unsent.queued.len()),
            (Part::Entry(place), Ok(false)) => written[place] = Written::Overtaken,
            (Part::Step | Part::Done | Part::Entry(_), Ok(_)) => {}
        }
    }
    Settled::Committed(written)
}
