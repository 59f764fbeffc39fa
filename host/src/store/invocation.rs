//! The transaction of one delivery, from claim to settlement. The open transaction is the lease:
//! when its connection goes, so does every trace of the invocation. [`Claimed`] is consumed by its
//! settlement, so nothing can be settled twice.
//!
//! Knows nothing of wasm or of why a settlement was decided.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::{self, BoxFuture};
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use wonce_core::delivery::{Attempt, Delivery, Repeat, Round};
use wonce_core::effect::Effect;
use wonce_core::event::{Event, Micros};
use wonce_core::name::{Key, OrderingKey, SourceName};
use wonce_core::sql::{DbError, ResultLimits, RowSet, SqlError, SqlLimit, Value};

use super::Error;
use super::guest::{self, Reply};
use super::lease::{HandlerAccess, Lease, LeasePool};
use super::sql::Sql;

/// No single bookkeeping step (claim, settle, commit) takes longer; then the connection counts as lost.
const BOOKKEEPING_LIMIT: Duration = Duration::from_secs(15);
/// How long a cancelled guest statement may take to answer before its connection is given up.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);

pub(super) const CLAIM: Sql = Sql {
    name: "claim a delivery",
    text: "SELECT * FROM wonce.claim($1, $2, $3, $4)",
    params: &[Type::INT8, Type::BYTEA, Type::INT4, Type::INT2],
};
pub(super) const EMIT: Sql = Sql {
    name: "plan an effect",
    text: "SELECT wonce.emit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 * interval '1 microsecond')",
    params: &[
        Type::INT8,
        Type::BYTEA,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT_ARRAY,
        Type::BYTEA,
        Type::TEXT,
        Type::FLOAT8,
    ],
};
/// Prepared on every invocation connection when it is opened.
pub(super) const BOOKKEEPING: &[&Sql] = &[
    &CLAIM,
    &EMIT,
    &super::settle::DONE,
    &super::settle::RETRY,
    &super::settle::DEAD,
    &super::settle::REPEAT,
];

/// A delivery that this host holds.
#[derive(Debug)]
pub struct Claimed {
    pub delivery: ClaimedDelivery,
    pub transaction: OpenTransaction,
}

/// How a delivery's connection was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// While a guest's statement was under way: the guest may have done it.
    UnderStatement(String),
    /// While no statement was under way: the server or the network did it.
    Between(String),
}

impl Loss {
    /// The driver's or the server's words.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::UnderStatement(reason) | Self::Between(reason) => reason,
        }
    }
}

/// What was claimed.
#[derive(Debug, Clone)]
pub struct ClaimedDelivery {
    pub delivery: Delivery,
    pub event: Event,
    pub accepted_at: Micros,
    /// The transaction's start: the guest's clock.
    pub started_at: Micros,
    /// How often a host or backend died under it with no settlement since.
    pub marks: i32,
    /// Set when the key turned out to be settled already.
    pub repeat: Option<Repeat>,
    pub(super) xact: String,
}

/// The handler's open transaction, as the guest may use it.
pub struct OpenTransaction {
    pub(super) lease: Lease,
    pub(super) access: Arc<HandlerAccess>,
    key: Key,
    traceparent: Option<String>,
    /// A guest statement whose answer is still to come: kept here, so that a caller that is
    /// dropped half-way loses nothing.
    in_flight: Option<BoxFuture<'static, Result<Reply, SqlError>>>,
    aborted: Option<DbError>,
    lost: Option<Loss>,
}

impl std::fmt::Debug for OpenTransaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenTransaction")
            .field("handler", &self.access.id)
            .field("key", &self.key)
            .field("aborted", &self.aborted)
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}

/// Where the next look over an ordered handler's lanes starts.
#[derive(Debug, Clone, Copy)]
pub struct FirstLane(pub i16);

impl LeasePool {
    /// Claims the handler's next due delivery, or finds that nothing is due. `idle_limit` is how
    /// long Postgres lets the transaction sit between two statements.
    ///
    /// # Errors
    /// When the database is out of reach or refuses the handler's login.
    pub async fn claim(
        &self,
        access: &Arc<HandlerAccess>,
        first_lane: FirstLane,
        idle_limit: Duration,
    ) -> Result<Option<Claimed>, Error> {
        let lease = self.lease(access).await?;
        let rows = match timeout(BOOKKEEPING_LIMIT, claim_on(&lease, access, first_lane, idle_limit)).await {
            Ok(rows) => rows?,
            Err(_) => return Err(Error::Unreachable { reason: "the claim was not answered".to_owned() }),
        };
        let Some(row) = rows.first() else {
            roll_back(lease).await;
            return Ok(None);
        };
        let delivery = ClaimedDelivery::from_row(row)?;
        let transaction = OpenTransaction {
            lease,
            access: Arc::clone(access),
            key: delivery.delivery.key.clone(),
            traceparent: delivery.event.traceparent.clone(),
            in_flight: None,
            aborted: None,
            lost: None,
        };
        Ok(Some(Claimed { delivery, transaction }))
    }
}

