//! The contract's imports as the host serves them, one file each. Knows nothing of guests:
//! an import sees the call's state and lends the transaction for one call at a time.

mod config;
mod context;
mod log;
mod outbox;
mod sql;

use crate::bindings::wonce::handler::types;
use crate::state::State;

impl types::Host for State {}
