//! The read side: what the admin API shows, each answer from one snapshot of the database so
//! that its numbers agree with each other. It speaks `wonce_api` directly, because a second set
//! of the same structs would only be copied. It changes nothing and takes no locks.

use std::time::{Duration, SystemTime};

use deadpool_postgres::Object;
use jiff::Timestamp;
use tokio_postgres::types::Type;
use tokio_postgres::{IsolationLevel, Row, Transaction};
use wonce_api::{Taken, Time};

use super::Error;
use super::sql::Sql;

pub mod dead_letter;
pub mod effect;
pub mod event;
pub mod group;
pub mod handler;
pub mod operation;
pub mod plugin;
pub mod status;

/// A page of the admin API must not hold the database for longer.
pub(super) const READ_LIMIT: Duration = Duration::from_secs(30);

const LOOK: Sql = Sql {
    name: "open a snapshot",
    text: "SELECT set_config('statement_timeout', $1, true), now() AS at",
    params: &[Type::TEXT],
};

pub(super) const STATEMENTS: &[&Sql] = &[&LOOK];

/// Opens a read-only snapshot in which no statement runs longer than `limit`. Dropping the
/// transaction ends it.
pub(super) async fn snapshot(
    client: &mut Object,
    limit: Duration,
) -> Result<(Transaction<'_>, Taken), Error> {
    let client: &mut tokio_postgres::Client = client;
    let tx = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await
        .map_err(|source| Error::Statement { attempt: "open a snapshot", source })?;
    let row = LOOK.query_one(&tx, &[&limit.as_millis().to_string()]).await?;
    let taken = Taken { at: time(&row, "at"), scope: "fleet".to_owned(), method: "exact".to_owned() };
    Ok((tx, taken))
}

/// A `timestamptz` column as RFC 3339 in UTC.
pub(super) fn time(row: &Row, column: &str) -> Time {
    rfc3339(row.get(column))
}

/// The same for a column that may be NULL.
pub(super) fn time_opt(row: &Row, column: &str) -> Option<Time> {
    row.get::<_, Option<SystemTime>>(column).map(rfc3339)
}

fn rfc3339(at: SystemTime) -> Time {
    // Postgres knows years up to 294276, RFC 3339 only up to 9999.
    Timestamp::try_from(at).map_or_else(|_| "out of range".to_owned(), |t| t.to_string())
}
