//! What can go wrong with a statement, and what `?` makes of it.
//!
//! The rule: whatever the database or its connection says may be otherwise tomorrow (a missing table is migrated, a
//! lock is released, a duplicate is seen by the next try), so it is a retry, and the host's count of attempts ends
//! it. What only a new version of the handler can mend is permanent.

use crate::bindings::wonce::handler::sql as contract;
use crate::sql::{DbError, Limit, WrongType};
use crate::{Failure, permanent, retry};

/// Why a statement gave no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// PostgreSQL refused the statement and the transaction is aborted: the host will not commit it.
    #[error("{}", refusal(.0))]
    Database(DbError),
    /// An earlier statement failed and the transaction can only be rolled back.
    #[error("the statement was not run: an earlier one failed and aborted the transaction")]
    Aborted,
    /// A parameter cannot be turned into what the statement wants.
    #[error("the parameter ${number} cannot be sent: {reason}")]
    Parameter {
        /// As written in the statement, from 1.
        number: u32,
        /// What is wrong with it.
        reason: String,
    },
    /// The statement is not allowed in a handler. Nothing was sent.
    #[error("the statement is not allowed in a handler: {0}")]
    Denied(String),
    /// One of the host's limits for one call.
    #[error("the call has used up its {}", limit_name(*.0))]
    LimitExceeded(Limit),
    /// The connection went away; so did the transaction.
    #[error("the connection to the database was lost: {0}")]
    ConnectionLost(String),
    /// The statement returned another number of rows.
    #[error("the statement returned {found} rows where {wanted} was expected")]
    RowCount {
        /// What was expected.
        wanted: &'static str,
        /// How many came.
        found: usize,
    },
    /// The row has no such column.
    #[error("the row has no column \"{column}\"; it has {}", list(.known))]
    NoColumn {
        /// The name, or the position from 0, that was asked for.
        column: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A tuple of another length than the row.
    #[error("a tuple of {wanted} cannot read a row of {found} columns")]
    ColumnCount {
        /// The tuple's length.
        wanted: usize,
        /// The row's length.
        found: usize,
    },
    /// The column holds something else.
    #[error("reading the column \"{column}\": {reason}")]
    Column {
        /// The column's name.
        column: String,
        /// What it holds and what was asked for.
        reason: WrongType,
    },
}

impl Error {
    /// The five characters of PostgreSQL's answer, e.g. `23505`.
    pub fn sqlstate(&self) -> Option<&str> {
        self.database().map(|error| error.sqlstate.as_str())
    }

    /// The constraint that was violated, if that is what happened.
    pub fn constraint(&self) -> Option<&str> {
        self.database().and_then(|error| error.constraint.as_deref())
    }

    fn database(&self) -> Option<&DbError> {
        if let Self::Database(error) = self { Some(error) } else { None }
    }
}

impl From<contract::Error> for Error {
    fn from(error: contract::Error) -> Self {
        match error {
            contract::Error::Database(error) => Self::Database(error),
            contract::Error::Aborted => Self::Aborted,
            contract::Error::Parameter((index, reason)) => {
                Self::Parameter { number: index.saturating_add(1), reason }
            }
            contract::Error::Denied(reason) => Self::Denied(reason),
            contract::Error::LimitExceeded(limit) => Self::LimitExceeded(limit),
            contract::Error::ConnectionLost(reason) => Self::ConnectionLost(reason),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Database(answer) => retry(sqlstate_code(&answer.sqlstate), text),
            Error::Aborted => retry("transaction-aborted", text),
            Error::LimitExceeded(_) => retry("sql-limit", text),
            Error::ConnectionLost(_) => retry("connection-lost", text),
            Error::RowCount { found: 0, .. } => retry("row-missing", text),
            Error::RowCount { .. } => permanent("too-many-rows", text),
            Error::Parameter { .. } => permanent("sql-parameter", text),
            Error::Denied(_) => permanent("sql-denied", text),
            Error::NoColumn { .. } | Error::ColumnCount { .. } | Error::Column { .. } => {
                permanent("row-shape", text)
            }
        }
    }
}

/// A fault's code is kebab-case, and a SQLSTATE may hold capitals.
fn sqlstate_code(sqlstate: &str) -> String {
    format!("sqlstate-{}", sqlstate.to_ascii_lowercase())
}

fn refusal(error: &DbError) -> String {
    let mut text = format!("PostgreSQL refused the statement: {} ({})", error.message, error.sqlstate);
    for (label, part) in [("detail", &error.detail), ("hint", &error.hint), ("constraint", &error.constraint)] {
        if let Some(part) = part {
            text.push_str(&format!("; {label}: {part}"));
        }
    }
    text
}

fn limit_name(limit: Limit) -> &'static str {
    match limit {
        Limit::Statements => "number of statements",
        Limit::Rows => "number of rows",
        Limit::ResultBytes => "bytes of results",
        Limit::StatementBytes => "bytes of statement text",
        Limit::Time => "time",
    }
}

fn list(known: &[String]) -> String {
    if known.is_empty() { "no columns".to_owned() } else { known.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(sqlstate: &str) -> Error {
        Error::Database(DbError {
            sqlstate: sqlstate.into(),
            message: "duplicate key value".into(),
            detail: Some("Key (id)=(1) already exists.".into()),
            hint: None,
            table: Some("orders".into()),
            column: None,
            constraint: Some("orders_pkey".into()),
        })
    }

    #[test]
    fn what_the_database_refuses_is_tried_again_under_its_sqlstate() {
        for (sqlstate, code) in [("23505", "sqlstate-23505"), ("40P01", "sqlstate-40p01")] {
            let failure = Failure::from(refused(sqlstate));
            assert!(matches!(&failure, Failure::Retry(_)), "{failure:?}");
            assert_eq!(failure.fault().code, code);
        }
        assert_eq!(refused("23505").constraint(), Some("orders_pkey"));
    }

    #[test]
    fn the_text_of_a_refusal_has_all_that_postgres_said() {
        assert_eq!(
            refused("23505").to_string(),
            "PostgreSQL refused the statement: duplicate key value (23505); \
             detail: Key (id)=(1) already exists.; constraint: orders_pkey"
        );
    }

    #[test]
    fn what_only_a_new_version_can_mend_is_permanent() {
        for error in [
            Error::from(contract::Error::Parameter((0, "not a number".into()))),
            Error::Denied("COMMIT".into()),
            Error::ColumnCount { wanted: 1, found: 2 },
            Error::RowCount { wanted: "exactly one row", found: 2 },
        ] {
            assert!(matches!(Failure::from(error.clone()), Failure::Permanent(_)), "{error:?}");
        }
    }

    #[test]
    fn what_may_pass_is_a_retry() {
        for error in [
            Error::Aborted,
            Error::LimitExceeded(Limit::Time),
            Error::ConnectionLost("reset".into()),
            Error::RowCount { wanted: "exactly one row", found: 0 },
        ] {
            assert!(matches!(Failure::from(error.clone()), Failure::Retry(_)), "{error:?}");
        }
    }

    #[test]
    fn a_parameter_is_named_as_the_statement_writes_it() {
        let error = Error::from(contract::Error::Parameter((0, "not a number".into())));
        assert_eq!(error.to_string(), "the parameter $1 cannot be sent: not a number");
    }
}
