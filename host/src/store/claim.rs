//! The start of a delivery's transaction: what is due is locked and read. The open transaction is
//! the lease: when its connection goes, so does every trace of the invocation.
//!
//! Knows nothing of what is done under the lease: that is `transaction` and `settle`.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future;
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};
use wonce_core::delivery::{Attempt, Delivery, Repeat, Round};
use wonce_core::event::{Event, Micros};
use wonce_core::name::{Key, OrderingKey, SourceName};
use wonce_core::pace::BatchLimit;

use super::Error;
use super::lease::{HandlerAccess, Lease, LeasePool};
use super::place::{ClaimTurns, Place};
use super::sql::Sql;
use super::transaction::{BOOKKEEPING_LIMIT, OpenTransaction, roll_back};

pub(super) const CLAIM: Sql = Sql {
    name: "claim deliveries",
    text: "SELECT * FROM wonce.claim($1, $2, $3, $4, $5, $6)",
    params: &[Type::INT8, Type::BYTEA, Type::INT4, Type::INT2, Type::TIMESTAMPTZ, Type::INT8],
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
    /// Claims the handler's next due deliveries when its turn comes, or finds that nothing is due.
    /// `idle_limit` is how long Postgres lets the transaction sit between two statements.
    ///
    /// # Errors
    /// When the database is out of reach or refuses the handler's login.
    pub async fn claim(
        &self,
        access: &Arc<HandlerAccess>,
        turns: &ClaimTurns,
        limit: BatchLimit,
        first_lane: FirstLane,
        idle_limit: Duration,
    ) -> Result<Option<Claimed>, Error> {
        let lease = self.lease(access).await?;
        let mut turn = turns.next().await;
        let claim = claim_on(&lease, access, turn.begin(), limit, first_lane, idle_limit);
        let rows = match timeout(BOOKKEEPING_LIMIT, claim).await {
            Ok(rows) => rows?,
            Err(_) => return Err(Error::Unreachable { reason: "the claim was not answered".to_owned() }),
        };
        let is_full = rows.len() >= usize::from(limit.get());
        turn.ended(rows.iter().map(place_of).max().filter(|_| is_full));
        drop(turn);
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
    after: Place,
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
        client.query(
            connection.bookkeeping(&CLAIM),
            &[&access.id, &access.secret, &limit, &first_lane.0, &after.due, &after.id],
        ),
    )
    .await;
    begun.map_err(failed)?;
    rows.map_err(failed)
}

fn place_of(row: &Row) -> Place {
    let mut columns = Columns::of(row);
    let (id, due) = (columns.next(), columns.next());
    Place { due, id }
}

/// A claimed row, read in the order in which `wonce.claim` has its columns: looking each up by name
/// would cost more than reading it.
struct Columns<'a> {
    row: &'a Row,
    read: usize,
}

impl<'a> Columns<'a> {
    fn of(row: &'a Row) -> Self {
        Self { row, read: 0 }
    }

    fn next<T: FromSql<'a>>(&mut self) -> T {
        let index = self.read;
        self.read += 1;
        self.row.get(index)
    }
}

impl ClaimedDelivery {
    fn from_row(row: &Row) -> Result<Self, Error> {
        let broken = |what: &str, reason: String| Error::Refused {
            attempt: format!("read the claimed delivery's {what}"),
            reason,
        };
        let mut columns = Columns::of(row);
        let inbox_id = columns.next();
        let _due_at: SystemTime = columns.next();
        let key = Key::parse(columns.next::<String>()).map_err(|e| broken("key", e.to_string()))?;
        let ordering_key = columns
            .next::<Option<String>>()
            .map(OrderingKey::parse)
            .transpose()
            .map_err(|e| broken("ordering key", e.to_string()))?;
        let round = Round(columns.next::<i32>().cast_unsigned());
        let attempt = Attempt(columns.next::<i32>().cast_unsigned());
        let accepted_at = micros(columns.next());
        let via = SourceName::parse(columns.next::<String>()).map_err(|e| broken("source", e.to_string()))?;
        let event = Event {
            via,
            id: columns.next(),
            source: columns.next(),
            event_type: columns.next(),
            subject: columns.next(),
            time: columns.next::<Option<SystemTime>>().map(micros),
            content_type: columns.next(),
            data_schema: columns.next(),
            traceparent: columns.next(),
            extensions: pairs(columns.next()),
            data: columns.next(),
        };
        Ok(Self {
            delivery: Delivery { inbox_id, key, ordering_key, round, attempt },
            event,
            accepted_at,
            marks: columns.next(),
            repeat: match columns.next::<Option<&str>>() {
                None => None,
                Some("key_conflict") => Some(Repeat::KeyConflict),
                Some(_) => Some(Repeat::Duplicate),
            },
            xact: columns.next(),
            started_at: micros(columns.next()),
        })
    }
}

/// name, value, name, value, ...
fn pairs(flat: Vec<String>) -> Vec<(String, String)> {
    let mut flat = flat.into_iter();
    let mut pairs = Vec::with_capacity(flat.len() / 2);
    while let (Some(name), Some(value)) = (flat.next(), flat.next()) {
        pairs.push((name, value));
    }
    pairs
}

/// Database time as the contract has it.
pub(super) fn micros(at: SystemTime) -> Micros {
    let micros = match at.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_micros()),
        Err(before) => i64::try_from(before.duration().as_micros()).map(|m| -m),
    };
    Micros(micros.unwrap_or(i64::MAX))
}
