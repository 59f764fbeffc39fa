//! What a guest said of itself, as the core's words. Knows nothing of traps.

use std::time::Duration;

use wonce_core::fault::{Fault, FaultClass};
use wonce_core::outcome::Outcome;

use crate::bindings::wonce::handler::types;

/// The code of a guest that gave none.
const NO_CODE: &str = "unspecified";

pub(super) fn success(outcome: types::Outcome) -> Outcome {
    match outcome {
        types::Outcome::Done => Outcome::Done,
        // Cleaned and cut like every text that a guest writes into tables and terminals.
        types::Outcome::Ignored(reason) => {
            Outcome::Ignored(Fault::new(FaultClass::Permanent, "", &reason).message)
        }
    }
}

pub(super) fn failure(failure: types::Failure) -> Outcome {
    let (class, fault, after) = match failure {
        types::Failure::Retry(retry) => (FaultClass::Transient, retry.fault, retry.after_ms),
        types::Failure::Permanent(fault) => (FaultClass::Permanent, fault, None),
        types::Failure::Rejected(fault) => (FaultClass::InvalidPayload, fault, None),
    };
    let message = match fault.details.filter(|details| !details.is_empty()) {
        Some(details) => format!("{}; details: {details}", fault.message),
        None => fault.message,
    };
    let fault = Fault::new(class, &kebab(&fault.code), &message);
    Outcome::Failed { fault, after: after.map(Duration::from_millis) }
}

/// Codes are labels of counters: whatever a guest writes becomes a kebab-case word.
fn kebab(code: &str) -> String {
    let characters = code.chars().map(|c| {
        let c = c.to_ascii_lowercase();
        if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' }
    });
    let code: String = characters.take(wonce_core::fault::MAX_CODE_BYTES).collect();
    match code.trim_matches('-') {
        "" => NO_CODE.to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_becomes_a_kebab_case_word() {
        assert_eq!(kebab("Card Declined\n"), "card-declined");
        assert_eq!(kebab("\u{1b}[31m"), "31m");
        assert_eq!(kebab(""), NO_CODE);
        assert_eq!(kebab(&"x".repeat(1_000_000)).len(), wonce_core::fault::MAX_CODE_BYTES);
    }

    #[test]
    fn the_largest_wish_to_wait_is_carried_for_the_host_to_clamp() {
        let fault = types::Fault { code: "later".to_owned(), message: "m".to_owned(), details: None };
        let outcome = failure(types::Failure::Retry(types::Retry { fault, after_ms: Some(u64::MAX) }));
        let Outcome::Failed { fault, after } = outcome else { panic!("a retry is a failure") };
        assert_eq!((fault.class, after), (FaultClass::Transient, Some(Duration::from_millis(u64::MAX))));
    }
}
