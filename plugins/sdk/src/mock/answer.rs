//! What a scripted database answers.

use crate::sql::{Column, DbError, RowSet, ToSql, Value};

/// The answer to one statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// To `execute`: so many rows were affected.
    Affected(u64),
    /// To the queries.
    Rows(RowSet),
    /// PostgreSQL refuses it, and the transaction is aborted.
    Refused(Box<DbError>),
    /// The connection goes away.
    ConnectionLost,
}

/// So many rows were affected.
pub fn affected(count: u64) -> Answer {
    Answer::Affected(count)
}

/// No row.
pub fn no_rows() -> Answer {
    Answer::Rows(RowSet { columns: Vec::new(), rows: Vec::new() })
}

/// One row, by the names of its columns: `row(&[("status", &"open"), ("amount_cents", &1299_i64)])`.
///
/// # Panics
/// When a value cannot be one of SQL's.
pub fn row(columns: &[(&str, &dyn ToSql)]) -> Answer {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let values: Vec<&dyn ToSql> = columns.iter().map(|(_, value)| *value).collect();
    rows(&names, &[&values])
}

/// Rows of these columns: `rows(&["id", "status"], &[&[&"o-1", &"open"], &[&"o-2", &"paid"]])`.
///
/// # Panics
/// When a row has another number of values than there are columns, or a value cannot be one of SQL's.
pub fn rows(columns: &[&str], rows: &[&[&dyn ToSql]]) -> Answer {
    let read = |row: &&[&dyn ToSql]| {
        assert_eq!(row.len(), columns.len(), "a row of the script has another width than its columns");
        row.iter().map(|value| value.to_sql().unwrap_or_else(|reason| panic!("{reason}"))).collect()
    };
    let rows: Vec<Vec<Value>> = rows.iter().map(read).collect();
    let column = |name: &&str| Column { name: (*name).to_owned(), type_name: String::new() };
    Answer::Rows(RowSet { columns: columns.iter().map(column).collect(), rows })
}

/// PostgreSQL refuses the statement with this SQLSTATE, e.g. `23505`.
pub fn refused(sqlstate: &str) -> Answer {
    refused_with(DbError {
        sqlstate: sqlstate.to_owned(),
        message: format!("scripted refusal {sqlstate}"),
        detail: None,
        hint: None,
        table: None,
        column: None,
        constraint: None,
    })
}

/// PostgreSQL refuses the statement and says all this.
pub fn refused_with(error: DbError) -> Answer {
    Answer::Refused(Box::new(error))
}

/// The connection goes away.
pub fn connection_lost() -> Answer {
    Answer::ConnectionLost
}
