//! A classified failure. Each class has one policy, one counter and one documented
//! paragraph (docs/faults.md; a test compares the lists). Knows nothing of wasmtime or SQL:
//! `wasm` and `store` translate their errors into these classes.

use std::fmt;

/// The longest error text that is kept, in bytes; the rest is cut.
pub const MAX_MESSAGE_BYTES: usize = 4096;
/// The longest fault code that is kept, in bytes.
pub const MAX_CODE_BYTES: usize = 64;

/// Why an invocation did not end in a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultClass {
    /// The guest said: may work later.
    Transient,
    /// The guest said: this payload is not acceptable.
    InvalidPayload,
    /// The guest said: never for this event.
    Permanent,
    /// Serialization failure, deadlock or lock time-out.
    Contention,
    /// An SQL error that the guest did not handle.
    Database,
    /// Not the guest's doing: connection, pool, shutdown.
    Host,
    /// The guest trapped, aborted, exited, overflowed its stack or broke the ABI.
    Trap,
    /// A limit was reached: deadline, memory, statements, rows, bytes, log.
    Budget,
    /// The host died, or its connection did, three times under this delivery.
    CrashSuspect,
}

impl FaultClass {
    pub const ALL: [FaultClass; 9] = [
        FaultClass::Transient,
        FaultClass::InvalidPayload,
        FaultClass::Permanent,
        FaultClass::Contention,
        FaultClass::Database,
        FaultClass::Host,
        FaultClass::Trap,
        FaultClass::Budget,
        FaultClass::CrashSuspect,
    ];

    /// The one word for this class in code, tables, API, metrics and docs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            FaultClass::Transient => "transient",
            FaultClass::InvalidPayload => "invalid_payload",
            FaultClass::Permanent => "permanent",
            FaultClass::Contention => "contention",
            FaultClass::Database => "database",
            FaultClass::Host => "host",
            FaultClass::Trap => "trap",
            FaultClass::Budget => "budget",
            FaultClass::CrashSuspect => "crash_suspect",
        }
    }
}

impl fmt::Display for FaultClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A classified failure with what a person needs to study it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub class: FaultClass,
    /// Kebab-case: the guest's own code, a SQLSTATE, or the host's word for the limit or trap.
    pub code: String,
    /// For people; cleaned of control characters and cut to [`MAX_MESSAGE_BYTES`].
    pub message: String,
}

impl Fault {
    /// Cleans and cuts the texts: they come from guests and databases and go to logs,
    /// tables and terminals.
    #[must_use]
    pub fn new(class: FaultClass, code: &str, message: &str) -> Self {
        Self { class, code: clean(code, MAX_CODE_BYTES), message: clean(message, MAX_MESSAGE_BYTES) }
    }
}

/// Replaces what could break a line or reorder a terminal's text (one fault is one line,
/// so line feeds and tabs too) and cuts at a character border.
fn clean(text: &str, limit: usize) -> String {
    let mut cleaned = String::with_capacity(text.len().min(limit));
    for character in text.chars() {
        let character = if is_unprintable(character) { ' ' } else { character };
        if cleaned.len() + character.len_utf8() > limit {
            break;
        }
        cleaned.push(character);
    }
    cleaned
}

/// Control characters, line and paragraph separators, and the marks that change direction.
fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}
