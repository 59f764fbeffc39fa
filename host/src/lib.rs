//! The host of wonce, in the order of an event's journey: a [`source`] yields bytes, the
//! [`pipeline`] accepts, dispatches, invokes and settles, the [`store`] holds all SQL, a [`sink`]
//! carries effects out; a [`plugin`] is a handler as a file, and [`telemetry`], [`live`] and [`admin`] show what happened. [`runtime`] composes
//! them from the [`config`]; [`cli`] is the command line.

pub mod admin;
pub mod cli;
pub mod config;
pub mod crash;
pub mod live;
pub mod pipeline;
pub mod plugin;
pub mod runtime;
pub mod send;
pub mod service;
pub mod sink;
pub mod source;
pub mod store;
pub mod telemetry;
