//! Intake on real Postgres: what is answered is what is kept. `WONCE_TEST_DATABASE_URL` names a
//! server on which databases may be created.

mod batch;
mod http;
mod identity;
mod order;
mod shared;
mod submitted;
mod world;
