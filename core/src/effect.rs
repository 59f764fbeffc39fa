//! One external effect, as the guest emits it and the outbox keeps it. Knows nothing of
//! the sink that will carry it out.

use std::time::Duration;

use crate::name::{OrderingKey, SinkName};

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
}
