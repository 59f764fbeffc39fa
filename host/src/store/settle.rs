//! The end of a delivery's transaction: outcome, ledger row, attempt and inbox change in one
//! commit. Normally on the invocation's own connection in one pipelined trip; where that
//! connection or its commit failed, on a control connection, which writes only if the delivery is
//! still as it was claimed.
//!
//! Knows nothing of why it ends so: `core::decide` said it.

use std::time::Duration;

use futures_util::future;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Statement};
use uuid::Uuid;
use wonce_core::decide::DeadReason;
use wonce_core::delivery::{Delivery, Repeat};
use wonce_core::fault::Fault;
use wonce_core::sql::{DbError, SqlError};

use super::guest::refused;
use super::invocation::{Claimed, bounded};
use super::lease::HandlerAccess;
use super::sql::{Param, Sql};
use super::{Error, Store, begin};

pub(super) const DONE: Sql = Sql {
    name: "settle a delivery as done",
    text: "SELECT wonce.settle_done($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    params: &[
        Type::INT8,
        Type::BYTEA,
        Type::INT8,
        Type::INT4,
        Type::INT4,
        Type::TEXT,
        Type::TEXT,
        Type::BYTEA,
        Type::INT4,
    ],
};
pub(super) const RETRY: Sql = Sql {
    name: "put a delivery off",
    text: "SELECT wonce.settle_retry($1, $2, $3, $4, $5, $6, $7 * interval '1 microsecond', $8, $9, $10, $11, \
           $12, $13, $14, $15)",
    params: &[
        Type::INT8,
        Type::BYTEA,
        Type::INT8,
        Type::INT4,
        Type::INT4,
        Type::TEXT,
        Type::FLOAT8,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::INT8,
        Type::BYTEA,
        Type::UUID,
        Type::TEXT,
        Type::INT4,
    ],
};
pub(super) const DEAD: Sql = Sql {
    name: "settle a delivery as dead",
    text: "SELECT wonce.settle_dead($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
    params: &[
        Type::INT8,
        Type::BYTEA,
        Type::INT8,
        Type::INT4,
        Type::INT4,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::INT8,
        Type::BYTEA,
        Type::UUID,
        Type::TEXT,
        Type::INT4,
        Type::TEXT,
        Type::TEXT,
    ],
};
pub(super) const REPEAT: Sql = Sql {
    name: "settle a late repeat",
    text: "SELECT wonce.settle_repeat($1, $2, $3, $4, $5, $6, $7)",
    params: &[Type::INT8, Type::BYTEA, Type::INT8, Type::INT4, Type::INT4, Type::TEXT, Type::TEXT],
};

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

/// What became of a settlement.
#[derive(Debug)]
pub enum Settled {
    /// It is committed.
    Committed,
    /// Somebody else settled or moved the delivery; nothing was written.
    Overtaken,
    /// Postgres refused it, a deferred constraint for example; everything is rolled back.
    Refused(DbError),
    /// The connection broke. Whether the commit arrived, the next claim finds out.
    Lost(String),
}

impl Claimed {
    /// Ends the transaction, one way or the other.
    pub async fn settle(self, settlement: &Settlement, record: &Record) -> Settled {
        let Claimed { delivery, transaction } = self;
        let call = Call::new(
            &transaction.access,
            &delivery.delivery,
            Some(&delivery.xact),
            delivery.marks,
            settlement,
            record,
        );
        let connection = transaction.lease.connection();
        let statement = connection.bookkeeping(settlement.statement());
        let settled = bounded(on_connection(&connection.client, statement, &call))
            .await
            .unwrap_or_else(|| Settled::Lost("the commit was not answered".to_owned()));
        match settled {
            Settled::Committed => transaction.lease.give_back(),
            // Closing is the surest way to leave nothing behind.
            Settled::Overtaken | Settled::Refused(_) | Settled::Lost(_) => drop(transaction.lease),
        }
        settled
    }
}

impl Store {
    /// Settles on a control connection a delivery whose own transaction could not: only if it is
    /// still pending with the same round and attempt, and nobody holds it.
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
    ) -> Result<Settled, Error> {
        let mut client = self.client().await?;
        let tx = begin(&mut client, "begin a settlement").await?;
        let sql = settlement.statement();
        let call = Call::new(access, delivery, None, marks, settlement, record);
        if !sql.query_one(&tx, &call.params()).await?.get::<_, bool>(0) {
            return Ok(Settled::Overtaken);
        }
        tx.commit().await.map_err(|source| Error::Statement { attempt: sql.name, source })?;
        Ok(Settled::Committed)
    }
}

