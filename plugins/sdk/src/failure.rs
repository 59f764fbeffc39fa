//! Saying no. A handler ends in one of three failures and each rolls the transaction back: [`retry`] may work later,
//! [`permanent`] never will, [`rejected`] means the payload is the producer's mistake. What `?` does to an error
//! of the SDK is decided here and next to that error, never by the handler's author by accident.

use std::fmt::{Display, Write};
use std::time::Duration;

use crate::{Failure, Fault, Outcome, RetryFailure};

/// May work later: the host runs the event again after its own backoff.
///
/// `code` is for alerts and counters: a small set of kebab-case words. `message` is for people.
pub fn retry(code: impl Into<String>, message: impl Into<String>) -> Failure {
    Failure::Retry(RetryFailure { fault: fault(code, message), after_ms: None })
}

/// Like [`retry`], but not before `wait`; the host clamps it to the ceiling of the retry policy.
pub fn retry_after(code: impl Into<String>, message: impl Into<String>, wait: Duration) -> Failure {
    let after_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    Failure::Retry(RetryFailure { fault: fault(code, message), after_ms: Some(after_ms) })
}

/// Will never work for this event: dead letter at once, for a person to look at.
pub fn permanent(code: impl Into<String>, message: impl Into<String>) -> Failure {
    Failure::Permanent(fault(code, message))
}

/// The payload is not what this handler accepts: dead letter at once, charged to the producer.
pub fn rejected(code: impl Into<String>, message: impl Into<String>) -> Failure {
    Failure::Rejected(fault(code, message))
}

/// A good ending that changed nothing: the event was looked at and deliberately left alone.
pub fn ignored(reason: impl Into<String>) -> Outcome {
    Outcome::Ignored(reason.into())
}

fn fault(code: impl Into<String>, message: impl Into<String>) -> Fault {
    Fault { code: code.into(), message: message.into(), details: None }
}

impl Failure {
    /// Adds facts for whoever investigates the dead letter.
    ///
    /// ```
    /// use serde_json::json;
    /// let failure = wonce::permanent("wrong-amount", "the order costs another amount")
    ///     .with_details(&json!({ "expected_cents": 9900, "paid_cents": 990 }));
    /// assert_eq!(failure.fault().details.as_deref(), Some(r#"{"expected_cents":9900,"paid_cents":990}"#));
    /// ```
    #[must_use]
    pub fn with_details(mut self, details: &serde_json::Value) -> Self {
        let (Self::Retry(RetryFailure { fault, .. }) | Self::Permanent(fault) | Self::Rejected(fault)) = &mut self;
        fault.details = Some(details.to_string());
        self
    }

    /// The coded problem inside.
    pub fn fault(&self) -> &Fault {
        match self {
            Self::Retry(retry) => &retry.fault,
            Self::Permanent(fault) | Self::Rejected(fault) => fault,
        }
    }
}

/// Text that is not the JSON a handler expects is the producer's mistake.
impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        rejected("undecodable-payload", format!("the payload is not the JSON that is expected here: {error}"))
    }
}

/// Turns any other error into a failure where it happens, so that `?` stays one character long.
///
/// ```
/// use wonce::prelude::*;
/// fn quantity(text: &str) -> wonce::Result<u32> {
///     text.parse().or_rejected("bad-quantity")
/// }
/// assert_eq!(quantity("many").unwrap_err().fault().code, "bad-quantity");
/// ```
pub trait OrFail<T> {
    /// The error becomes a [`retry`].
    fn or_retry(self, code: &str) -> crate::Result<T>;
    /// The error becomes a [`permanent`] failure.
    fn or_permanent(self, code: &str) -> crate::Result<T>;
    /// The error becomes [`rejected`].
    fn or_rejected(self, code: &str) -> crate::Result<T>;
}

impl<T, E: std::error::Error> OrFail<T> for Result<T, E> {
    fn or_retry(self, code: &str) -> crate::Result<T> {
        self.map_err(|error| retry(code, with_causes(&error)))
    }

    fn or_permanent(self, code: &str) -> crate::Result<T> {
        self.map_err(|error| permanent(code, with_causes(&error)))
    }

    fn or_rejected(self, code: &str) -> crate::Result<T> {
        self.map_err(|error| rejected(code, with_causes(&error)))
    }
}

/// The error and what caused it, on one line: a fault carries text, not a chain.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        append(&mut text, error);
        cause = error.source();
    }
    text
}

fn append(text: &mut String, cause: &dyn Display) {
    // Writing to a String cannot fail.
    let _ = write!(text, ": {cause}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_longer_than_the_contract_can_say_is_the_longest_it_can_say() {
        let Failure::Retry(retry) = retry_after("later", "busy", Duration::MAX) else { panic!("a retry") };
        assert_eq!(retry.after_ms, Some(u64::MAX));
    }

    #[test]
    fn broken_json_is_charged_to_the_producer() {
        let error = serde_json::from_str::<u8>("{").unwrap_err();
        let failure = Failure::from(error);
        assert!(matches!(&failure, Failure::Rejected(fault) if fault.code == "undecodable-payload"), "{failure:?}");
    }

    #[test]
    fn a_failure_made_from_an_error_names_its_causes() {
        #[derive(Debug, thiserror::Error)]
        #[error("reading the price")]
        struct Price(#[source] std::num::ParseIntError);

        let error: Result<(), _> = "x".parse::<u8>().map(drop).map_err(Price);
        let failure = error.or_permanent("bad-price").unwrap_err();
        assert_eq!(failure.fault().message, "reading the price: invalid digit found in string");
    }
}
