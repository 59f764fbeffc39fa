//! The one door to the host: every import of the contract passes through here and nowhere else. Natively, for
//! `cargo test`, the imports are those of [`mock`](crate::mock), and the rest of the SDK does not notice.
#![cfg_attr(
    not(target_arch = "wasm32"),
    expect(
        clippy::useless_conversion,
        reason = "the mock's statements fail with the SDK's own error already"
    )
)]

#[cfg(target_arch = "wasm32")]
use crate::bindings::wonce::handler::{config, context, log, outbox, sql};
use crate::bindings::wonce::handler::{log::Level, outbox as effects, sql as values};
#[cfg(not(target_arch = "wasm32"))]
use crate::mock::imports::{config, context, log, outbox, sql};
use crate::sql::Error;

pub(crate) fn execute(statement: &str, params: &[values::Value]) -> Result<u64, Error> {
    sql::execute(statement, params).map_err(Error::from)
}

pub(crate) fn query(statement: &str, params: &[values::Value]) -> Result<values::RowSet, Error> {
    sql::query(statement, params).map_err(Error::from)
}

pub(crate) fn queue(statement: &str, params: &[values::Value]) -> Result<(), Error> {
    sql::queue(statement, params).map_err(Error::from)
}

pub(crate) fn emit(effect: &effects::Effect) -> Result<String, effects::Error> {
    outbox::emit(effect)
}

pub(crate) fn write_log(level: Level, message: &str, fields: &[(String, String)]) {
    log::write(level, message, fields);
}

pub(crate) fn setting(key: &str) -> Option<String> {
    config::get(key)
}

pub(crate) fn now() -> i64 {
    context::now()
}

pub(crate) fn remaining_ms() -> u32 {
    context::remaining_ms()
}

pub(crate) fn stable_uuid(name: &str) -> String {
    context::stable_uuid(name)
}