/// One pipelined trip. The COMMIT behind a refused statement only rolls back, so "committed" is
/// said only when the settlement itself answered yes.
async fn on_connection(client: &Client, statement: &Statement, call: &Call<'_>) -> Settled {
    let opening = match call.settlement {
        // Deferred constraints are checked now, as faults like any other.
        Settlement::Done { .. } => "SET CONSTRAINTS ALL IMMEDIATE",
        Settlement::Retry { .. } | Settlement::Dead { .. } | Settlement::Repeat(_) => {
            "ROLLBACK TO SAVEPOINT wonce_guest"
        }
    };
    let params = call.params();
    let (opened, settled, committed) = future::join3(
        client.batch_execute(opening),
        client.query_one(statement, &params),
        client.batch_execute("COMMIT"),
    )
    .await;
    if let Err(error) = opened {
        return failed(error);
    }
    match (settled.map(|row| row.get::<_, bool>(0)), committed) {
        (Ok(true), Ok(())) => Settled::Committed,
        (Ok(false), _) => Settled::Overtaken,
        (Ok(true), Err(error)) | (Err(error), _) => failed(error),
    }
}

/// The SQLSTATE by which `wonce.settle_done` says that the key is settled or the row not ours.
const OVERTAKEN: &str = "WN001";

fn failed(error: tokio_postgres::Error) -> Settled {
    match refused(error) {
        SqlError::Database(db) if db.sqlstate == OVERTAKEN => Settled::Overtaken,
        SqlError::Database(db) => Settled::Refused(db),
        SqlError::ConnectionLost(reason) | SqlError::Denied(reason) | SqlError::Parameter(_, reason) => {
            Settled::Lost(reason)
        }
        SqlError::Aborted | SqlError::LimitExceeded(_) => {
            Settled::Lost("the transaction was aborted".to_owned())
        }
    }
}

impl Settlement {
    fn statement(&self) -> &'static Sql {
        match self {
            Settlement::Done { .. } => &DONE,
            Settlement::Retry { .. } => &RETRY,
            Settlement::Dead { .. } => &DEAD,
            Settlement::Repeat(_) => &REPEAT,
        }
    }
}

/// A settlement laid out for its function.
struct Call<'a> {
    access: &'a HandlerAccess,
    inbox_id: i64,
    round: i32,
    attempt: i32,
    xact: Option<&'a str>,
    marks: i32,
    settlement: &'a Settlement,
    record: &'a Record,
    version: &'a [u8],
    duration_us: i64,
    /// Microseconds until the next try.
    after_us: f64,
    class: &'static str,
    reason: &'static str,
    repeat: &'static str,
}

impl<'a> Call<'a> {
    fn new(
        access: &'a HandlerAccess,
        delivery: &Delivery,
        xact: Option<&'a str>,
        marks: i32,
        settlement: &'a Settlement,
        record: &'a Record,
    ) -> Self {
        let (after, fault, reason, repeat) = match settlement {
            Settlement::Done { .. } => (Duration::ZERO, None, "", ""),
            Settlement::Retry { fault, after } => (*after, Some(fault), "", ""),
            Settlement::Dead { fault, reason, .. } => (Duration::ZERO, Some(fault), reason.as_str(), ""),
            Settlement::Repeat(Repeat::Duplicate) => (Duration::ZERO, None, "", "duplicate"),
            Settlement::Repeat(Repeat::KeyConflict) => (Duration::ZERO, None, "", "key_conflict"),
        };
        Self {
            access,
            inbox_id: delivery.inbox_id,
            round: delivery.round.0.cast_signed(),
            attempt: delivery.attempt.0.cast_signed(),
            xact,
            marks,
            settlement,
            record,
            version: &record.version,
            duration_us: i64::try_from(record.duration.as_micros()).unwrap_or(i64::MAX),
            after_us: after.as_secs_f64() * 1e6,
            class: fault.map_or("", |fault| fault.class.as_str()),
            reason,
            repeat,
        }
    }

    /// In the order of the settlement's function.
    fn params(&self) -> Vec<Param<'_>> {
        let mut params: Vec<Param<'_>> = vec![
            &self.access.id,
            &self.access.secret,
            &self.inbox_id,
            &self.round,
            &self.attempt,
            &self.xact,
        ];
        match self.settlement {
            Settlement::Done { ignored } => {
                let tail: [Param<'_>; 3] = [ignored, &self.version, &self.marks];
                params.extend(tail);
            }
            Settlement::Retry { fault, .. } => {
                params.push(&self.after_us);
                params.extend(self.fault(fault));
                params.push(&self.marks);
            }
            Settlement::Dead { fault, fingerprint, .. } => {
                params.push(&self.reason);
                params.extend(self.fault(fault));
                let tail: [Param<'_>; 3] = [&self.marks, fingerprint, &self.record.owner];
                params.extend(tail);
            }
            Settlement::Repeat(_) => params.push(&self.repeat),
        }
        params
    }

    fn fault(&'a self, fault: &'a Fault) -> [Param<'a>; 7] {
        [
            &self.class,
            &fault.code,
            &fault.message,
            &self.duration_us,
            &self.version,
            &self.record.host,
            &self.record.log_tail,
        ]
    }
}
