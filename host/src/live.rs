//! The live stream: once a second this host's tick goes to the others and theirs come in
//! ([`beat`]), one host samples the database for all ([`sampler`]), and what came of it is a frame
//! that any number of readers follow ([`hub`], [`reader`]). Log lines have a stream of their own
//! ([`logs`]).
//!
//! Invariants: nothing here is waited for by an event's way through the host, and a reader that
//! does not read costs a place and nothing else. Knows nothing of HTTP.

pub mod beat;
mod fleet;
pub mod hub;
pub mod logs;
pub mod reader;
mod ring;
pub mod sampler;
mod wire;

pub use beat::Beat;
pub use hub::{About, Full, Hub};
pub use logs::{LogReader, Logs};
pub use reader::Reader;
pub use sampler::Sampler;
