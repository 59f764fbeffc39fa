//! Rust values to SQL parameters and columns to Rust values. The contract's [`Value`] says what travels; the two
//! traits say which Rust type may stand for it. A wider Rust type reads a narrower column, never the reverse.

use crate::sql::Value;

mod arrays;
mod scalars;

pub use arrays::ArrayElement;
pub use scalars::{Json, Numeric};

/// A type that can be a parameter (`$1`) of a statement.
pub trait ToSql {
    /// The parameter's value.
    ///
    /// # Errors
    /// Why this very value cannot be sent; most types have no such value.
    fn to_sql(&self) -> Result<Value, String>;
}

/// A type that can be read from a column.
pub trait FromValue: Sized {
    /// The Rust value.
    ///
    /// # Errors
    /// [`WrongType`] when the column holds something else, or NULL and the type is not an `Option`.
    fn from_value(value: &Value) -> Result<Self, WrongType>;
}

/// A column holds something other than what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it holds {found}, which {wanted} cannot read")]
pub struct WrongType {
    /// The Rust type that was asked for.
    pub wanted: &'static str,
    /// What is there, without its content.
    pub found: String,
}

impl WrongType {
    /// For a [`FromValue`] of one's own.
    pub fn new(wanted: &'static str, value: &Value) -> Self {
        Self { wanted, found: name_of(value) }
    }
}

/// What a value is, in PostgreSQL's words and without its content: that may be personal data.
fn name_of(value: &Value) -> String {
    let name = match value {
        Value::Null => "NULL (an `Option` would read it)",
        Value::Boolean(_) => "a boolean",
        Value::Int2(_) => "a smallint",
        Value::Int4(_) => "an integer",
        Value::Int8(_) => "a bigint",
        Value::Float4(_) => "a real",
        Value::Float8(_) => "a double precision",
        Value::Numeric(_) => "a numeric",
        Value::Text(_) => "a text",
        Value::Bytea(_) => "a bytea",
        Value::Uuid(_) => "a uuid",
        Value::Date(_) => "a date",
        Value::Time(_) => "a time",
        Value::Timestamp(_) => "a timestamp",
        Value::Timestamptz(_) => "a timestamptz",
        Value::Interval(_) => "an interval",
        Value::Json(_) => "a json",
        Value::Jsonb(_) => "a jsonb",
        Value::BooleanArray(_) => "a boolean[]",
        Value::Int4Array(_) => "an integer[]",
        Value::Int8Array(_) => "a bigint[]",
        Value::Float8Array(_) => "a double precision[]",
        Value::TextArray(_) => "a text[]",
        Value::UuidArray(_) => "a uuid[]",
        Value::Other(other) => return format!("a {}", other.type_name),
    };
    name.to_owned()
}

impl ToSql for Value {
    fn to_sql(&self) -> Result<Value, String> {
        Ok(self.clone())
    }
}

impl FromValue for Value {
    fn from_value(value: &Value) -> Result<Self, WrongType> {
        Ok(value.clone())
    }
}

impl<T: ToSql + ?Sized> ToSql for &T {
    fn to_sql(&self) -> Result<Value, String> {
        (**self).to_sql()
    }
}

impl<T: ToSql> ToSql for Option<T> {
    fn to_sql(&self) -> Result<Value, String> {
        self.as_ref().map_or(Ok(Value::Null), ToSql::to_sql)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: &Value) -> Result<Self, WrongType> {
        if matches!(value, Value::Null) { Ok(None) } else { T::from_value(value).map(Some) }
    }
}

#[cfg(test)]
mod tests;
