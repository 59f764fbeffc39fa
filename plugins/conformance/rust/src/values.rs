//! Values of every case of the contract, both ways.

use wonce::prelude::*;
use wonce::sql::{Interval, OtherValue, Row, ToSql, Value};

use crate::Note;

const COLUMNS: [(&str, usize); 2] = [("typed", 19), ("arrays", 7)];
const UUID: &str = "0190a6c2-8d5e-8abc-9def-00112233445f";
/// 2026-02-28.
const DAY: i32 = 20_512;
/// 12:34:56.789012 of it.
const INSTANT: i64 = DAY as i64 * 86_400_000_000 + 45_296_789_012;

pub(crate) fn write() -> wonce::Result {
    insert(
        "typed",
        "in",
        vec![
            Value::Boolean(true),
            Value::Int2(i16::MIN),
            Value::Int4(i32::MAX),
            Value::Int8(i64::MAX),
            Value::Float4(1.5),
            Value::Float8(-0.1),
            Value::Numeric("12345678901234567890.0123456789".to_owned()),
            Value::Text("olá, 世界 🌍\n".to_owned()),
            Value::Bytea(vec![0x00, 0xff, 0x10]),
            Value::Uuid(UUID.to_owned()),
            Value::Date(DAY),
            Value::Time(86_399_999_999),
            Value::Timestamp(INSTANT),
            Value::Timestamptz(INSTANT),
            Value::Interval(Interval { months: 14, days: -3, micros: 3_723_000_004 }),
            Value::Json(r#"{"b": 1,  "a": [null]}"#.to_owned()),
            Value::Jsonb(r#"{"a": [1, "x"]}"#.to_owned()),
            Value::Other(OtherValue { type_name: "conformance.colour".to_owned(), text: "green".to_owned() }),
        ],
    )?;
    Ok(Done)
}

pub(crate) fn arrays(note: &Note<'_>) -> wonce::Result {
    insert(
        "arrays",
        "in",
        vec![
            Value::BooleanArray(vec![Some(true), None, Some(false)]),
            Value::Int4Array(vec![Some(i32::MIN), None]),
            Value::Int8Array(vec![Some(i64::MAX), None, Some(0)]),
            Value::Float8Array(vec![Some(0.5), None]),
            Value::TextArray(vec![Some(r#"a "quoted" word"#.to_owned()), None, Some(String::new())]),
            Value::UuidArray(vec![Some(UUID.to_owned()), None]),
        ],
    )?;
    copy(note, "arrays", &[("expected", "out"), ("empty", "empty-out")])
}

/// Reads rows, notes the cases of their values, and writes the very values again.
pub(crate) fn copy(note: &Note<'_>, table: &str, rows: &[(&str, &str)]) -> wonce::Result {
    for (from, to) in rows {
        let row: Row = sql::query_one(&format!("select * from conformance.{table} where id = $1"), &[from])?;
        let values = row.values()[1..].to_vec();
        note.write(from, values.iter().map(case).collect::<Vec<_>>().join(" "))?;
        insert(table, to, values)?;
    }
    Ok(Done)
}

fn insert(table: &str, id: &str, values: Vec<Value>) -> wonce::Result<()> {
    let width = COLUMNS.iter().find(|(name, _)| *name == table).map_or(0, |(_, width)| *width);
    let places = (1..=width).map(|number| format!("${number}")).collect::<Vec<_>>().join(", ");
    let id = Value::Text(id.to_owned());
    let params: Vec<&dyn ToSql> =
        std::iter::once(&id).chain(&values).map(|value| value as &dyn ToSql).collect();
    sql::execute(&format!("insert into conformance.{table} values ({places})"), &params)?;
    Ok(())
}

/// The contract's name of a value's case.
fn case(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Boolean(_) => "boolean",
        Value::Int2(_) => "int2",
        Value::Int4(_) => "int4",
        Value::Int8(_) => "int8",
        Value::Float4(_) => "float4",
        Value::Float8(_) => "float8",
        Value::Numeric(_) => "numeric",
        Value::Text(_) => "text",
        Value::Bytea(_) => "bytea",
        Value::Uuid(_) => "uuid",
        Value::Date(_) => "date",
        Value::Time(_) => "time",
        Value::Timestamp(_) => "timestamp",
        Value::Timestamptz(_) => "timestamptz",
        Value::Interval(_) => "interval",
        Value::Json(_) => "json",
        Value::Jsonb(_) => "jsonb",
        Value::BooleanArray(_) => "boolean-array",
        Value::Int4Array(_) => "int4-array",
        Value::Int8Array(_) => "int8-array",
        Value::Float8Array(_) => "float8-array",
        Value::TextArray(_) => "text-array",
        Value::UuidArray(_) => "uuid-array",
        Value::Other(_) => "other",
    }
}