/// One pipelined trip: what the last guest may have left in the session is cleared, the
/// transaction begins, one delivery is claimed, and the savepoint is set that a fault rolls back to.
async fn claim_on(
    lease: &Lease,
    access: &HandlerAccess,
    first_lane: FirstLane,
    idle_limit: Duration,
) -> Result<Vec<Row>, Error> {
    let connection = lease.connection();
    let client = &connection.client;
    let failed = |source| Error::Statement { attempt: CLAIM.name, source };
    let begin = format!(
        "RESET ALL; SELECT pg_catalog.pg_advisory_unlock_all(); BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
         SET LOCAL idle_in_transaction_session_timeout = {}",
        idle_limit.as_millis()
    );
    let (begun, rows, guarded) = future::join3(
        client.batch_execute(&begin),
        client.query(connection.bookkeeping(&CLAIM), &[&access.id, &access.secret, &1_i32, &first_lane.0]),
        client.batch_execute("SAVEPOINT wonce_guest"),
    )
    .await;
    begun.map_err(failed)?;
    let rows = rows.map_err(failed)?;
    guarded.map_err(failed)?;
    Ok(rows)
}

/// Ends a transaction in which nothing happened and keeps the connection, if that works.
pub(super) async fn roll_back(lease: Lease) {
    let ended = timeout(BOOKKEEPING_LIMIT, lease.connection().client.batch_execute("ROLLBACK")).await;
    if matches!(ended, Ok(Ok(()))) {
        lease.give_back();
    }
}

impl ClaimedDelivery {
    fn from_row(row: &Row) -> Result<Self, Error> {
        let broken = |what: &str, reason: String| Error::Refused {
            attempt: format!("read the claimed delivery's {what}"),
            reason,
        };
        let key = Key::parse(row.get::<_, String>("key")).map_err(|e| broken("key", e.to_string()))?;
        let ordering_key = row
            .get::<_, Option<String>>("ordering_key")
            .map(OrderingKey::parse)
            .transpose()
            .map_err(|e| broken("ordering key", e.to_string()))?;
        let via =
            SourceName::parse(row.get::<_, String>("via")).map_err(|e| broken("source", e.to_string()))?;
        let extensions: Vec<String> = row.get("extensions");
        let event = Event {
            via,
            id: row.get("event_id"),
            source: row.get("source"),
            event_type: row.get("event_type"),
            subject: row.get("subject"),
            time: row.get::<_, Option<SystemTime>>("event_time").map(micros),
            content_type: row.get("content_type"),
            data_schema: row.get("data_schema"),
            traceparent: row.get("traceparent"),
            extensions: extensions.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect(),
            data: row.get("data"),
        };
        let repeat = match row.get::<_, Option<&str>>("repeat") {
            None => None,
            Some("key_conflict") => Some(Repeat::KeyConflict),
            Some(_) => Some(Repeat::Duplicate),
        };
        Ok(Self {
            delivery: Delivery {
                inbox_id: row.get("inbox_id"),
                key,
                ordering_key,
                round: Round(row.get::<_, i32>("round").cast_unsigned()),
                attempt: Attempt(row.get::<_, i32>("attempt").cast_unsigned()),
            },
            event,
            accepted_at: micros(row.get("accepted_at")),
            started_at: micros(row.get("started_at")),
            marks: row.get("marks"),
            repeat,
            xact: row.get("xact"),
        })
    }
}

/// Database time as the contract has it.
pub(super) fn micros(at: SystemTime) -> Micros {
    let micros = match at.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_micros()),
        Err(before) => i64::try_from(before.duration().as_micros()).map(|m| -m),
    };
    Micros(micros.unwrap_or(i64::MAX))
}

impl OpenTransaction {
    /// Runs a guest's statement for its count of affected rows.
    ///
    /// # Errors
    /// As the contract's `sql.error`.
    pub async fn execute(&mut self, statement: &str, params: Vec<Value>) -> Result<u64, SqlError> {
        let connection = Arc::clone(self.lease.connection());
        let statement = statement.to_owned();
        let reply = self.answer(Box::pin(guest::execute(connection, statement, params))).await?;
        Ok(reply.count())
    }

