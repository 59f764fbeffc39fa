//! Checks which dead letters a caller means, before the store is asked: what cannot match
//! anything is a mistake, and is said.

use wonce_api::dead_letter::Selection;
use wonce_core::decide::DeadReason;
use wonce_core::route::ParkReason;

use super::refusal::Refusal;

/// The longest condition, in bytes: keys are the longest texts that can be meant.
const MAX_CONDITION_BYTES: usize = 512;

/// The selection as it came, when it can match something.
pub(super) fn checked(selection: Selection) -> Result<Selection, Refusal> {
    // An operation is named by a number, and one that is not there matches nothing.
    let Selection { handler, reason, fingerprint, version, key_prefix, operation: _ } = &selection;
    for (name, text) in
        [("handler", handler), ("fingerprint", fingerprint), ("version", version), ("key_prefix", key_prefix)]
    {
        let Some(text) = text else { continue };
        if text.contains('\0') {
            return Err(Refusal::bad_request(format!(
                "the filter {name} holds a NUL character, which no name or key has"
            )));
        }
        if text.is_empty() || text.len() > MAX_CONDITION_BYTES {
            return Err(Refusal::bad_request(format!(
                "the filter {name} must have 1 to {MAX_CONDITION_BYTES} bytes; leave it out to match any"
            )));
        }
    }
    if let Some(reason) = reason {
        known_reason(reason)?;
    }
    Ok(selection)
}

fn known_reason(reason: &str) -> Result<(), Refusal> {
    let dead = DeadReason::ALL.iter().map(|r| r.as_str());
    let reasons: Vec<&str> = dead.chain(ParkReason::ALL.iter().map(|r| r.as_str())).collect();
    if reasons.contains(&reason) {
        return Ok(());
    }
    let known = reasons.join(", ");
    Err(Refusal::bad_request(format!("reason {reason:?} does not exist; the reasons are {known}")))
}
