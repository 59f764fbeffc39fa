//! The relay on real Postgres and real HTTP: what receivers get, in which order, and what the
//! outbox says afterwards. `WONCE_TEST_DATABASE_URL` names a server on which databases may be
//! created.

mod alerts;
mod answers;
mod gauges;
mod hosts;
mod order;
mod receiver;
mod world;
