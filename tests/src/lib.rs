//! What the tests of the whole share: a [`World`](world::World) of one database, some hosts in
//! process and one receiver for effects; and the real binary as a [`child`] that may be killed.
//! Knows nothing of what a test wants to prove.

pub mod child;
pub mod target;
pub mod wait;
pub mod world;
