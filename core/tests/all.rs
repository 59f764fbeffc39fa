//! The rules of the core as tables and properties, in one binary so that they link once.

#[path = "all/alert.rs"]
mod alert;
#[path = "all/conservation.rs"]
mod conservation;
#[path = "all/decide.rs"]
mod decide;
#[path = "all/events.rs"]
mod events;
#[path = "all/fingerprint.rs"]
mod fingerprint;
#[path = "all/hash.rs"]
mod hash;
#[path = "all/json.rs"]
mod json;
#[path = "all/key.rs"]
mod key;
#[path = "all/name.rs"]
mod name;
#[path = "all/operation.rs"]
mod operation;
#[path = "all/outcome.rs"]
mod outcome;
#[path = "all/relay.rs"]
mod relay;
#[path = "all/retry.rs"]
mod retry;
#[path = "all/route.rs"]
mod route;
#[path = "all/sqlstate.rs"]
mod sqlstate;
#[path = "all/statement.rs"]
mod statement;
