//! The sandbox: everything that knows wasmtime. It turns component bytes into a prepared
//! version and one event into one [`Outcome`](wonce_core::outcome::Outcome), lending the
//! guest a [`Transaction`](transaction::Transaction) that somebody else holds.
//!
//! Invariant: nothing here knows Postgres, claims, retries or settlement.

pub mod transaction;