    /// Runs a guest's statement for its rows.
    ///
    /// # Errors
    /// As the contract's `sql.error`.
    pub async fn query(
        &mut self,
        statement: &str,
        params: Vec<Value>,
        limits: ResultLimits,
    ) -> Result<RowSet, SqlError> {
        let connection = Arc::clone(self.lease.connection());
        let statement = statement.to_owned();
        let reply = self.answer(Box::pin(guest::query(connection, statement, params, limits))).await?;
        Ok(reply.rows())
    }

    /// Plans an effect.
    ///
    /// # Errors
    /// As a statement's.
    pub async fn emit(&mut self, effect: Effect) -> Result<(), SqlError> {
        let connection = Arc::clone(self.lease.connection());
        let access = Arc::clone(&self.access);
        let (key, traceparent) = (self.key.clone(), self.traceparent.clone());
        self.answer(Box::pin(guest::emit(connection, access, key, traceparent, effect))).await?;
        Ok(())
    }

    /// The error that aborted the transaction, if one did.
    #[must_use]
    pub fn aborted_by(&self) -> Option<&DbError> {
        self.aborted.as_ref()
    }

    /// How the connection was lost, if it was.
    #[must_use]
    pub fn lost(&self) -> Option<&Loss> {
        self.lost.as_ref()
    }

    /// Settles what a dropped caller left in flight: cancels it and waits, bounded, for its answer.
    pub async fn quiesce(&mut self) {
        let Some(pending) = self.in_flight.take() else { return };
        let connection = Arc::clone(self.lease.connection());
        let ended = timeout(CANCEL_LIMIT, async {
            connection.cancel().await;
            pending.await
        })
        .await;
        match ended {
            Ok(result) => self.note(&result),
            Err(_) => {
                self.lost = Some(Loss::UnderStatement("a cancelled statement gave no answer".to_owned()));
            }
        }
    }

    /// Rolls the guest's work back and sets the savepoint anew, for another run in this transaction.
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn start_over(&mut self) -> Result<(), Error> {
        let client = &self.lease.connection().client;
        let again = client.batch_execute("ROLLBACK TO SAVEPOINT wonce_guest");
        match timeout(BOOKKEEPING_LIMIT, again).await {
            Ok(Ok(())) => {
                self.aborted = None;
                Ok(())
            }
            Ok(Err(source)) => Err(Error::Statement { attempt: "roll back to the savepoint", source }),
            Err(_) => Err(Error::Unreachable { reason: "the rollback was not answered".to_owned() }),
        }
    }

    /// Ends the transaction with nothing written; the delivery stays as it was.
    pub async fn release(self) {
        if self.lost.is_none() && self.in_flight.is_none() {
            roll_back(self.lease).await;
        }
    }

    async fn answer(&mut self, work: BoxFuture<'static, Result<Reply, SqlError>>) -> Result<Reply, SqlError> {
        if self.aborted.is_some() {
            return Err(SqlError::Aborted);
        }
        // What closed before this statement was sent was not closed by it.
        if self.lost.is_none() && self.lease.connection().client.is_closed() {
            self.lost = Some(Loss::Between("the connection closed between two statements".to_owned()));
        }
        if let Some(loss) = &self.lost {
            return Err(SqlError::ConnectionLost(loss.reason().to_owned()));
        }
        let pending = self.in_flight.insert(work);
        let result = pending.await;
        self.in_flight = None;
        self.note(&result);
        result
    }

    fn note(&mut self, result: &Result<Reply, SqlError>) {
        match result {
            Ok(_) | Err(SqlError::Aborted | SqlError::Parameter(..) | SqlError::Denied(_)) => {}
            Err(SqlError::Database(error)) => {
                self.lease.connection().forget_guest_statements();
                self.aborted = Some(error.clone());
            }
            // Reading was cut off by a cancel, which aborts the transaction.
            Err(SqlError::LimitExceeded(limit)) => {
                self.aborted = Some(DbError {
                    sqlstate: "57014".to_owned(),
                    message: format!("the result was cut off: {}", limit_text(*limit)),
                    ..DbError::default()
                });
            }
            Err(SqlError::ConnectionLost(reason)) => self.lost = Some(Loss::UnderStatement(reason.clone())),
        }
    }
}

fn limit_text(limit: SqlLimit) -> &'static str {
    match limit {
        SqlLimit::Rows => "it has more rows than limits.result_rows allows",
        SqlLimit::ResultBytes => "it has more bytes than limits.result_bytes allows",
        SqlLimit::Statements => "limits.statements",
        SqlLimit::StatementBytes => "limits.statement_bytes",
        SqlLimit::Time => "limits.deadline",
    }
}

/// Bounds a bookkeeping step.
pub(super) async fn bounded<T>(step: impl Future<Output = T>) -> Option<T> {
    timeout(BOOKKEEPING_LIMIT, step).await.ok()
}
