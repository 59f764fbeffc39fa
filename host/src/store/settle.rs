//! The end of a batch's transaction: queued statements, effects, ledger rows, attempts and inbox
//! changes in one commit. Normally on the batch's own connection in one pipelined trip; where a
//! single delivery's connection or commit failed, on a control connection, which writes only if
//! the delivery is still as it was claimed.
//!
//! Knows nothing of why a delivery ends so: `core::decide` said it.

use std::time::Duration;

use tokio_postgres::types::Type;
use uuid::Uuid;
use wonce_core::decide::DeadReason;
use wonce_core::delivery::{Delivery, Repeat};
use wonce_core::fault::Fault;
use wonce_core::sql::{DbError, SqlError};

use super::claim::{CLAIM, ClaimedDelivery};
use super::lease::HandlerAccess;
use super::sql::Sql;
use super::transaction::{BOOKKEEPING_LIMIT, OpenTransaction};
use super::{Error, Store, begin};

pub(super) mod call;
mod columns;
mod trip;

use call::Call;

pub(super) const DONE: Sql = Sql {
    name: "settle deliveries as done",
    text: "SELECT wonce.settle_done($1, $2, $3, $4, $5, $6, $7, $8)",
    params: &[
        Type::INT8,
        Type::BYTEA,
        Type::TEXT,
        Type::BYTEA,
        Type::INT8_ARRAY,
        Type::INT8_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
    ],
};
pub(super) const EMIT: Sql = Sql {
    name: "plan effects",
    text: "SELECT wonce.emit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
    params: &[
        Type::INT8,
        Type::BYTEA,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::INT4_ARRAY,
        Type::INT4_ARRAY,
        Type::BYTEA_ARRAY,
        Type::TEXT_ARRAY,
        Type::INT8_ARRAY,
    ],
};
/// Prepared on every invocation connection when it is opened.
pub(super) const BOOKKEEPING: &[&Sql] = &[&CLAIM, &EMIT, &DONE, &call::RETRY, &call::DEAD, &call::REPEAT];

/// How a delivery ends this time.
#[derive(Debug, Clone)]
pub enum Settlement {
    /// Commit the guest's work; the text is the reason of an ignored event.
    Done { ignored: Option<String> },
    /// Roll the guest's work back, count the attempt, try again later.
    Retry { fault: Fault, after: Duration },
    /// Roll the guest's work back and keep the event for people.
    Dead { fault: Fault, reason: DeadReason, fingerprint: String },
    /// The key was settled before: nothing ran.
    Repeat(Repeat),
}

/// What is written beside every settlement.
#[derive(Debug, Clone)]
pub struct Record {
    /// SHA-256 of the version that ran.
    pub version: [u8; 32],
    /// Boot id of this host.
    pub host: Uuid,
    /// How long the guest ran.
    pub duration: Duration,
    /// The last log lines, for the attempt's row.
    pub log_tail: String,
    /// Who is told about a dead letter.
    pub owner: Option<String>,
}

/// One delivery of a batch and how it ends.
#[derive(Debug)]
pub struct Entry<'a> {
    pub delivery: &'a ClaimedDelivery,
    pub settlement: &'a Settlement,
    pub record: Record,
}

/// What became of one delivery's settlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It is committed.
    Committed,
    /// Somebody else settled or moved the delivery; nothing was written for it.
    Overtaken,
}

/// What became of a batch's settlement.
#[derive(Debug)]
pub enum Settled {
    /// The transaction is committed, with what is said of each entry, in their order.
    Committed(Vec<Written>),
    /// Somebody else settled or moved a delivery that was handled here; everything is rolled back.
    Overtaken,
    /// Postgres refused it: a queued statement, or for example a deferred constraint; everything is
    /// rolled back.
    Refused(DbError),
    /// The connection broke. Whether the commit arrived, the next claim finds out. A guest's own
    /// queued statements may have broken it.
    Lost { reason: String, guest_statements: usize },
}

impl OpenTransaction {
    /// Ends the transaction, one way or the other. `guest_limit` is how long the guests' queued
    /// statements may take before they are cancelled.
    pub async fn settle(mut self, entries: &[Entry<'_>], guest_limit: Duration) -> Settled {
        let limit = if self.queued.is_empty() { BOOKKEEPING_LIMIT } else { guest_limit.max(LEAST_LIMIT) };
        let settled = trip::settle(&mut self, entries, limit).await;
        match settled {
            Settled::Committed(_) => self.lease.give_back(),
            // Closing is the surest way to leave nothing behind.
            Settled::Overtaken | Settled::Refused(_) | Settled::Lost { .. } => drop(self.lease),
        }
        settled
    }
}

impl Store {
    /// Settles on a control connection a delivery that was not handled and whose own transaction
    /// could not settle it: only if it is still pending with the same round and attempt, and
    /// nobody holds it.
    ///
    /// # Errors
    /// When the database is out of reach or refuses.
    pub async fn settle_elsewhere(
        &self,
        access: &HandlerAccess,
        delivery: &Delivery,
        marks: i32,
        settlement: &Settlement,
        record: &Record,
    ) -> Result<Written, Error> {
        let Some(sql) = settlement.call() else {
            let attempt = format!("settle delivery \"{}\" as done", delivery.key);
            let reason = "only the transaction that holds the handler's work may do that".to_owned();
            return Err(Error::Refused { attempt, reason });
        };
        let mut client = self.client().await?;
        let tx = begin(&mut client, "begin a settlement").await?;
        let call = Call::new(access, delivery, None, marks, settlement, record);
        if !sql.query_one(&tx, &call.params()).await?.get::<_, bool>(0) {
            return Ok(Written::Overtaken);
        }
        tx.commit().await.map_err(|source| Error::Statement { attempt: sql.name, source })?;
        Ok(Written::Committed)
    }
}

/// A settlement with guests' statements in it has at least this long, however short their deadline.
const LEAST_LIMIT: Duration = Duration::from_secs(2);

/// The SQLSTATE by which `wonce.settle_done` says that a key is settled or a row not ours.
const OVERTAKEN: &str = "WN001";

fn failed(error: SqlError, guest_statements: usize) -> Settled {
    match error {
        SqlError::Database(db) if db.sqlstate == OVERTAKEN => Settled::Overtaken,
        SqlError::Database(error) => Settled::Refused(error),
        SqlError::ConnectionLost(reason) | SqlError::Denied(reason) | SqlError::Parameter(_, reason) => {
            Settled::Lost { reason, guest_statements }
        }
        SqlError::Aborted | SqlError::LimitExceeded(_) => {
            Settled::Lost { reason: "the transaction was aborted".to_owned(), guest_statements }
        }
    }
}
