//! Statements of guests on their transaction's connection: prepare, fit the parameters, run, read
//! up to the limits; what was queued goes out in one trip with what is waited for. Free functions
//! that own what they need, because a deadline may drop the caller while the answer is on its way.

use std::error::Error as _;
use std::sync::Arc;

use futures_util::{TryFutureExt, TryStreamExt, pin_mut};
use tokio_postgres::Statement;
use wonce_core::sql::{Column, DbError, ResultLimits, RowSet, SqlError, SqlLimit, Value};

use super::error::root_cause;
use super::lease::Connection;
use super::transaction::Savepoint;
use super::trip::Trip;
use super::value::decode::{self, Lifted};
use super::value::encode::{self, Encoded};
use super::value::type_name;

pub(super) mod queued;

use queued::{Queued, Refused, pack};

/// What a statement answers.
#[derive(Debug)]
pub(super) enum Reply {
    Count(u64),
    Rows(RowSet),
}

impl Reply {
    pub(super) fn count(self) -> u64 {
        match self {
            Reply::Count(count) => count,
            Reply::Rows(set) => set.rows.len() as u64,
        }
    }

    pub(super) fn rows(self) -> RowSet {
        match self {
            Reply::Rows(set) => set,
            Reply::Count(_) => RowSet { columns: Vec::new(), rows: Vec::new() },
        }
    }
}

/// What ends a trip: the statement that the guest waits for, if there is one.
#[derive(Debug)]
pub(super) enum Last {
    Nothing,
    Prepare(String),
    Execute(String, Vec<Value>),
    Query(String, Vec<Value>, ResultLimits),
}

/// Whether the batch's savepoint still has to be set before the guest's first statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guard {
    Set,
    IsSet,
}

/// What came back from a trip.
#[derive(Debug)]
pub(super) struct Landed {
    /// The first queued statement that failed.
    pub(super) refused: Option<Refused>,
    /// The last statement's own answer.
    pub(super) reply: Result<Reply, SqlError>,
}

/// Which request of a trip was refused.
enum Failed {
    /// The host's savepoint, or the last statement.
    Own(SqlError),
    Queued(Refused),
}

/// Sends what is queued and the last statement in one trip, and waits for every answer.
pub(super) async fn fly(
    connection: Arc<Connection>,
    guard: Guard,
    queued: Vec<Queued>,
    last: Last,
) -> Landed {
    let client = &connection.client;
    let parcels = pack(&queued);
    let mut trip = Trip::new();
    if guard == Guard::Set {
        let set = client.batch_execute(Savepoint::Batch.set());
        trip.send(set.map_ok(|()| Reply::Count(0)).map_err(|error| Failed::Own(refused(error)))).await;
    }
    for parcel in &parcels {
        trip.send(parcel.run(client).map_ok(|()| Reply::Count(0)).map_err(Failed::Queued)).await;
    }
    // Behind what was queued, even if it must be prepared first: a statement that cannot be prepared
    // aborts the transaction.
    let last = async { run_last(&connection, make_ready(&connection, last).await?).await };
    trip.send(last.map_err(Failed::Own)).await;
    landed(trip.answers().await)
}

/// What was refused first is what counts: it aborted the transaction for all behind it.
fn landed(answers: Vec<Result<Reply, Failed>>) -> Landed {
    let mut reply = Err(SqlError::Aborted);
    for answer in answers {
        match answer {
            Ok(answer) => reply = Ok(answer),
            Err(Failed::Own(error)) => return Landed { refused: None, reply: Err(error) },
            Err(Failed::Queued(refused)) => {
                return Landed { refused: Some(refused), reply: Err(SqlError::Aborted) };
            }
        }
    }
    Landed { refused: None, reply }
}

/// A last statement that can be sent at once.
enum Ready {
    Nothing,
    Execute(Statement, Vec<Encoded>),
    Query(Statement, Vec<Encoded>, ResultLimits),
}

async fn make_ready(connection: &Connection, last: Last) -> Result<Ready, SqlError> {
    let prepare = async |text: String| connection.guest_statement(&text).await.map_err(refused);
    Ok(match last {
        Last::Nothing => Ready::Nothing,
        Last::Prepare(text) => {
            connection.prepare_to_queue(&text).await.map_err(refused)?;
            Ready::Nothing
        }
        Last::Execute(text, params) => {
            let statement = prepare(text).await?;
            let params = fit(params, &statement)?;
            Ready::Execute(statement, params)
        }
        Last::Query(text, params, limits) => {
            let statement = prepare(text).await?;
            require_supported_columns(&statement)?;
            let params = fit(params, &statement)?;
            Ready::Query(statement, params, limits)
        }
    })
}

