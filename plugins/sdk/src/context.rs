//! Facts about the call, and the deterministic substitutes for clock and randomness that make a retry do what the
//! first try did.

use std::time::Duration;

use crate::host;
use crate::time::Timestamp;
use crate::uuid::Uuid;

/// The transaction's start, equal to SQL `now()`. Does not move during a call.
pub fn now() -> Timestamp {
    Timestamp::from_micros(host::now())
}

/// What is left before the deadline; the host ends the call when nothing is.
pub fn remaining() -> Duration {
    Duration::from_millis(u64::from(host::remaining_ms()))
}

/// An id that depends only on the handler, the event's key and `name`: a retry and a replay get the same one.
/// Use it wherever a random id would be tempting. Not a secret.
pub fn stable_uuid(name: &str) -> Uuid {
    let text = host::stable_uuid(name);
    text.parse().unwrap_or_else(|_| panic!("the host's stable uuid \"{text}\" is not a uuid; report it as a bug"))
}
