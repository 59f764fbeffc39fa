//! The operators' console. `net` reads the live stream and asks the admin API, `live` keeps what it
//! said as a model of the fleet, `desk` puts questions and deeds to a host, `update` decides what a
//! message or a key changes in the `model`, `view` draws it, `term` is the only one that touches the
//! terminal, and `run` holds them together. `model`, `update` and `view` are pure: the time comes in
//! with the message.
//!
//! It never knows the database: all it shows, a host has said.

pub mod command;
pub mod desk;
pub mod draft;
#[cfg(test)]
mod fixture;
pub mod json;
pub mod keys;
pub mod lists;
pub mod live;
pub mod model;
pub mod net;
pub mod once;
pub mod run;
pub mod term;
pub mod text;
pub mod theme;
pub mod update;
pub mod view;