async fn run_last(connection: &Connection, ready: Ready) -> Result<Reply, SqlError> {
    match ready {
        Ready::Nothing => Ok(Reply::Count(0)),
        Ready::Execute(statement, params) => {
            connection.client.execute_raw(&statement, &params).await.map(Reply::Count).map_err(refused)
        }
        Ready::Query(statement, params, limits) => query(connection, &statement, &params, limits).await,
    }
}

async fn query(
    connection: &Connection,
    statement: &Statement,
    params: &[Encoded],
    limits: ResultLimits,
) -> Result<Reply, SqlError> {
    let stream = connection.client.query_raw(statement, params).await.map_err(refused)?;
    pin_mut!(stream);
    let mut rows: Vec<Vec<Value>> = Vec::new();
    let mut bytes = 0_u64;
    while let Some(row) = stream.try_next().await.map_err(refused)? {
        let mut values = Vec::with_capacity(row.len());
        for index in 0..row.len() {
            let lifted: Lifted = row.try_get(index).map_err(refused)?;
            bytes += lifted.bytes as u64;
            values.push(lifted.value);
        }
        rows.push(values);
        let over = if rows.len() as u64 > limits.rows {
            SqlLimit::Rows
        } else if bytes > limits.bytes {
            SqlLimit::ResultBytes
        } else {
            continue;
        };
        connection.cancel().await;
        // What is on its way is read and dropped, so that the connection is in step again.
        while let Ok(Some(_)) = stream.try_next().await {}
        return Err(SqlError::LimitExceeded(over));
    }
    let columns = statement
        .columns()
        .iter()
        .map(|c| Column { name: c.name().to_owned(), type_name: type_name(c.type_()) })
        .collect();
    Ok(Reply::Rows(RowSet { columns, rows }))
}

pub(super) fn fit(params: Vec<Value>, statement: &Statement) -> Result<Vec<Encoded>, SqlError> {
    let wanted = statement.params();
    if params.len() != wanted.len() {
        let index = u32::try_from(params.len().min(wanted.len())).unwrap_or(u32::MAX);
        let reason = format!("the statement has {} parameters, got {}", wanted.len(), params.len());
        return Err(SqlError::Parameter(index, reason));
    }
    let fit_one = |(index, (value, ty)): (u32, (Value, _))| {
        encode::encode(value, ty).map_err(|reason| SqlError::Parameter(index, reason))
    };
    (0..).zip(params.into_iter().zip(wanted)).map(fit_one).collect()
}

fn require_supported_columns(statement: &Statement) -> Result<(), SqlError> {
    match statement.columns().iter().find(|c| !decode::is_supported(c.type_())) {
        None => Ok(()),
        Some(column) => Err(SqlError::Denied(format!(
            "column \"{}\" has type {}, which has no value in the contract: cast it to text in the query",
            column.name(),
            type_name(column.type_())
        ))),
    }
}

/// Translates the driver's error. A database that ends the session is a lost connection, however
/// politely it says so.
pub(super) fn refused(error: tokio_postgres::Error) -> SqlError {
    let Some(db) = error.as_db_error() else {
        let reason = root_cause(&error);
        return match error.is_closed() || error.source().is_some_and(|s| s.is::<std::io::Error>()) {
            true => SqlError::ConnectionLost(reason),
            false => SqlError::Denied(format!("the driver refuses: {reason}")),
        };
    };
    if ends_the_session(db.code().code()) {
        return SqlError::ConnectionLost(db.message().to_owned());
    }
    SqlError::Database(DbError {
        sqlstate: db.code().code().to_owned(),
        message: db.message().to_owned(),
        detail: db.detail().map(str::to_owned),
        hint: db.hint().map(str::to_owned),
        table: db.table().map(str::to_owned),
        column: db.column().map(str::to_owned),
        constraint: db.constraint().map(str::to_owned),
    })
}

/// Connection exceptions (class 08), and the server or an administrator ending the session. A
/// server out of resources (class 53) refuses the statement but keeps the session.
fn ends_the_session(sqlstate: &str) -> bool {
    sqlstate.starts_with("08") || sqlstate.starts_with("57P")
}
