//! Key rules: how an event's idempotency key and ordering key are read from it. A key is
//! never invented; without a stable id the answer says how to declare one. Knows nothing of
//! handlers or storage.
//!
//! One selector that finds a string gives that string. Everything else gives the compact
//! JSON array of what was found, with types: `1`, `"1"` and `1.0` are three keys. A single
//! string that starts with `[` is put in an array too, so a plain key never looks like one.
//! Two subscriptions of one handler share its keys: where their ids may coincide, add
//! `event:type` or `event:source` to the rule.

use std::fmt;

use crate::digest::hex;
use crate::hash::payload_hash;
use crate::json::{self, Found, Json};
use crate::name::{self, Key, OrderingKey, SourceName};
use crate::payload::Payload;
use crate::pointer::Pointer;

mod native;
mod selector;

pub use native::native_key;
pub use selector::{Attribute, Error, Selector};

/// A rule has at most this many selectors.
pub const MAX_SELECTORS: usize = 8;

/// What to read from an event, in order; at least one selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRule {
    selectors: Vec<Selector>,
}

/// A key and the rule that made it, for `event explain`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    pub key: Key,
    /// E.g. `/payment_id, /status`, or `default: event:source, event:id`.
    pub rule: String,
}

/// Why an event has no key under a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error(
        "the event from source '{via}' carries no stable id: declare where it is in the subscription, e.g. \
         key = [\"/payment_id\"] or key = [\"header:webhook-id\"], or choose key = [\"payload-hash\"]"
    )]
    NoKey { via: SourceName },
    #[error("key rule '{selector}' finds nothing in the event: send it, or change the rule")]
    Missing { selector: String },
    #[error(
        "key rule '{selector}' finds an empty string, which identifies nothing: send it, or change the rule"
    )]
    Blank { selector: String },
    #[error(
        "key rule '{selector}' finds {kind}; only a string, number or boolean can be a key: change the rule"
    )]
    NotScalar { selector: String, kind: &'static str },
    #[error(
        "key rule '{selector}' finds more than one value, and readers disagree which counts: send it once"
    )]
    Repeated { selector: String },
    #[error("key rule '{selector}' needs a JSON payload, and this one is not: {reason}")]
    NotJson { selector: String, reason: json::Error },
    #[error("key rule '{rule}' gives a text that cannot be a key: {reason}; change the rule")]
    NotAKey { rule: String, reason: name::Error },
}

impl KeyRule {
    /// Parses the `key` or `order_by` list of a subscription.
    ///
    /// # Errors
    /// When the list is empty or too long, or an entry is not a selector.
    pub fn parse(texts: &[String]) -> Result<Self, Error> {
        match texts.len() {
            0 => return Err(Error::NoSelectors),
            count if count > MAX_SELECTORS => return Err(Error::TooMany { count }),
            _ => {}
        }
        let selectors: Result<Vec<Selector>, Error> = texts.iter().map(|t| Selector::parse(t)).collect();
        Ok(Self { selectors: selectors? })
    }

    #[must_use]
    pub fn selectors(&self) -> &[Selector] {
        &self.selectors
    }

    /// The idempotency key. `hash_ignore` is what the payload hash leaves out.
    ///
    /// # Errors
    /// When a selector finds no single scalar, or the key would be too long or hold NUL.
    pub fn key_of(&self, payload: &Payload<'_>, hash_ignore: &[Pointer]) -> Result<Explained, KeyError> {
        let text = self.text_of(payload, hash_ignore)?;
        let rule = self.to_string();
        match Key::parse(text) {
            Ok(key) => Ok(Explained { key, rule }),
            Err(reason) => Err(KeyError::NotAKey { rule, reason }),
        }
    }

    /// The ordering key, by the same rules.
    ///
    /// # Errors
    /// As for [`KeyRule::key_of`].
    pub fn ordering_key_of(
        &self,
        payload: &Payload<'_>,
        hash_ignore: &[Pointer],
    ) -> Result<OrderingKey, KeyError> {
        let text = self.text_of(payload, hash_ignore)?;
        OrderingKey::parse(text).map_err(|reason| KeyError::NotAKey { rule: self.to_string(), reason })
    }

    fn text_of(&self, payload: &Payload<'_>, hash_ignore: &[Pointer]) -> Result<String, KeyError> {
        let parts: Result<Vec<Part>, KeyError> =
            self.selectors.iter().map(|selector| part_of(selector, payload, hash_ignore)).collect();
        Ok(key_text(&parts?))
    }
}

impl fmt::Display for KeyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, selector) in self.selectors.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{selector}")?;
        }
        Ok(())
    }
}

/// One selected value.
#[derive(Debug, PartialEq)]
enum Part {
    Text(String),
    /// A number's literal text, `true` or `false`.
    Literal(String),
}

fn part_of(selector: &Selector, payload: &Payload<'_>, hash_ignore: &[Pointer]) -> Result<Part, KeyError> {
    let name = || selector.to_string();
    let text = match selector {
        Selector::Pointer(pointer) => return pointed_part(selector, pointer, payload),
        Selector::Header(header) | Selector::Extension(header) => {
            let mut values = payload.event().extensions.iter().filter(|(n, _)| n == header).map(|(_, v)| v);
            let first = values.next();
            if values.any(|other| Some(other) != first) {
                return Err(KeyError::Repeated { selector: name() });
            }
            first.cloned()
        }
        Selector::Attribute(attribute) => attribute.of(payload.event()).map(str::to_owned),
        Selector::PayloadHash => Some(format!("sha256:{}", hex(&payload_hash(payload, hash_ignore).digest))),
    };
    match text {
        None => Err(KeyError::Missing { selector: name() }),
        Some(text) if text.is_empty() => Err(KeyError::Blank { selector: name() }),
        Some(text) => Ok(Part::Text(text)),
    }
}

fn pointed_part(selector: &Selector, pointer: &Pointer, payload: &Payload<'_>) -> Result<Part, KeyError> {
    let name = || selector.to_string();
    let document = payload.json().map_err(|reason| KeyError::NotJson { selector: name(), reason })?;
    let value = match document.find(pointer) {
        Found::One(value) => value,
        Found::Missing => return Err(KeyError::Missing { selector: name() }),
        Found::Repeated => return Err(KeyError::Repeated { selector: name() }),
    };
    match value {
        Json::Text(text) if text.is_empty() => Err(KeyError::Blank { selector: name() }),
        Json::Text(text) => Ok(Part::Text(text.to_string())),
        Json::Number(literal) => Ok(Part::Literal((*literal).to_owned())),
        Json::Boolean(boolean) => Ok(Part::Literal(boolean.to_string())),
        Json::Null | Json::Array(_) | Json::Object(_) => {
            Err(KeyError::NotScalar { selector: name(), kind: value.kind() })
        }
    }
}

fn key_text(parts: &[Part]) -> String {
    if let [Part::Text(text)] = parts
        && !text.starts_with('[')
    {
        return text.clone();
    }
    let parts: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
            Part::Literal(literal) => literal.clone(),
        })
        .collect();
    format!("[{}]", parts.join(","))
}
