//! One statement of a guest on its transaction's connection: prepare, fit the parameters, run,
//! read up to the limits. Free functions that own what they need, because a deadline may drop the
//! caller while the answer is still on its way.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt;
use futures_util::pin_mut;
use tokio_postgres::Statement;
use wonce_core::effect::Effect;
use wonce_core::name::Key;
use wonce_core::sql::{Column, DbError, ResultLimits, RowSet, SqlError, SqlLimit, Value};

use super::error::root_cause;
use super::invocation::EMIT;
use super::lease::{Connection, HandlerAccess};
use super::value::decode::{self, Lifted};
use super::value::encode::{self, Encoded};
use super::value::type_name;

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

pub(super) async fn execute(
    connection: Arc<Connection>,
    text: String,
    params: Vec<Value>,
) -> Result<Reply, SqlError> {
    let statement = connection.guest_statement(&text).await.map_err(refused)?;
    let params = fit(params, &statement)?;
    let count = connection.client.execute_raw(&statement, &params).await.map_err(refused)?;
    Ok(Reply::Count(count))
}

pub(super) async fn query(
    connection: Arc<Connection>,
    text: String,
    params: Vec<Value>,
    limits: ResultLimits,
) -> Result<Reply, SqlError> {
    let statement = connection.guest_statement(&text).await.map_err(refused)?;
    require_supported_columns(&statement)?;
    let params = fit(params, &statement)?;
    let stream = connection.client.query_raw(&statement, &params).await.map_err(refused)?;
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

pub(super) async fn emit(
    connection: Arc<Connection>,
    access: Arc<HandlerAccess>,
    key: Key,
    traceparent: Option<String>,
    effect: Effect,
) -> Result<Reply, SqlError> {
    let attributes: Vec<String> =
        effect.attributes.into_iter().flat_map(|(name, value)| [name, value]).collect();
    let delay = effect.delay.unwrap_or(Duration::ZERO).as_secs_f64() * 1e6;
    let ordering_key = effect.ordering_key.as_ref().map(|k| k.as_str());
    connection
        .client
        .query_one(
            connection.bookkeeping(&EMIT),
            &[
                &access.id,
                &access.secret,
                &key.as_str(),
                &effect.sink.as_str(),
                &effect.dedup_key,
                &effect.effect_type,
                &effect.content_type,
                &ordering_key,
                &attributes,
                &effect.data,
                &traceparent,
                &delay,
            ],
        )
        .await
        .map_err(refused)?;
    Ok(Reply::Count(1))
}

fn fit(params: Vec<Value>, statement: &Statement) -> Result<Vec<Encoded>, SqlError> {
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
