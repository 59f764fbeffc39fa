//! The contract's imports as `host.rs` calls them, answered by the mock. Errors of statements are already the SDK's own.

use super::run::{Emitted, Line};
use super::state::with;

pub(crate) mod sql {
    //! Statements, answered from the script.
    use crate::mock::answer::Answer;
    use crate::mock::run::Kind;
    use crate::mock::state::with;
    use crate::sql::{Error, RowSet, Value};

    pub(crate) fn execute(statement: &str, params: &[Value]) -> Result<u64, Error> {
        match with("sql.execute", |state| state.answer(Kind::Execute, statement, params))? {
            Answer::Affected(count) => Ok(count),
            other => panic!(
                "the handler executes \"{statement}\" and the script answers with {other:?}; use `mock::affected`"
            ),
        }
    }

    pub(crate) fn query(statement: &str, params: &[Value]) -> Result<RowSet, Error> {
        match with("sql.query", |state| state.answer(Kind::Query, statement, params))? {
            Answer::Rows(rows) => Ok(rows),
            other => panic!(
                "the handler queries \"{statement}\" and the script answers with {other:?}; use `mock::row` or `mock::rows`"
            ),
        }
    }

    pub(crate) fn queue(statement: &str, params: &[Value]) -> Result<(), Error> {
        with("sql.queue", |state| state.queue(statement, params))
    }
}

pub(crate) mod outbox {
    //! Effects, kept.
    use super::{Emitted, with};
    use crate::bindings::wonce::handler::outbox::Error;

    pub(crate) fn emit(effect: &Emitted) -> Result<String, Error> {
        with("outbox.emit", |state| state.emit(effect))
    }
}

pub(crate) mod log {
    //! Lines, kept.
    use super::{Line, with};
    use crate::log::Level;

    pub(crate) fn write(level: Level, message: &str, fields: &[(String, String)]) {
        let line = Line { level, message: message.to_owned(), fields: fields.to_vec() };
        with("log.write", |state| state.log.push(line));
    }
}

pub(crate) mod config {
    //! Settings, as the test gave them.
    use super::with;

    pub(crate) fn get(key: &str) -> Option<String> {
        with("config.get", |state| state.settings.get(key).cloned())
    }
}

pub(crate) mod context {
    //! Time and ids, as the test gave them.
    use super::with;
    use crate::uuid::Uuid;

    pub(crate) fn now() -> i64 {
        with("context.now", |state| state.now)
    }

    pub(crate) fn remaining_ms() -> u32 {
        with("context.remaining-ms", |state| state.remaining_ms)
    }

    /// As stable as the host's, but another id: that one knows the handler's name.
    pub(crate) fn stable_uuid(name: &str) -> String {
        let key = with("context.stable-uuid", |state| state.key.clone());
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&fnv(&[&key, name]).to_be_bytes());
        bytes[8..].copy_from_slice(&fnv(&[name, &key]).to_be_bytes());
        bytes[6] = bytes[6] & 0x0f | 0x80;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Uuid::from_bytes(bytes).to_string()
    }

    /// FNV-1a of the parts with a NUL after each.
    fn fnv(parts: &[&str]) -> u64 {
        let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
        bytes
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}
