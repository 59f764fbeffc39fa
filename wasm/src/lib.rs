//! The sandbox: everything that knows wasmtime. It turns component bytes into a prepared
//! version and one event into one [`Outcome`](wonce_core::outcome::Outcome), lending the
//! guest a [`Transaction`] that somebody else holds.
//!
//! Invariant: nothing here knows Postgres, claims, retries or settlement.

mod bindings;
mod cache;
mod call;
mod convert;
mod engine;
mod fault;
mod import;
mod invoke;
mod known;
mod lent;
mod limiter;
mod limits;
mod log;
mod outside;
mod prepare;
mod report;
mod sandbox;
mod settings;
mod state;
mod stop;
mod surface;
mod ticker;
pub mod transaction;
mod wasi;

pub use call::{Call, DeliveryFacts, Ended, Interrupted, Usage};
pub use limits::Limits;
pub use log::{LogLevel, LogLine, LogOrigin};
pub use outside::{Kind, MANIFEST_SECTION, Outside, with_manifest};
pub use prepare::{LoadError, MAX_COMPONENT_BYTES, Prepared};
pub use report::{Reason, Refusal};
pub use sandbox::{Error, Sandbox};
pub use settings::Settings;
pub use surface::provides;
pub use transaction::Transaction;
