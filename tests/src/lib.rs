//! What the tests of the whole share: a [`World`](world::World) of one database, some hosts and
//! one receiver for effects. Knows nothing of what a test wants to prove.

pub mod eventually;
pub mod target;
pub mod world;
