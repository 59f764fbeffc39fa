//! The decisions of wonce, as pure functions and plain types. An event becomes one
//! delivery per interested handler; each delivery has a key; an invocation ends in one
//! [`Outcome`](outcome::Outcome); [`decide`](decide::decide) answers what becomes of it.
//!
//! Invariant: nothing here does IO, is async, reads a clock or draws a random number.

pub mod decide;
pub mod delivery;
pub mod effect;
pub mod event;
pub mod fault;
pub mod name;
pub mod outcome;
pub mod retry;
pub mod sql;
