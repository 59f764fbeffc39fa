//! The one door to the host: every import of the contract passes through here and nowhere else. Compiled natively
//! (for `cargo test`) there is no host behind the door and a call panics with its name; a test double for whole
//! handlers would be put here and the rest of the SDK would not notice.

use crate::bindings::wonce::handler::{config, context, log, outbox, sql};
use crate::sql::Error;

pub(crate) fn execute(statement: &str, params: &[sql::Value]) -> Result<u64, Error> {
    needs_a_host("sql.execute");
    sql::execute(statement, params).map_err(Error::from)
}

pub(crate) fn query(statement: &str, params: &[sql::Value]) -> Result<sql::RowSet, Error> {
    needs_a_host("sql.query");
    sql::query(statement, params).map_err(Error::from)
}

pub(crate) fn queue(statement: &str, params: &[sql::Value]) -> Result<(), Error> {
    needs_a_host("sql.queue");
    sql::queue(statement, params).map_err(Error::from)
}

pub(crate) fn emit(effect: &outbox::Effect) -> Result<String, outbox::Error> {
    needs_a_host("outbox.emit");
    outbox::emit(effect)
}

pub(crate) fn write_log(level: log::Level, message: &str, fields: &[(String, String)]) {
    needs_a_host("log.write");
    log::write(level, message, fields);
}

pub(crate) fn setting(key: &str) -> Option<String> {
    needs_a_host("config.get");
    config::get(key)
}

pub(crate) fn now() -> i64 {
    needs_a_host("context.now");
    context::now()
}

pub(crate) fn remaining_ms() -> u32 {
    needs_a_host("context.remaining-ms");
    context::remaining_ms()
}

pub(crate) fn stable_uuid(name: &str) -> String {
    needs_a_host("context.stable-uuid");
    context::stable_uuid(name)
}

#[cfg(target_arch = "wasm32")]
fn needs_a_host(_import: &str) {}

#[cfg(not(target_arch = "wasm32"))]
fn needs_a_host(import: &str) {
    panic!("`{import}` needs a wonce host: build for wasm32-wasip2 and run the handler there");
}
