//! A guest's SQL values on the wire: [`encode`](encode::encode) fits a contract value to the type
//! that the statement wants, [`literal`] writes what needs no binding, [`decode`](decode::decode) lifts a column. Values that Postgres can
//! parse itself go as text, everything with a fixed layout as binary.
//!
//! Knows nothing of connections or transactions.

pub(super) mod decode;
pub(super) mod encode;
pub(super) mod literal;
mod numeric;

use tokio_postgres::types::{Kind, Type};

/// Microseconds between 1970-01-01 and Postgres' own epoch, 2000-01-01.
const POSTGRES_EPOCH_MICROS: i64 = 946_684_800_000_000;
/// Days between the same.
const POSTGRES_EPOCH_DAYS: i32 = 10_957;

/// The type's name as `format_type` has it.
pub(super) fn type_name(ty: &Type) -> String {
    let builtin = match *ty {
        Type::BOOL => "boolean",
        Type::INT2 => "smallint",
        Type::INT4 => "integer",
        Type::INT8 => "bigint",
        Type::FLOAT4 => "real",
        Type::FLOAT8 => "double precision",
        Type::VARCHAR => "character varying",
        Type::BPCHAR => "character",
        Type::TIME => "time without time zone",
        Type::TIMESTAMP => "timestamp without time zone",
        Type::TIMESTAMPTZ => "timestamp with time zone",
        _ => {
            return match ty.kind() {
                Kind::Array(element) => format!("{}[]", type_name(element)),
                _ => ty.name().to_owned(),
            };
        }
    };
    builtin.to_owned()
}
