//! Events that SQL callers enqueued in their own transactions: moved to the inbox in one
//! transaction, by one host at a time, in the order of their ids. A row that cannot be moved is
//! parked, so that it never holds up those behind it.

use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};
use wonce_core::route::ParkReason;

use super::intake::{Arrival, Landed, Recipient, accept_in, park_fingerprint};
use super::sql::Sql;
use super::{Error, Store, begin};

/// The lock of the one mover: an arbitrary number that only wonce uses.
const MOVER_LOCK: i64 = 0x7773_7562_6d69;

const LOCK: Sql = Sql {
    name: "become the mover of enqueued events",
    text: "SELECT pg_try_advisory_xact_lock($1)",
    params: &[Type::INT8],
};
/// Rows are taken while their data fits the budget, at least one; data over the limit of one
/// event stays in the database.
const TAKE: Sql = Sql {
    name: "take enqueued events",
    text: "SELECT s.id, s.via, s.event_id, s.source, s.event_type, s.subject, s.content_type,
                  s.traceparent, s.extensions, CASE WHEN s.bytes <= $3 THEN s.data END AS data, s.bytes
           FROM (SELECT w.*, octet_length(w.data) AS bytes,
                        sum(least(octet_length(w.data), $3)::bigint) OVER (ORDER BY w.id) AS running,
                        row_number() OVER (ORDER BY w.id) AS n
                 FROM (SELECT * FROM wonce.submitted ORDER BY id LIMIT $1) AS w) AS s
           WHERE s.running <= $2 OR s.n = 1
           ORDER BY s.id",
    params: &[Type::INT8, Type::INT8, Type::INT4],
};
const PARK: Sql = Sql {
    name: "park enqueued events",
    text: "INSERT INTO wonce.dead_letter (
               kind, reason, code, message, fingerprint, accepted_at, first_failed_at, last_failed_at,
               via, event_id, source, event_type, subject, content_type, traceparent, extensions, data)
           SELECT 'parked', p.reason, replace(p.reason, '_', '-'), p.message, p.fingerprint,
                  s.submitted_at, at, at, s.via, s.event_id, s.source, s.event_type, s.subject,
                  s.content_type, s.traceparent, s.extensions, s.data
           FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[])
                    AS p (id, reason, message, fingerprint)
           JOIN wonce.submitted s ON s.id = p.id
           CROSS JOIN clock_timestamp() AS at
           ORDER BY s.id",
    params: &[Type::INT8_ARRAY, Type::TEXT_ARRAY, Type::TEXT_ARRAY, Type::TEXT_ARRAY],
};
const REMOVE: Sql = Sql {
    name: "remove enqueued events that were moved",
    text: "DELETE FROM wonce.submitted WHERE id = ANY ($1)",
    params: &[Type::INT8_ARRAY],
};

pub(super) const STATEMENTS: &[&Sql] = &[&LOCK, &TAKE, &PARK, &REMOVE];

/// How much one transaction moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveLimits {
    pub rows: i64,
    /// All data together.
    pub bytes: i64,
    /// The data of one event.
    pub event_bytes: i32,
}

/// One row as the SQL caller left it: nothing of it is checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedRow {
    pub via: String,
    pub event_id: Option<String>,
    pub source: String,
    pub event_type: String,
    pub subject: Option<String>,
    pub content_type: String,
    pub traceparent: Option<String>,
    pub extensions: Vec<Option<String>>,
    pub data: Vec<u8>,
}

/// What becomes of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    Arrives(Box<Arrival>),
    Parked(ParkReason, String),
}

/// What one transaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moved {
    /// Another host is at it.
    NotOurs,
    Rows {
        count: usize,
        /// One entry per parked row, or handler's share of one.
        parked: Vec<ParkReason>,
        /// What every delivery came to.
        landed: Vec<(Recipient, Landed)>,
    },
}

impl Store {
    /// Moves what is enqueued, up to the limits; `decide` says where each row goes.
    ///
    /// # Errors
    /// When nothing was moved; the rows are still there.
    pub async fn move_submitted(
        &self,
        limits: MoveLimits,
        decide: impl Fn(SubmittedRow) -> Fate + Send,
    ) -> Result<Moved, Error> {
        let mut client = self.client().await?;
        let mut tx = begin(&mut client, "begin moving enqueued events").await?;
        if !LOCK.query_one(&tx, &[&MOVER_LOCK]).await?.get::<_, bool>(0) {
            return Ok(Moved::NotOurs);
        }
        let rows = TAKE.query(&tx, &[&limits.rows, &limits.bytes, &limits.event_bytes]).await?;
        let taken: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
        if taken.is_empty() {
            return Ok(Moved::Rows { count: 0, parked: Vec::new(), landed: Vec::new() });
        }
        let (arrivals, mut parked) = sort_out(&rows, limits, &decide);
        let landed = accept_or_park(&mut tx, &arrivals, &mut parked).await?;
        park_rows(&tx, &parked).await?;
        REMOVE.execute(&tx, &[&taken]).await?;
        let attempt = "commit moved events";
        tx.commit().await.map_err(|source| Error::Statement { attempt, source })?;
        let shares = arrivals.iter().flat_map(|(_, arrival)| &arrival.parked).map(|parked| parked.reason);
        let parked = parked.iter().map(|row| row.reason).chain(shares).collect();
        Ok(Moved::Rows { count: taken.len(), parked, landed })
    }
}

