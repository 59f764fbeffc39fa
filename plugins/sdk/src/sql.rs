//! SQL inside the one transaction that the host holds for this call. There is no connect, begin, commit or
//! rollback: returning `Ok` commits, returning a failure rolls back.
//!
//! | function | a statement that returns |
//! |---|---|
//! | [`execute`] | no rows: the count of affected rows |
//! | [`query`] | any number of rows, as a `Vec` |
//! | [`query_opt`] | no row or one |
//! | [`query_one`] | exactly one row |
//! | [`queue`] | nothing that you need: it costs no round trip |
//!
//! Rows are read as anything that is [`FromRow`]: a struct with `#[derive(FromRow)]`, a tuple by position, one plain
//! value for one column, or a [`Row`] to take apart by hand.
//!
//! ```no_run
//! use wonce::prelude::*;
//!
//! #[derive(FromRow)]
//! struct Order { status: String, amount_cents: i64 }
//!
//! # fn f() -> wonce::Result<()> {
//! let order = sql::query_opt::<Order>("select status, amount_cents from shop.orders where id = $1", &[&"o-1"])?;
//! let (paid, sum): (i64, Option<i64>) = sql::query_one("select count(*), sum(amount_cents)::bigint from shop.orders", &[])?;
//! let emails: Vec<String> = sql::query("select email from shop.customers where tier = any($1)", &[&["gold", "silver"].as_slice()])?;
//! sql::execute("update shop.orders set status = 'paid' where id = $1", &[&"o-1"])?;
//! # Ok(()) }
//! ```
//!
//! A statement that PostgreSQL refuses aborts the transaction, so an expected conflict is better avoided than caught:
//! `insert … on conflict do nothing` and look at the count.

mod error;
mod row;

use std::rc::Rc;

#[doc(inline)]
pub use crate::bindings::wonce::handler::sql::{Column, DbError, Interval, Limit, OtherValue, RowSet, Value};
pub use crate::value::{ArrayElement, FromValue, Json, Numeric, ToSql, WrongType};
pub use error::Error;
pub use row::{FromRow, Row};
#[doc(inline)]
pub use wonce_macros::FromRow;

use crate::host;

/// Runs one statement; the count of affected rows.
///
/// # Errors
/// See [`Error`]; `?` turns it into the fitting failure.
pub fn execute(statement: &str, params: &[&dyn ToSql]) -> Result<u64, Error> {
    host::execute(statement, &values(params)?)
}

/// Queues one statement whose answer you do not need, such as the last updates of a handler: it travels with the next
/// statement that is waited for, or with the commit, and so costs no round trip of its own.
///
/// Queued statements run in the order of the calls and before any later [`execute`] or [`query`]. If PostgreSQL refuses
/// one, the error comes from that later call, or the event fails by it when the handler has returned; nothing is
/// committed either way. Use [`execute`] where the count of affected rows decides something.
///
/// # Errors
/// Only when the statement is denied, cannot be prepared, is one too many for the host's limits, or when the
/// parameters do not fit it; see [`Error`].
pub fn queue(statement: &str, params: &[&dyn ToSql]) -> Result<(), Error> {
    host::queue(statement, &values(params)?)
}

/// Runs one statement and returns all its rows, up to the host's limits.
///
/// # Errors
/// See [`Error`]; `?` turns it into the fitting failure.
pub fn query<T: FromRow>(statement: &str, params: &[&dyn ToSql]) -> Result<Vec<T>, Error> {
    let answer = host::query(statement, &values(params)?)?;
    let columns: Rc<[Column]> = answer.columns.into();
    answer.rows.into_iter().map(|values| T::from_row(&Row::new(Rc::clone(&columns), values))).collect()
}

/// Runs a statement that returns no row or one.
///
/// # Errors
/// [`Error::RowCount`] when there are more, and whatever [`query`] says.
pub fn query_opt<T: FromRow>(statement: &str, params: &[&dyn ToSql]) -> Result<Option<T>, Error> {
    let mut rows = query(statement, params)?;
    match rows.len() {
        0 | 1 => Ok(rows.pop()),
        found => Err(Error::RowCount { wanted: "at most one row", found }),
    }
}

/// Runs a statement that returns exactly one row, such as an aggregate.
///
/// # Errors
/// [`Error::RowCount`] when there is none or more than one, and whatever [`query`] says.
pub fn query_one<T: FromRow>(statement: &str, params: &[&dyn ToSql]) -> Result<T, Error> {
    let mut rows = query(statement, params)?;
    let found = rows.len();
    let last = rows.pop();
    last.filter(|_| found == 1).ok_or(Error::RowCount { wanted: "exactly one row", found })
}

fn values(params: &[&dyn ToSql]) -> Result<Vec<Value>, Error> {
    let read = |(index, param): (usize, &&dyn ToSql)| {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        param.to_sql().map_err(|reason| Error::Parameter { number, reason })
    };
    params.iter().enumerate().map(read).collect()
}
