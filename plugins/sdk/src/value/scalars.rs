//! The types that stand for one value.

use std::fmt::Display;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{FromValue, ToSql, WrongType};
use crate::sql::{Interval, Value};
use crate::time::{Date, Timestamp};
use crate::uuid::Uuid;

/// A `jsonb` parameter, or a `json` or `jsonb` column, as any serde type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// A `numeric` in decimal text, because no float holds it exactly. Also `NaN`, `Infinity`, `-Infinity`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numeric(pub String);

/// `to`: the Rust type and the value made of it. `from`: the values it reads.
macro_rules! scalars {
    ($($type:ty: $this:ident => $to:expr; $($pattern:pat => $from:expr),+;)+) => {$(
        impl ToSql for $type {
            fn to_sql(&self) -> Result<Value, String> {
                let $this = self;
                Ok($to)
            }
        }

        impl FromValue for $type {
            fn from_value(value: &Value) -> Result<Self, WrongType> {
                match value {
                    $($pattern => Ok($from),)+
                    other => Err(WrongType::new(stringify!($type), other)),
                }
            }
        }
    )+};
}

scalars! {
    bool: it => Value::Boolean(*it); Value::Boolean(it) => *it;
    i16: it => Value::Int2(*it); Value::Int2(it) => *it;
    i32: it => Value::Int4(*it); Value::Int4(it) => *it, Value::Int2(it) => i32::from(*it);
    i64: it => Value::Int8(*it);
        Value::Int8(it) => *it, Value::Int4(it) => i64::from(*it), Value::Int2(it) => i64::from(*it);
    f32: it => Value::Float4(*it); Value::Float4(it) => *it;
    f64: it => Value::Float8(*it); Value::Float8(it) => *it, Value::Float4(it) => f64::from(*it);
    String: it => Value::Text(it.clone());
        Value::Text(it) => it.clone(),
        // An enum, citext, inet and their like: PostgreSQL's text form is what a reader of text wants.
        Value::Other(it) => it.text.clone();
    Vec<u8>: it => Value::Bytea(it.clone()); Value::Bytea(it) => it.clone();
    Numeric: it => Value::Numeric(it.0.clone());
        Value::Numeric(it) => Self(it.clone()),
        Value::Int8(it) => written(it), Value::Int4(it) => written(it), Value::Int2(it) => written(it);
    Date: it => Value::Date(it.as_days()); Value::Date(it) => Self::from_days(*it);
    Timestamp: it => Value::Timestamptz(it.as_micros());
        Value::Timestamptz(it) | Value::Timestamp(it) => Self::from_micros(*it);
    Interval: it => Value::Interval(*it); Value::Interval(it) => *it;
    serde_json::Value: it => Value::Jsonb(it.to_string());
        Value::Jsonb(text) | Value::Json(text) => parsed("serde_json::Value", text)?;
}

fn written(number: impl Display) -> Numeric {
    Numeric(number.to_string())
}

fn parsed<T: DeserializeOwned>(wanted: &'static str, text: &str) -> Result<T, WrongType> {
    serde_json::from_str(text)
        .map_err(|error| WrongType { wanted, found: format!("JSON of another shape ({error})") })
}

impl ToSql for str {
    fn to_sql(&self) -> Result<Value, String> {
        Ok(Value::Text(self.to_owned()))
    }
}

impl ToSql for [u8] {
    fn to_sql(&self) -> Result<Value, String> {
        Ok(Value::Bytea(self.to_vec()))
    }
}

impl ToSql for u8 {
    fn to_sql(&self) -> Result<Value, String> {
        Ok(Value::Int2(i16::from(*self)))
    }
}

impl ToSql for u16 {
    fn to_sql(&self) -> Result<Value, String> {
        Ok(Value::Int4(i32::from(*self)))
    }
}

impl ToSql for u32 {
    fn to_sql(&self) -> Result<Value, String> {
        Ok(Value::Int8(i64::from(*self)))
    }
}

impl ToSql for Uuid {
    fn to_sql(&self) -> Result<Value, String> {
        Ok(Value::Uuid(self.to_string()))
    }
}

impl FromValue for Uuid {
    fn from_value(value: &Value) -> Result<Self, WrongType> {
        let Value::Uuid(text) = value else { return Err(WrongType::new("Uuid", value)) };
        text.parse().map_err(|_| WrongType { wanted: "Uuid", found: "a uuid that is not one".to_owned() })
    }
}

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> Result<Value, String> {
        serde_json::to_string(&self.0).map(Value::Jsonb).map_err(|error| error.to_string())
    }
}

impl<T: DeserializeOwned> FromValue for Json<T> {
    fn from_value(value: &Value) -> Result<Self, WrongType> {
        match value {
            Value::Jsonb(text) | Value::Json(text) => parsed("Json", text).map(Self),
            other => Err(WrongType::new("Json", other)),
        }
    }
}
