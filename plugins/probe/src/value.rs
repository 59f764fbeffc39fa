//! SQL values as a script writes them, both ways: `{"case": content}` with the contract's name of the case, and the
//! plain JSON values as shorthand on the way in.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Value as Json, json};
use wonce::sql::{Interval, OtherValue, Row, Value};

/// A parameter of a scripted statement.
pub(crate) struct Typed(pub(crate) Value);

impl<'de> Deserialize<'de> for Typed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(Json::deserialize(deserializer)?).map(Self).map_err(D::Error::custom)
    }
}

fn read(value: Json) -> serde_json::Result<Value> {
    let wrong = |what: &str| Err(serde_json::Error::custom(format!("a parameter cannot be {what}")));
    match value {
        Json::Null => Ok(Value::Null),
        Json::Bool(it) => Ok(Value::Boolean(it)),
        Json::String(it) => Ok(Value::Text(it)),
        Json::Number(it) => Ok(it.as_i64().map_or_else(|| Value::Float8(it.as_f64().unwrap_or(f64::NAN)), Value::Int8)),
        Json::Array(_) => wrong("a bare array; name its case, as in {\"int8-array\": [1]}"),
        Json::Object(members) if members.len() != 1 => wrong("an object of other than one member"),
        Json::Object(members) => {
            members.into_iter().map(|(case, content)| read_case(&case, content)).next().unwrap_or(Ok(Value::Null))
        }
    }
}

fn read_case(case: &str, content: Json) -> serde_json::Result<Value> {
    Ok(match case {
        "boolean" => Value::Boolean(from(content)?),
        "int2" => Value::Int2(from(content)?),
        "int4" => Value::Int4(from(content)?),
        "int8" => Value::Int8(from(content)?),
        "float4" => Value::Float4(from(content)?),
        "float8" => Value::Float8(from(content)?),
        "numeric" => Value::Numeric(from(content)?),
        "text" => Value::Text(from(content)?),
        "bytea" => Value::Bytea(from(content)?),
        "uuid" => Value::Uuid(from(content)?),
        "date" => Value::Date(from(content)?),
        "time" => Value::Time(from(content)?),
        "timestamp" => Value::Timestamp(from(content)?),
        "timestamptz" => Value::Timestamptz(from(content)?),
        "interval" => {
            let (months, days, micros) = from(content)?;
            Value::Interval(Interval { months, days, micros })
        }
        "json" => Value::Json(from(content)?),
        "jsonb" => Value::Jsonb(from(content)?),
        "boolean-array" => Value::BooleanArray(from(content)?),
        "int4-array" => Value::Int4Array(from(content)?),
        "int8-array" => Value::Int8Array(from(content)?),
        "float8-array" => Value::Float8Array(from(content)?),
        "text-array" => Value::TextArray(from(content)?),
        "uuid-array" => Value::UuidArray(from(content)?),
        "other" => {
            let (type_name, text) = from(content)?;
            Value::Other(OtherValue { type_name, text })
        }
        unknown => return Err(serde_json::Error::custom(format!("the contract has no case \"{unknown}\""))),
    })
}

fn from<T: DeserializeOwned>(content: Json) -> serde_json::Result<T> {
    serde_json::from_value(content)
}

/// An answer, with every value under the name of its case.
pub(crate) fn written_rows(rows: &[Row]) -> Json {
    let columns = rows.first().map_or(&[][..], Row::columns);
    json!({
        "columns": columns.iter().map(|column| json!([column.name, column.type_name])).collect::<Vec<_>>(),
        "rows": rows.iter().map(|row| row.values().iter().map(write).collect::<Json>()).collect::<Json>(),
    })
}

fn write(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Boolean(it) => json!({ "boolean": it }),
        Value::Int2(it) => json!({ "int2": it }),
        Value::Int4(it) => json!({ "int4": it }),
        Value::Int8(it) => json!({ "int8": it }),
        Value::Float4(it) => json!({ "float4": it }),
        Value::Float8(it) => json!({ "float8": it }),
        Value::Numeric(it) => json!({ "numeric": it }),
        Value::Text(it) => json!({ "text": it }),
        Value::Bytea(it) => json!({ "bytea": it }),
        Value::Uuid(it) => json!({ "uuid": it }),
        Value::Date(it) => json!({ "date": it }),
        Value::Time(it) => json!({ "time": it }),
        Value::Timestamp(it) => json!({ "timestamp": it }),
        Value::Timestamptz(it) => json!({ "timestamptz": it }),
        Value::Interval(it) => json!({ "interval": [it.months, it.days, it.micros] }),
        Value::Json(it) => json!({ "json": it }),
        Value::Jsonb(it) => json!({ "jsonb": it }),
        Value::BooleanArray(it) => json!({ "boolean-array": it }),
        Value::Int4Array(it) => json!({ "int4-array": it }),
        Value::Int8Array(it) => json!({ "int8-array": it }),
        Value::Float8Array(it) => json!({ "float8-array": it }),
        Value::TextArray(it) => json!({ "text-array": it }),
        Value::UuidArray(it) => json!({ "uuid-array": it }),
        Value::Other(it) => json!({ "other": [it.type_name, it.text] }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_as_it_is_written() {
        for text in [
            r#"null"#,
            r#"{"int2":-1}"#,
            r#"{"bytea":[0,255]}"#,
            r#"{"interval":[1,2,3]}"#,
            r#"{"text-array":["a",null]}"#,
            r#"{"other":["int4range","[1,2)"]}"#,
        ] {
            let Typed(value) = serde_json::from_str(text).unwrap();
            assert_eq!(write(&value).to_string(), text);
        }
    }

    #[test]
    fn plain_json_is_shorthand() {
        for (text, value) in [
            ("true", Value::Boolean(true)),
            ("5", Value::Int8(5)),
            ("0.5", Value::Float8(0.5)),
            ("\"x\"", Value::Text("x".into())),
        ] {
            assert_eq!(serde_json::from_str::<Typed>(text).unwrap().0, value);
        }
    }
}
