//! The JSON that wonce speaks with its senders and operators, shared by host and console.
//!
//! Invariant: plain data and serde only; nothing here does IO.

pub mod problem;
pub mod receipt;
