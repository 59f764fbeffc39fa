//! Intake on real Postgres: what is answered is what is kept. `WONCE_TEST_DATABASE_URL` may
//! name a server on which databases can be created; otherwise each test starts one.

mod batch;
mod http;
mod identity;
mod order;
mod shared;
mod submitted;
mod world;
