//! The sandbox from outside: a scripted guest, built once, against a transaction in memory.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

#[path = "sandbox/endings.rs"]
mod endings;
#[path = "sandbox/imports.rs"]
mod imports;
#[path = "sandbox/limits.rs"]
mod limits;
#[path = "sandbox/loading.rs"]
mod loading;
#[path = "sandbox/sealed.rs"]
mod sealed;
#[path = "sandbox/speed.rs"]
mod speed;
#[path = "sandbox/support.rs"]
mod support;
