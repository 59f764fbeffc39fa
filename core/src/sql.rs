//! The values and errors of a guest's SQL, as the contract in `wit/` has them. Plain data:
//! knows nothing of wasmtime (which lifts them) nor of a driver (which sends them).

use crate::event::Micros;

/// A parameter or a column's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Boolean(bool),
    Int2(i16),
    Int4(i32),
    Int8(i64),
    Float4(f32),
    Float8(f64),
    /// Decimal text; also `NaN`, `Infinity`, `-Infinity`.
    Numeric(String),
    Text(String),
    Bytea(Vec<u8>),
    /// Hyphenated lower case.
    Uuid(String),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    Timestamp(Micros),
    Timestamptz(Micros),
    Interval {
        months: i32,
        days: i32,
        micros: i64,
    },
    Json(String),
    Jsonb(String),
    BooleanArray(Vec<Option<bool>>),
    Int4Array(Vec<Option<i32>>),
    Int8Array(Vec<Option<i64>>),
    Float8Array(Vec<Option<f64>>),
    TextArray(Vec<Option<String>>),
    UuidArray(Vec<Option<String>>),
    /// A type without a case of its own, in Postgres' text form.
    Other {
        type_name: String,
        text: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub type_name: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RowSet {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Value>>,
}

/// What Postgres said of a refused statement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DbError {
    /// Five characters, e.g. `23505`.
    pub sqlstate: String,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
    pub table: Option<String>,
    pub column: Option<String>,
    pub constraint: Option<String>,
}

/// Which limit of an invocation a statement ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlLimit {
    Statements,
    Rows,
    ResultBytes,
    StatementBytes,
    Time,
}

/// How far one result may go; reading stops there, the rest is never held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultLimits {
    pub rows: u64,
    pub bytes: u64,
}

/// Why a guest's statement gave no result.
#[derive(Debug, Clone, PartialEq)]
pub enum SqlError {
    Database(DbError),
    Aborted,
    /// Index from 0, and what was wanted.
    Parameter(u32, String),
    Denied(String),
    LimitExceeded(SqlLimit),
    ConnectionLost(String),
}
