//! One value before its type is known: from the file it has a TOML type, from outside it is
//! text that may become any. Knows no key.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use toml::de::DeValue;

use super::report::Complaint;
use super::units::{parse_duration, parse_size, show_duration, show_size};

/// What a key was given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// From a variable or a flag: text that stands for any type.
    Outside(String),
    /// Something no scalar key takes, by its name in TOML.
    Other(&'static str),
}

impl From<&DeValue<'_>> for Value {
    fn from(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map_or(Value::Other("an integer beyond 64 bits"), Value::Integer),
            DeValue::Float(number) => number.as_str().parse().map_or(Value::Other("a float"), Value::Float),
            DeValue::Boolean(flag) => Value::Boolean(*flag),
            DeValue::Datetime(_) => Value::Other("a date"),
            DeValue::Array(_) => Value::Other("an array"),
            DeValue::Table(_) => Value::Other("a table"),
        }
    }
}

impl Value {
    pub(crate) fn text(&self) -> Result<&str, Complaint> {
        match self {
            Value::Text(text) | Value::Outside(text) => Ok(text),
            Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Other(_) => {
                Err(self.wrong_type("text", "write it in quotes"))
            }
        }
    }

    pub(crate) fn boolean(&self) -> Result<bool, Complaint> {
        match self {
            Value::Boolean(flag) => Ok(*flag),
            Value::Outside(text) if text == "true" => Ok(true),
            Value::Outside(text) if text == "false" => Ok(false),
            Value::Text(_) | Value::Integer(_) | Value::Float(_) | Value::Outside(_) | Value::Other(_) => {
                Err(self.wrong_type("true or false", "write true or false, without quotes"))
            }
        }
    }

    pub(crate) fn integer(&self, range: &RangeInclusive<u64>) -> Result<u64, Complaint> {
        let number = match self {
            Value::Integer(number) => Some(*number),
            Value::Outside(text) => text.parse().ok(),
            Value::Text(_) | Value::Float(_) | Value::Boolean(_) | Value::Other(_) => None,
        };
        let number = number
            .ok_or_else(|| self.wrong_type("a whole number", "write digits, without quotes or a unit"))?;
        match u64::try_from(number) {
            Ok(natural) => within(natural, range, ToString::to_string),
            Err(_) => Err(out_of_range(number, &range.start().to_string(), &range.end().to_string())),
        }
    }

    pub(crate) fn float(&self, range: &RangeInclusive<f64>) -> Result<f64, Complaint> {
        let number = match self {
            Value::Float(number) => Some(*number),
            // Few integers are not exact as floats, and none of those is in a range of ours.
            Value::Integer(number) => i32::try_from(*number).ok().map(f64::from),
            Value::Outside(text) => text.parse().ok(),
            Value::Text(_) | Value::Boolean(_) | Value::Other(_) => None,
        };
        let number = number.ok_or_else(|| self.wrong_type("a number", "write digits, without quotes"))?;
        within(number, range, ToString::to_string)
    }

    pub(crate) fn duration(&self, range: &RangeInclusive<Duration>) -> Result<Duration, Complaint> {
        let wanted = "a duration in quotes";
        let text =
            self.text().map_err(|_| self.wrong_type(wanted, "write it with its unit, such as \"5s\""))?;
        within(parse_duration(text)?, range, |duration| show_duration(*duration))
    }

    pub(crate) fn size(&self, range: &RangeInclusive<u64>) -> Result<u64, Complaint> {
        let wanted = "a size in quotes";
        let text =
            self.text().map_err(|_| self.wrong_type(wanted, "write it with its unit, such as \"64MiB\""))?;
        within(parse_size(text)?, range, |bytes| show_size(*bytes))
    }

    fn wrong_type(&self, wanted: &str, remedy: &str) -> Complaint {
        Complaint::new(format!("this must be {wanted}, and it is {}", self.kind()), remedy)
    }

    fn kind(&self) -> String {
        match self {
            Value::Text(text) => format!("the text {text:?}"),
            Value::Integer(number) => format!("the integer {number}"),
            Value::Float(number) => format!("the float {number}"),
            Value::Boolean(flag) => format!("{flag}"),
            Value::Outside(text) => format!("{text:?}"),
            Value::Other(kind) => (*kind).to_owned(),
        }
    }
}

fn within<T: PartialOrd>(
    value: T,
    range: &RangeInclusive<T>,
    show: impl Fn(&T) -> String,
) -> Result<T, Complaint> {
    if range.contains(&value) {
        Ok(value)
    } else {
        Err(out_of_range(show(&value), &show(range.start()), &show(range.end())))
    }
}

fn out_of_range(value: impl Display, least: &str, most: &str) -> Complaint {
    Complaint::new(format!("{value} is out of range"), format!("choose a value from {least} to {most}"))
}
