//! Which class of fault a SQLSTATE is. Knows nothing of statements.

use wonce_core::fault::FaultClass;

/// The class of an SQL error that ended a transaction.
pub(super) fn class_of(sqlstate: &str) -> FaultClass {
    match sqlstate {
        "40001" | "40P01" | "55P03" => FaultClass::Contention,
        "57014" => FaultClass::Budget,
        _ if ["08", "53"].iter().any(|class| sqlstate.starts_with(class)) || sqlstate.starts_with("57P0") => {
            FaultClass::Host
        }
        _ => FaultClass::Database,
    }
}
