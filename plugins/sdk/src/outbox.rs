//! Effects outside the database. An effect is a row in the same transaction: it leaves if and only if the
//! transaction commits, at least once, under an idempotency key that a retry does not change.
//!
//! ```no_run
//! # use wonce::prelude::*;
//! # fn send(receipt: &serde_json::Value) -> wonce::Result<()> {
//! outbox::emit(Effect::to("email").ordered_by("order-17").json("receipt.requested", receipt)?)?;
//! # Ok(()) }
//! ```

use std::time::Duration;

use serde::Serialize;

use crate::bindings::wonce::handler::outbox as contract;
use crate::{Failure, host, permanent, retry};

/// An effect that is still without a payload: say where it goes and how, then end with [`json`](Self::json),
/// [`text`](Self::text) or [`bytes`](Self::bytes).
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    effect: contract::Effect,
}

/// An effect that can be emitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    effect: contract::Effect,
}

/// Why an effect was not written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The sink is not under `emits` in handler.toml, or the host has no such sink.
    #[error("emitting to the sink \"{0}\": handler.toml does not list it under `emits` or the host does not have it")]
    UnknownSink(String),
    /// Too large, too many, or malformed.
    #[error("the host refused the effect: {0}")]
    Refused(String),
    /// An earlier statement failed and the transaction can only be rolled back.
    #[error("the effect cannot be written: an earlier statement failed and aborted the transaction")]
    Aborted,
}

/// Writes the effect in this call's transaction; its idempotency key.
///
/// # Errors
/// See [`Error`]; `?` makes `UnknownSink` and `Refused` permanent, because a retry would meet them again.
pub fn emit(effect: Effect) -> Result<String, Error> {
    host::emit(&effect.effect).map_err(|error| match error {
        contract::Error::UnknownSink(sink) => Error::UnknownSink(sink),
        contract::Error::Refused(reason) => Error::Refused(reason),
        contract::Error::Aborted => Error::Aborted,
    })
}

impl Effect {
    /// Starts an effect for a sink that handler.toml lists under `emits`.
    #[must_use]
    pub fn to(sink: impl Into<String>) -> Draft {
        Draft {
            effect: contract::Effect {
                sink: sink.into(),
                type_: String::new(),
                datacontenttype: None,
                data: Vec::new(),
                ordering_key: None,
                dedup_key: None,
                delay_ms: None,
                attributes: Vec::new(),
            },
        }
    }
}

impl Draft {
    /// Effects with one ordering key leave in the order they were emitted.
    #[must_use]
    pub fn ordered_by(mut self, key: impl Into<String>) -> Self {
        self.effect.ordering_key = Some(key.into());
        self
    }

    /// Consumers see one effect per sink and key. Without it the host derives one from the handler, the event's key
    /// and the effect's place in the call.
    #[must_use]
    pub fn dedup_key(mut self, key: impl Into<String>) -> Self {
        self.effect.dedup_key = Some(key.into());
        self
    }

    /// Not before this long after the commit.
    #[must_use]
    pub fn delay(mut self, wait: Duration) -> Self {
        self.effect.delay_ms = Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Sent on as a header. Names are lower-case ASCII letters, digits, `-`, `_` and `.`.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.effect.attributes.push((name.into(), value.into()));
        self
    }

    /// With a JSON payload.
    ///
    /// # Errors
    /// [`permanent`] with the code `unserializable-effect` when serde cannot write `body` as JSON.
    pub fn json<T: Serialize + ?Sized>(self, kind: impl Into<String>, body: &T) -> crate::Result<Effect> {
        let data = serde_json::to_vec(body).map_err(|error| {
            permanent("unserializable-effect", format!("writing the effect's body as JSON: {error}"))
        })?;
        Ok(self.bytes(kind, "application/json", data))
    }

    /// With a plain-text payload.
    #[must_use]
    pub fn text(self, kind: impl Into<String>, body: impl Into<String>) -> Effect {
        self.bytes(kind, "text/plain; charset=utf-8", body.into().into_bytes())
    }

    /// With any payload.
    #[must_use]
    pub fn bytes(mut self, kind: impl Into<String>, content_type: impl Into<String>, data: Vec<u8>) -> Effect {
        self.effect.type_ = kind.into();
        self.effect.datacontenttype = Some(content_type.into());
        self.effect.data = data;
        Effect { effect: self.effect }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::UnknownSink(_) => permanent("unknown-sink", text),
            Error::Refused(_) => permanent("effect-refused", text),
            Error::Aborted => retry("transaction-aborted", text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_carries_what_the_draft_said() {
        let draft = Effect::to("email").ordered_by("o-1").delay(Duration::from_secs(2)).attribute("tenant", "a");
        let Effect { effect } = draft.dedup_key("k").json("receipt.requested", &["x"]).unwrap();
        assert_eq!((effect.sink.as_str(), effect.type_.as_str()), ("email", "receipt.requested"));
        assert_eq!(effect.data, br#"["x"]"#);
        assert_eq!(effect.datacontenttype.as_deref(), Some("application/json"));
        assert_eq!(effect.ordering_key.as_deref(), Some("o-1"));
        assert_eq!(effect.dedup_key.as_deref(), Some("k"));
        assert_eq!(effect.delay_ms, Some(2000));
        assert_eq!(effect.attributes, [("tenant".to_owned(), "a".to_owned())]);
    }

    #[test]
    fn an_effect_that_is_refused_is_not_tried_again() {
        assert!(matches!(Failure::from(Error::UnknownSink("x".into())), Failure::Permanent(_)));
        assert!(matches!(Failure::from(Error::Refused("too large".into())), Failure::Permanent(_)));
        assert!(matches!(Failure::from(Error::Aborted), Failure::Retry(_)));
    }
}
