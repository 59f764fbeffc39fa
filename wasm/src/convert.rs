//! Between the contract's generated types and the core's. Knows nothing of meaning: a value
//! that cannot be carried over does not exist.

use wonce_core::event::{Event, Micros};
use wonce_core::sql::{Column, RowSet, SqlError, SqlLimit, Value};

use crate::bindings::wonce::handler::{sql as wit, types};
use crate::call::DeliveryFacts;

/// The event and the delivery as the guest gets them.
pub(crate) fn event(event: Event, facts: DeliveryFacts) -> (types::Event, types::Delivery) {
    let delivery = types::Delivery {
        ordering_key: facts.ordering_key.map(String::from),
        attempt: facts.attempt.0,
        max_attempts: facts.max_attempts,
        round: facts.round.0,
        received: facts.received.0,
        traceparent: event.traceparent,
        facts: Vec::new(),
        key: facts.key.into(),
    };
    let event = types::Event {
        id: event.id.unwrap_or_else(|| delivery.key.clone()),
        source: event.source,
        type_: event.event_type,
        subject: event.subject,
        time: event.time.map(|time| time.0),
        datacontenttype: event.content_type,
        dataschema: event.data_schema,
        extensions: event.extensions,
        data: event.data,
    };
    (event, delivery)
}

/// A parameter.
pub(crate) fn value_in(value: wit::Value) -> Value {
    match value {
        wit::Value::Null => Value::Null,
        wit::Value::Boolean(v) => Value::Boolean(v),
        wit::Value::Int2(v) => Value::Int2(v),
        wit::Value::Int4(v) => Value::Int4(v),
        wit::Value::Int8(v) => Value::Int8(v),
        wit::Value::Float4(v) => Value::Float4(v),
        wit::Value::Float8(v) => Value::Float8(v),
        wit::Value::Numeric(v) => Value::Numeric(v),
        wit::Value::Text(v) => Value::Text(v),
        wit::Value::Bytea(v) => Value::Bytea(v),
        wit::Value::Uuid(v) => Value::Uuid(v),
        wit::Value::Date(v) => Value::Date(v),
        wit::Value::Time(v) => Value::Time(v),
        wit::Value::Timestamp(v) => Value::Timestamp(Micros(v)),
        wit::Value::Timestamptz(v) => Value::Timestamptz(Micros(v)),
        wit::Value::Interval(v) => Value::Interval { months: v.months, days: v.days, micros: v.micros },
        wit::Value::Json(v) => Value::Json(v),
        wit::Value::Jsonb(v) => Value::Jsonb(v),
        wit::Value::BooleanArray(v) => Value::BooleanArray(v),
        wit::Value::Int4Array(v) => Value::Int4Array(v),
        wit::Value::Int8Array(v) => Value::Int8Array(v),
        wit::Value::Float8Array(v) => Value::Float8Array(v),
        wit::Value::TextArray(v) => Value::TextArray(v),
        wit::Value::UuidArray(v) => Value::UuidArray(v),
        wit::Value::Other(v) => Value::Other { type_name: v.type_name, text: v.text },
    }
}

/// A column's value.
fn value_out(value: Value) -> wit::Value {
    match value {
        Value::Null => wit::Value::Null,
        Value::Boolean(v) => wit::Value::Boolean(v),
        Value::Int2(v) => wit::Value::Int2(v),
        Value::Int4(v) => wit::Value::Int4(v),
        Value::Int8(v) => wit::Value::Int8(v),
        Value::Float4(v) => wit::Value::Float4(v),
        Value::Float8(v) => wit::Value::Float8(v),
        Value::Numeric(v) => wit::Value::Numeric(v),
        Value::Text(v) => wit::Value::Text(v),
        Value::Bytea(v) => wit::Value::Bytea(v),
        Value::Uuid(v) => wit::Value::Uuid(v),
        Value::Date(v) => wit::Value::Date(v),
        Value::Time(v) => wit::Value::Time(v),
        Value::Timestamp(v) => wit::Value::Timestamp(v.0),
        Value::Timestamptz(v) => wit::Value::Timestamptz(v.0),
        Value::Interval { months, days, micros } => {
            wit::Value::Interval(wit::Interval { months, days, micros })
        }
        Value::Json(v) => wit::Value::Json(v),
        Value::Jsonb(v) => wit::Value::Jsonb(v),
        Value::BooleanArray(v) => wit::Value::BooleanArray(v),
        Value::Int4Array(v) => wit::Value::Int4Array(v),
        Value::Int8Array(v) => wit::Value::Int8Array(v),
        Value::Float8Array(v) => wit::Value::Float8Array(v),
        Value::TextArray(v) => wit::Value::TextArray(v),
        Value::UuidArray(v) => wit::Value::UuidArray(v),
        Value::Other { type_name, text } => wit::Value::Other(wit::OtherValue { type_name, text }),
    }
}

/// A result.
pub(crate) fn row_set(set: RowSet) -> wit::RowSet {
    let column = |Column { name, type_name }| wit::Column { name, type_name };
    wit::RowSet {
        columns: set.columns.into_iter().map(column).collect(),
        rows: set.rows.into_iter().map(|row| row.into_iter().map(value_out).collect()).collect(),
    }
}

/// A statement's error.
pub(crate) fn sql_error(error: SqlError) -> wit::Error {
    match error {
        SqlError::Database(error) => wit::Error::Database(wit::DbError {
            sqlstate: error.sqlstate,
            message: error.message,
            detail: error.detail,
            hint: error.hint,
            table: error.table,
            column: error.column,
            constraint: error.constraint,
        }),
        SqlError::Aborted => wit::Error::Aborted,
        SqlError::Parameter(index, why) => wit::Error::Parameter((index, why)),
        SqlError::Denied(why) => wit::Error::Denied(why),
        SqlError::LimitExceeded(limit) => wit::Error::LimitExceeded(match limit {
            SqlLimit::Statements => wit::Limit::Statements,
            SqlLimit::Rows => wit::Limit::Rows,
            SqlLimit::ResultBytes => wit::Limit::ResultBytes,
            SqlLimit::StatementBytes => wit::Limit::StatementBytes,
            SqlLimit::Time => wit::Limit::Time,
        }),
        SqlError::ConnectionLost(why) => wit::Error::ConnectionLost(why),
    }
}
