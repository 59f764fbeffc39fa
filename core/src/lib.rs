//! The decisions of wonce, as pure functions and plain types. An event becomes one
//! delivery per interested handler; each delivery has a key; an invocation ends in one
//! [`Outcome`](outcome::Outcome); [`decide`](decide::decide) answers what becomes of it.
//!
//! Invariant: nothing here does IO, is async, reads a clock or draws a random number.

pub mod alert;
pub mod conservation;
pub mod decide;
pub mod delivery;
pub mod digest;
pub mod effect;
pub mod event;
pub mod fault;
pub mod fingerprint;
pub mod hash;
pub mod json;
pub mod key;
pub mod name;
pub mod operation;
pub mod outcome;
pub mod pace;
pub mod payload;
pub mod pointer;
pub mod relay;
pub mod retry;
pub mod route;
pub mod sql;
pub mod sqlstate;
pub mod statement;
