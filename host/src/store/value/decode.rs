//! Column → contract value, and which column types have one.

use tokio_postgres::types::{FromSql, Kind, Type};
use uuid::Uuid;
use wonce_core::event::Micros;
use wonce_core::sql::Value;

use super::{POSTGRES_EPOCH_DAYS, POSTGRES_EPOCH_MICROS, numeric, type_name};

type Wire = Box<dyn std::error::Error + Sync + Send>;

/// A lifted column, with its share of the result's size.
#[derive(Debug)]
pub(in crate::store) struct Lifted {
    pub(in crate::store) value: Value,
    pub(in crate::store) bytes: usize,
}

impl<'a> FromSql<'a> for Lifted {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Wire> {
        Ok(Self { value: decode(ty, raw)?, bytes: raw.len() })
    }

    fn from_sql_null(_ty: &Type) -> Result<Self, Wire> {
        Ok(Self { value: Value::Null, bytes: 0 })
    }

    fn accepts(_ty: &Type) -> bool {
        true
    }
}

/// Whether a column of this type can be handed to a guest. Asked at prepare, before anything runs.
pub(in crate::store) fn is_supported(ty: &Type) -> bool {
    const SUPPORTED: &[Type] = &[
        Type::BOOL,
        Type::INT2,
        Type::INT4,
        Type::INT8,
        Type::OID,
        Type::FLOAT4,
        Type::FLOAT8,
        Type::NUMERIC,
        Type::TEXT,
        Type::VARCHAR,
        Type::BPCHAR,
        Type::NAME,
        Type::UNKNOWN,
        Type::BYTEA,
        Type::UUID,
        Type::DATE,
        Type::TIME,
        Type::TIMESTAMP,
        Type::TIMESTAMPTZ,
        Type::INTERVAL,
        Type::JSON,
        Type::JSONB,
        Type::VOID,
        Type::BOOL_ARRAY,
        Type::INT4_ARRAY,
        Type::INT8_ARRAY,
        Type::FLOAT8_ARRAY,
        Type::TEXT_ARRAY,
        Type::VARCHAR_ARRAY,
        Type::UUID_ARRAY,
    ];
    match ty.kind() {
        Kind::Enum(_) => true,
        Kind::Domain(inner) => is_supported(inner),
        _ => SUPPORTED.contains(ty),
    }
}

fn decode(ty: &Type, raw: &[u8]) -> Result<Value, Wire> {
    match ty.kind() {
        Kind::Enum(_) => {
            return Ok(Value::Other { type_name: type_name(ty), text: String::from_sql(&Type::TEXT, raw)? });
        }
        Kind::Domain(inner) => return decode(inner, raw),
        _ => {}
    }
    Ok(match *ty {
        Type::BOOL => Value::Boolean(bool::from_sql(ty, raw)?),
        Type::INT2 => Value::Int2(i16::from_sql(ty, raw)?),
        Type::INT4 => Value::Int4(i32::from_sql(ty, raw)?),
        Type::INT8 => Value::Int8(i64::from_sql(ty, raw)?),
        Type::OID => Value::Int8(i64::from(u32::from_sql(ty, raw)?)),
        Type::FLOAT4 => Value::Float4(f32::from_sql(ty, raw)?),
        Type::FLOAT8 => Value::Float8(f64::from_sql(ty, raw)?),
        Type::NUMERIC => Value::Numeric(numeric::to_text(raw)?),
        Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => {
            Value::Text(String::from_sql(&Type::TEXT, raw)?)
        }
        Type::BYTEA => Value::Bytea(raw.to_vec()),
        Type::UUID => Value::Uuid(Uuid::from_sql(ty, raw)?.hyphenated().to_string()),
        Type::DATE => Value::Date(date(raw)?),
        Type::TIME => Value::Time(int8(raw)?),
        Type::TIMESTAMP => Value::Timestamp(timestamp(raw)?),
        Type::TIMESTAMPTZ => Value::Timestamptz(timestamp(raw)?),
        Type::INTERVAL => interval(raw)?,
        Type::JSON => Value::Json(String::from_utf8(raw.to_vec())?),
        // The first byte is the wire version.
        Type::JSONB => Value::Jsonb(String::from_utf8(raw.get(1..).unwrap_or_default().to_vec())?),
        Type::VOID => Value::Null,
        Type::BOOL_ARRAY => Value::BooleanArray(Vec::from_sql(ty, raw)?),
        Type::INT4_ARRAY => Value::Int4Array(Vec::from_sql(ty, raw)?),
        Type::INT8_ARRAY => Value::Int8Array(Vec::from_sql(ty, raw)?),
        Type::FLOAT8_ARRAY => Value::Float8Array(Vec::from_sql(ty, raw)?),
        Type::TEXT_ARRAY | Type::VARCHAR_ARRAY => Value::TextArray(Vec::from_sql(ty, raw)?),
        Type::UUID_ARRAY => {
            let uuids: Vec<Option<Uuid>> = Vec::from_sql(ty, raw)?;
            Value::UuidArray(uuids.into_iter().map(|u| u.map(|u| u.hyphenated().to_string())).collect())
        }
        _ => return Err(format!("type {} has no value in the contract", type_name(ty)).into()),
    })
}

fn int8(raw: &[u8]) -> Result<i64, Wire> {
    Ok(i64::from_be_bytes(raw.try_into()?))
}

/// Postgres' infinite dates are the two ends of the range and stay there.
fn date(raw: &[u8]) -> Result<i32, Wire> {
    let days = i32::from_be_bytes(raw.try_into()?);
    Ok(match days {
        i32::MIN | i32::MAX => days,
        days => days.saturating_add(POSTGRES_EPOCH_DAYS),
    })
}

fn timestamp(raw: &[u8]) -> Result<Micros, Wire> {
    let micros = int8(raw)?;
    Ok(Micros(match micros {
        i64::MIN | i64::MAX => micros,
        micros => micros.saturating_add(POSTGRES_EPOCH_MICROS),
    }))
}

fn interval(raw: &[u8]) -> Result<Value, Wire> {
    let (micros, rest) = raw.split_at_checked(8).ok_or("an interval has 16 bytes")?;
    let (days, months) = rest.split_at_checked(4).ok_or("an interval has 16 bytes")?;
    Ok(Value::Interval {
        micros: int8(micros)?,
        days: i32::from_be_bytes(days.try_into()?),
        months: i32::from_be_bytes(months.try_into()?),
    })
}
