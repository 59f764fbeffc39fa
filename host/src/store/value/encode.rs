//! Contract value → parameter. Refuses what would change a value silently.

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use uuid::Uuid;
use wonce_core::event::Micros;
use wonce_core::sql::Value;

use super::{POSTGRES_EPOCH_DAYS, POSTGRES_EPOCH_MICROS, type_name};

/// A parameter that is ready to be sent.
#[derive(Debug)]
pub(in crate::store) enum Encoded {
    Null,
    Binary(Vec<u8>),
    /// For the type's own input function.
    Text(String),
}

impl Encoded {
    /// Bytes on the wire.
    pub(in crate::store) fn len(&self) -> usize {
        match self {
            Encoded::Null => 0,
            Encoded::Binary(bytes) => bytes.len(),
            Encoded::Text(text) => text.len(),
        }
    }
}

impl ToSql for Encoded {
    fn to_sql(
        &self,
        _ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Encoded::Null => return Ok(IsNull::Yes),
            Encoded::Binary(bytes) => out.put_slice(bytes),
            Encoded::Text(text) => out.put_slice(text.as_bytes()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_ty: &Type) -> bool {
        true
    }

    fn encode_format(&self, _ty: &Type) -> Format {
        match self {
            Encoded::Null | Encoded::Binary(_) => Format::Binary,
            Encoded::Text(_) => Format::Text,
        }
    }

    to_sql_checked!();
}

/// Fits `value` to `ty`, or says what was wanted.
pub(in crate::store) fn encode(value: Value, ty: &Type) -> Result<Encoded, String> {
    let mismatch = |got: &str| Err(format!("wants {}, got {got}", type_name(ty)));
    match value {
        Value::Null => Ok(Encoded::Null),
        Value::Boolean(v) if *ty == Type::BOOL => Ok(Encoded::Binary(vec![u8::from(v)])),
        Value::Boolean(_) => mismatch("boolean"),
        Value::Int2(v) => integer(i64::from(v), ty, "int2"),
        Value::Int4(v) => integer(i64::from(v), ty, "int4"),
        Value::Int8(v) => integer(v, ty, "int8"),
        Value::Float4(v) if *ty == Type::FLOAT4 => Ok(Encoded::Binary(v.to_be_bytes().to_vec())),
        Value::Float4(v) => float(f64::from(v), ty, "float4"),
        Value::Float8(v) => float(v, ty, "float8"),
        Value::Numeric(text) if is_number(ty) => without_nul(text),
        Value::Numeric(_) => mismatch("numeric"),
        // Text fits every type that has an input function.
        Value::Text(text) => without_nul(text),
        Value::Bytea(bytes) if *ty == Type::BYTEA => Ok(Encoded::Binary(bytes)),
        Value::Bytea(_) => mismatch("bytea"),
        Value::Uuid(text) if *ty == Type::UUID || is_text(ty) => without_nul(text),
        Value::Uuid(_) => mismatch("uuid"),
        Value::Date(days) if *ty == Type::DATE => {
            let days = days.checked_sub(POSTGRES_EPOCH_DAYS).ok_or("the date is out of Postgres' range")?;
            Ok(Encoded::Binary(days.to_be_bytes().to_vec()))
        }
        Value::Date(_) => mismatch("date"),
        Value::Time(micros) if *ty == Type::TIME => Ok(Encoded::Binary(micros.to_be_bytes().to_vec())),
        Value::Time(_) => mismatch("time"),
        Value::Timestamp(at) if *ty == Type::TIMESTAMP => timestamp(at),
        Value::Timestamp(_) => mismatch("timestamp"),
        Value::Timestamptz(at) if *ty == Type::TIMESTAMPTZ => timestamp(at),
        Value::Timestamptz(_) => mismatch("timestamptz"),
        Value::Interval { months, days, micros } if *ty == Type::INTERVAL => {
            let mut bytes = micros.to_be_bytes().to_vec();
            bytes.extend(days.to_be_bytes());
            bytes.extend(months.to_be_bytes());
            Ok(Encoded::Binary(bytes))
        }
        Value::Interval { .. } => mismatch("interval"),
        Value::Json(text) | Value::Jsonb(text) if is_json(ty) || is_text(ty) => without_nul(text),
        Value::Json(_) | Value::Jsonb(_) => mismatch("json"),
        Value::BooleanArray(v) if *ty == Type::BOOL_ARRAY => array(&v, ty),
        Value::Int4Array(v) if *ty == Type::INT4_ARRAY => array(&v, ty),
        Value::Int4Array(v) if *ty == Type::INT8_ARRAY => {
            array(&v.into_iter().map(|n| n.map(i64::from)).collect::<Vec<_>>(), ty)
        }
        Value::Int8Array(v) if *ty == Type::INT8_ARRAY => array(&v, ty),
        Value::Float8Array(v) if *ty == Type::FLOAT8_ARRAY => array(&v, ty),
        Value::TextArray(v) if *ty == Type::TEXT_ARRAY || *ty == Type::VARCHAR_ARRAY => array(&v, ty),
        Value::UuidArray(v) if *ty == Type::UUID_ARRAY => {
            let parse = |text: Option<String>| text.map(|t| Uuid::parse_str(&t)).transpose();
            let parsed = v.into_iter().map(parse).collect::<Result<Vec<_>, _>>();
            array(&parsed.map_err(|e| format!("an element is no uuid: {e}"))?, ty)
        }
        Value::BooleanArray(_) => mismatch("boolean[]"),
        Value::Int4Array(_) => mismatch("int4[]"),
        Value::Int8Array(_) => mismatch("int8[]"),
        Value::Float8Array(_) => mismatch("float8[]"),
        Value::TextArray(_) => mismatch("text[]"),
        Value::UuidArray(_) => mismatch("uuid[]"),
        Value::Other { text, .. } => without_nul(text),
    }
}

/// An integer fits every number type that can hold it exactly.
fn integer(v: i64, ty: &Type, got: &str) -> Result<Encoded, String> {
    let too_large = |_| format!("wants {}, and {v} does not fit", type_name(ty));
    match *ty {
        Type::INT2 => Ok(Encoded::Binary(i16::try_from(v).map_err(too_large)?.to_be_bytes().to_vec())),
        Type::INT4 => Ok(Encoded::Binary(i32::try_from(v).map_err(too_large)?.to_be_bytes().to_vec())),
        Type::INT8 => Ok(Encoded::Binary(v.to_be_bytes().to_vec())),
        Type::NUMERIC | Type::FLOAT4 | Type::FLOAT8 => Ok(Encoded::Text(v.to_string())),
        _ => Err(format!("wants {}, got {got}", type_name(ty))),
    }
}

fn float(v: f64, ty: &Type, got: &str) -> Result<Encoded, String> {
    match *ty {
        Type::FLOAT8 => Ok(Encoded::Binary(v.to_be_bytes().to_vec())),
        Type::NUMERIC if v.is_finite() => Ok(Encoded::Text(v.to_string())),
        _ => Err(format!("wants {}, got {got}", type_name(ty))),
    }
}

/// The two ends of the range are Postgres' infinities, whose wire form is the same two ends.
fn timestamp(at: Micros) -> Result<Encoded, String> {
    let wire = match at.0 {
        i64::MIN | i64::MAX => at.0,
        micros => micros.checked_sub(POSTGRES_EPOCH_MICROS).ok_or("the time is out of Postgres' range")?,
    };
    Ok(Encoded::Binary(wire.to_be_bytes().to_vec()))
}

fn array<T: ToSql>(elements: &T, ty: &Type) -> Result<Encoded, String> {
    let mut out = BytesMut::new();
    elements.to_sql(ty, &mut out).map_err(|e| e.to_string())?;
    Ok(Encoded::Binary(out.to_vec()))
}

fn without_nul(text: String) -> Result<Encoded, String> {
    if text.contains('\0') {
        return Err("holds a NUL character, which Postgres cannot store in text".to_owned());
    }
    Ok(Encoded::Text(text))
}

fn is_text(ty: &Type) -> bool {
    matches!(*ty, Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN)
}

fn is_json(ty: &Type) -> bool {
    matches!(*ty, Type::JSON | Type::JSONB)
}

fn is_number(ty: &Type) -> bool {
    matches!(*ty, Type::NUMERIC | Type::FLOAT4 | Type::FLOAT8 | Type::INT2 | Type::INT4 | Type::INT8)
}