struct ParkedRow {
    id: i64,
    reason: ParkReason,
    message: String,
}

fn sort_out(
    rows: &[Row],
    limits: MoveLimits,
    decide: &impl Fn(SubmittedRow) -> Fate,
) -> (Vec<(i64, Arrival)>, Vec<ParkedRow>) {
    let (mut arrivals, mut parked) = (Vec::new(), Vec::new());
    for row in rows {
        let id = row.get(0);
        match row.get::<_, Option<Vec<u8>>>("data").map(|data| decide(submitted(row, data))) {
            Some(Fate::Arrives(arrival)) => arrivals.push((id, *arrival)),
            Some(Fate::Parked(reason, message)) => parked.push(ParkedRow { id, reason, message }),
            None => {
                parked.push(ParkedRow { id, reason: ParkReason::Oversize, message: oversize(row, limits) })
            }
        }
    }
    (arrivals, parked)
}

fn oversize(row: &Row, limits: MoveLimits) -> String {
    let (bytes, limit): (i32, i32) = (row.get("bytes"), limits.event_bytes);
    format!(
        "the data has {bytes} bytes, and at most {limit} are allowed; enqueue less, or raise http.max_event_bytes"
    )
}

fn submitted(row: &Row, data: Vec<u8>) -> SubmittedRow {
    SubmittedRow {
        via: row.get("via"),
        event_id: row.get("event_id"),
        source: row.get("source"),
        event_type: row.get("event_type"),
        subject: row.get("subject"),
        content_type: row.get("content_type"),
        traceparent: row.get("traceparent"),
        extensions: row.get("extensions"),
        data,
    }
}

/// All at once; if the database refuses that, one by one, and what it refuses alone is parked.
async fn accept_or_park(
    tx: &mut Transaction<'_>,
    arrivals: &[(i64, Arrival)],
    parked: &mut Vec<ParkedRow>,
) -> Result<Vec<(Recipient, Landed)>, Error> {
    let all: Vec<&Arrival> = arrivals.iter().map(|(_, arrival)| arrival).collect();
    match in_savepoint(tx, &all).await {
        Ok(landed) => return Ok(landed),
        Err(error) if !is_the_rows_fault(&error) => return Err(error),
        Err(_) => {}
    }
    let mut landed = Vec::new();
    for (id, arrival) in arrivals {
        match in_savepoint(tx, &[arrival]).await {
            Ok(more) => landed.extend(more),
            Err(error) if !is_the_rows_fault(&error) => return Err(error),
            Err(error) => {
                let message = format!("the database refused the event: {}", error.explained());
                parked.push(ParkedRow { id: *id, reason: ParkReason::Undecodable, message });
            }
        }
    }
    Ok(landed)
}

/// A deadlock or an outage passes; the same rows may go through next time.
fn is_the_rows_fault(error: &Error) -> bool {
    !error.is_outage() && !error.is_contention()
}

async fn in_savepoint(
    tx: &mut Transaction<'_>,
    arrivals: &[&Arrival],
) -> Result<Vec<(Recipient, Landed)>, Error> {
    let failed = |attempt| move |source| Error::Statement { attempt, source };
    let savepoint = tx.transaction().await.map_err(failed("begin a part of the move"))?;
    let landed = accept_in(&savepoint, arrivals).await?;
    savepoint.commit().await.map_err(failed("end a part of the move"))?;
    let deliveries = arrivals.iter().flat_map(|arrival| &arrival.deliveries).zip(landed.iter().flatten());
    Ok(deliveries.map(|(delivery, landed)| (delivery.recipient.clone(), *landed)).collect())
}

async fn park_rows(tx: &Transaction<'_>, parked: &[ParkedRow]) -> Result<(), Error> {
    if parked.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = parked.iter().map(|row| row.id).collect();
    let reasons: Vec<&str> = parked.iter().map(|row| row.reason.as_str()).collect();
    let messages: Vec<&str> = parked.iter().map(|row| row.message.as_str()).collect();
    let fingerprints: Vec<String> =
        parked.iter().map(|row| park_fingerprint(None, row.reason, &row.message)).collect();
    PARK.execute(tx, &[&ids, &reasons, &messages, &fingerprints]).await?;
    Ok(())
}
