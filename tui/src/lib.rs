//! The operators' console. `net` reads the live stream and asks the admin API, `live` keeps what it
//! said as a model of the fleet, `update` decides what a message or a key changes, `view` draws the
//! model, and `term` is the only one that touches the terminal. Model, `update` and `view` are
//! pure: the time comes in with the message.
//!
//! It never knows the database: all it shows, a host has said.

pub mod live;
pub mod net;
pub mod once;
pub mod watch;
