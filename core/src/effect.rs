//! One external effect, as the guest emits it and the outbox keeps it. Knows nothing of
//! the sink that will carry it out.

use std::time::Duration;

use crate::digest::hex_of;
use crate::name::{HandlerName, Key, OrderingKey, SinkName};

/// The longest dedup key, in bytes: the least that common receivers take.
pub const MAX_DEDUP_KEY_BYTES: usize = 255;
/// Bytes of the hash in a derived dedup key.
const DERIVED_HASH_BYTES: usize = 16;

/// What the guest asked for, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    pub sink: SinkName,
    pub effect_type: String,
    pub content_type: Option<String>,
    pub data: Vec<u8>,
    pub ordering_key: Option<OrderingKey>,
    /// The stable idempotency key under which it is delivered.
    pub dedup_key: String,
    /// Not before this long after the commit.
    pub delay: Option<Duration>,
    pub attributes: Vec<(String, String)>,
}

/// Where an effect stands. The one word in code, tables, API, metrics and docs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EffectState {
    /// Committed, waiting for its turn.
    Planned,
    /// A host is sending it, or died while it did.
    Sending,
    /// The sink said yes.
    Confirmed,
    /// The sink said no for good, or every attempt was used up.
    Refused,
    /// It may have arrived: the answer never came, and its sink's policy holds it for people.
    Unknown,
}

impl EffectState {
    pub const ALL: [EffectState; 5] = [
        EffectState::Planned,
        EffectState::Sending,
        EffectState::Confirmed,
        EffectState::Refused,
        EffectState::Unknown,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            EffectState::Planned => "planned",
            EffectState::Sending => "sending",
            EffectState::Confirmed => "confirmed",
            EffectState::Refused => "refused",
            EffectState::Unknown => "unknown",
        }
    }

    /// The state of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// The dedup key of an effect for which the guest gave none, e.g.
/// `payments-0-4f5c...`. It depends on nothing that a retry or a replay changes, so both
/// emit the same one; `ordinal` counts the invocation's effects from 0. Safe in any header.
#[must_use]
pub fn derived_dedup_key(handler: &HandlerName, key: &Key, ordinal: u32) -> String {
    let number = ordinal.to_string();
    let hash = hex_of(&["effect-v1", handler.as_str(), key.as_str(), &number], DERIVED_HASH_BYTES);
    format!("{handler}-{number}-{hash}")
}
