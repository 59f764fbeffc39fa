//! The operator's verbs on real Postgres: what they show is what is there, and whatever they do
//! the books hold. `WONCE_TEST_DATABASE_URL` names a server on which databases may be created.

mod api;
mod books;
mod command;
mod edit;
mod export;
mod groups;
mod operations;
mod replay;
mod restore;
mod served;
mod timeline;
mod upkeep;
mod world;
