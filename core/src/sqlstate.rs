//! What kind of failure a SQLSTATE is. Knows nothing of the statement that met it.

use crate::fault::FaultClass;

/// The class of an error that Postgres reported. Exact codes win over their two-character
/// class; what is not listed is an ordinary database error, which counts attempts and so
/// cannot loop for ever.
#[must_use]
pub fn class_of(sqlstate: &str) -> FaultClass {
    match sqlstate {
        // Serialization failure, deadlock, lock not available.
        "40001" | "40P01" | "55P03" => FaultClass::Contention,
        // Cancelled: statement_timeout or the host's deadline.
        "57014" => FaultClass::Budget,
        // A limit of the role or server such as temp_file_limit.
        "53400" => FaultClass::Budget,
        // Out of (shared) memory is often the statement's own doing, so it must count.
        "53200" => FaultClass::Database,
        // Shutdown, crash, starting up, database dropped, idle session.
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" => FaultClass::Host,
        // The server gave up on an idle transaction or a silent client: only the host can stall so.
        "25P03" => FaultClass::Host,
        code if code.starts_with("08") || code.starts_with("53") => FaultClass::Host,
        _ => FaultClass::Database,
    }
}
