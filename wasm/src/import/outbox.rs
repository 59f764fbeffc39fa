//! `outbox`: one checked effect at a time into the lent transaction. Knows nothing of sinks
//! beyond the names that the handler may use.

use std::time::Duration;

use wonce_core::effect::{Effect, derived_dedup_key};
use wonce_core::name::{self, Key, OrderingKey, SinkName};
use wonce_core::sql::SqlError;

use crate::bindings::wonce::handler::outbox::{self, Error, Host};
use crate::state::State;
use crate::stop::Stop;

/// The longest effect type or content type, in bytes.
const MAX_TYPE_BYTES: usize = 256;
/// Attributes of one effect.
const MAX_ATTRIBUTES: usize = 64;
const MAX_ATTRIBUTE_NAME_BYTES: usize = 64;
const MAX_ATTRIBUTE_VALUE_BYTES: usize = 4096;
/// An effect that is to leave later than this is a mistake.
const MAX_DELAY: Duration = Duration::from_secs(366 * 24 * 60 * 60);

impl Host for State {
    async fn emit(&mut self, effect: outbox::Effect) -> wasmtime::Result<Result<String, Error>> {
        self.handling("outbox.emit")?;
        if self.transaction().aborted_by().is_some() {
            return Ok(Err(Error::Aborted));
        }
        let bytes = bytes_of(&effect);
        let effect = match self.check_budget(bytes).and_then(|()| self.check(effect)) {
            Ok(effect) => effect,
            Err(error) => return Ok(Err(error)),
        };
        let dedup_key = effect.dedup_key.clone();
        let mut loan = self.lend();
        let result = loan.transaction().emit(effect).await;
        loan.settled();
        match result {
            Ok(()) => {
                self.meters.effects += 1;
                self.meters.effect_bytes += bytes;
                Ok(Ok(dedup_key))
            }
            Err(error) => Ok(Err(self.emit_error(error)?)),
        }
    }
}

impl State {
    fn check_budget(&self, bytes: u64) -> Result<(), Error> {
        let (meters, limits) = (&self.meters, &self.facts.limits);
        let handler = &self.facts.handler;
        if u64::from(meters.effects) >= limits.effects {
            return Err(Error::Refused(format!(
                "the handler emitted limits.effects = {} effects already; raise it in [handlers.{handler}]",
                limits.effects
            )));
        }
        if meters.effect_bytes.saturating_add(bytes) > limits.effect_bytes {
            return Err(Error::Refused(format!(
                "the effects together are over limits.effect_bytes = {} bytes; raise it in [handlers.{handler}]",
                limits.effect_bytes
            )));
        }
        Ok(())
    }

    fn check(&self, effect: outbox::Effect) -> Result<Effect, Error> {
        let sink = SinkName::parse(effect.sink.as_str()).ok().filter(|sink| self.facts.emits.contains(sink));
        let sink = sink.ok_or(Error::UnknownSink(effect.sink))?;
        check_type("type", &effect.type_)?;
        if let Some(content_type) = &effect.datacontenttype {
            check_type("datacontenttype", content_type)?;
        }
        check_attributes(&effect.attributes)?;
        let ordering_key = effect.ordering_key.map(OrderingKey::parse).transpose();
        let ordering_key = ordering_key.map_err(|error| key_refused("ordering-key", &error))?;
        Ok(Effect {
            sink,
            effect_type: effect.type_,
            content_type: effect.datacontenttype,
            data: effect.data,
            ordering_key,
            dedup_key: self.dedup_key(effect.dedup_key)?,
            delay: check_delay(effect.delay_ms)?,
            attributes: effect.attributes,
        })
    }

    fn dedup_key(&self, wanted: Option<String>) -> Result<String, Error> {
        match wanted {
            // The rules for a key of a delivery fit: not empty, bounded, no NUL.
            Some(key) => Ok(Key::parse(key).map_err(|error| key_refused("dedup-key", &error))?.into()),
            None => Ok(derived_dedup_key(&self.facts.handler, &self.facts.key, self.meters.effects)),
        }
    }

    /// What the guest gets for a failed write, or why the call ends.
    fn emit_error(&mut self, error: SqlError) -> Result<Error, Stop> {
        match error {
            SqlError::Database(_) | SqlError::Aborted => Ok(Error::Aborted),
            SqlError::ConnectionLost(why) => {
                self.connection_lost = Some(why.clone());
                Err(Stop::Host(why))
            }
            SqlError::Denied(why) => Ok(Error::Refused(why)),
            SqlError::Parameter(index, why) => {
                Err(Stop::Host(format!("an effect could not be written (value {index}): {why}")))
            }
            SqlError::LimitExceeded(limit) => {
                Err(Stop::Host(format!("an effect could not be written (limit: {limit:?})")))
            }
        }
    }
}

fn bytes_of(effect: &outbox::Effect) -> u64 {
    let attributes: usize = effect.attributes.iter().map(|(name, value)| name.len() + value.len()).sum();
    (effect.data.len() + effect.type_.len() + attributes) as u64
}

fn key_refused(which: &str, error: &name::Error) -> Error {
    Error::Refused(format!("`{which}` cannot be used: {error}"))
}

fn check_type(which: &str, text: &str) -> Result<(), Error> {
    if text.is_empty() || text.len() > MAX_TYPE_BYTES {
        return Err(Error::Refused(format!(
            "`{which}` has {} bytes, and 1 to {MAX_TYPE_BYTES} are allowed",
            text.len()
        )));
    }
    check_characters(which, text)
}

/// These texts become headers and Postgres text: neither takes every character.
fn check_characters(which: &str, text: &str) -> Result<(), Error> {
    if text.contains(char::is_control) {
        return Err(Error::Refused(format!("`{which}` holds a control character")));
    }
    Ok(())
}

fn check_attributes(attributes: &[(String, String)]) -> Result<(), Error> {
    if attributes.len() > MAX_ATTRIBUTES {
        return Err(Error::Refused(format!(
            "the effect has {} attributes, and at most {MAX_ATTRIBUTES} are allowed",
            attributes.len()
        )));
    }
    attributes.iter().try_for_each(|(name, value)| check_attribute(name, value))
}

fn check_attribute(name: &str, value: &str) -> Result<(), Error> {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.');
    if name.is_empty() || name.len() > MAX_ATTRIBUTE_NAME_BYTES || !name.bytes().all(allowed) {
        return Err(Error::Refused(format!(
            "an attribute's name is 1 to {MAX_ATTRIBUTE_NAME_BYTES} lower-case letters, digits, '-', '_' or '.', and {name:?} is not"
        )));
    }
    if value.len() > MAX_ATTRIBUTE_VALUE_BYTES {
        return Err(Error::Refused(format!(
            "attribute `{name}` has {} bytes, and at most {MAX_ATTRIBUTE_VALUE_BYTES} are allowed",
            value.len()
        )));
    }
    check_characters(name, value)
}

fn check_delay(delay_ms: Option<u64>) -> Result<Option<Duration>, Error> {
    let delay = delay_ms.map(Duration::from_millis);
    match delay {
        Some(delay) if delay > MAX_DELAY => Err(Error::Refused(format!(
            "`delay-ms` is {} ms, and at most 366 days are allowed",
            delay.as_millis()
        ))),
        Some(_) | None => Ok(delay),
    }
}
