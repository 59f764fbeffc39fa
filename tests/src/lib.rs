//! Support for the tests of wonce's promises: a world is a host on a database of its own.

pub mod child;
