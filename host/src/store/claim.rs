//! The start of a delivery's transaction: what is due is locked and read. The open transaction is
//! the lease: when its connection goes, so does every trace of the invocation.
//!
//! Knows nothing of what is done under the lease: that is `transaction` and `settle`.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future;
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use wonce_core::delivery::{Attempt, Delivery, Repeat, Round};
use wonce_core::event::{Event, Micros};
use wonce_core::name::{Key, OrderingKey, SourceName};
use wonce_core::pace::BatchLimit;

use super::Error;
use super::lease::{HandlerAccess, Lease, LeasePool};
use super::sql::Sql;
use super::transaction::{BOOKKEEPING_LIMIT, OpenTransaction, roll_back};

pub(super) const CLAIM: Sql = Sql {
    name: "claim deliveries",
    text: "SELECT * FROM wonce.claim($1, $2, $3, $4)",
    params: &[Type::INT8, Type::BYTEA, Type::INT4, Type::INT2],
};

/// Deliveries that this host holds, at least one, in the order in which they may be handled.
#[derive(Debug)]
pub struct Claimed {
    pub deliveries: Vec<ClaimedDelivery>,
    pub transaction: OpenTransaction,
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

/// Where the next look over an ordered handler's lanes starts.
#[derive(Debug, Clone, Copy)]
pub struct FirstLane(pub i16);

impl LeasePool {
    /// Claims the handler's next due deliveries, or finds that nothing is due. `idle_limit` is how
    /// long Postgres lets the transaction sit between two statements.
    ///
    /// # Errors
    /// When the database is out of reach or refuses the handler's login.
    pub async fn claim(
        &self,
        access: &Arc<HandlerAccess>,
        limit: BatchLimit,
        first_lane: FirstLane,
        idle_limit: Duration,
    ) -> Result<Option<Claimed>, Error> {
        let lease = self.lease(access).await?;
        let claim = claim_on(&lease, access, limit, first_lane, idle_limit);
        let rows = match timeout(BOOKKEEPING_LIMIT, claim).await {
            Ok(rows) => rows?,
            Err(_) => return Err(Error::Unreachable { reason: "the claim was not answered".to_owned() }),
        };
        if rows.is_empty() {
            roll_back(lease).await;
            return Ok(None);
        }
        let deliveries = rows.iter().map(ClaimedDelivery::from_row).collect::<Result<_, _>>()?;
        Ok(Some(Claimed { deliveries, transaction: OpenTransaction::new(lease, Arc::clone(access)) }))
    }
}

/// One pipelined trip: what the last guest may have left in the session is cleared, the
/// transaction begins, deliveries are claimed.
async fn claim_on(
    lease: &Lease,
    access: &HandlerAccess,
    limit: BatchLimit,
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
    let limit = i32::from(limit.get());
    let (begun, rows) = future::join(
        client.batch_execute(&begin),
        client.query(connection.bookkeeping(&CLAIM), &[&access.id, &access.secret, &limit, &first_lane.0]),
    )
    .await;
    begun.map_err(failed)?;
    rows.map_err(failed)
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
