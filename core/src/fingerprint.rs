//! Groups dead letters that died of the same thing: a stable hash of handler, reason, class,
//! code and the message without what varies from event to event. Knows nothing of where
//! groups are shown.

use crate::digest::hex_of;
use crate::fault::FaultClass;
use crate::name::HandlerName;

mod normal;

pub use normal::normalised;

/// Bytes of the hash that are kept: 16 hexadecimal characters.
const FINGERPRINT_BYTES: usize = 8;

/// What a group has in common.
#[derive(Debug, Clone, Copy)]
pub struct Death<'a> {
    /// `None` for an event that was parked before a handler was known.
    pub handler: Option<&'a HandlerName>,
    /// The word of a dead or park reason.
    pub reason: &'a str,
    /// `None` where no invocation failed: key conflicts and parked events.
    pub class: Option<FaultClass>,
    pub code: &'a str,
    pub message: &'a str,
}

/// The group of a dead letter: 16 lower-case hexadecimal characters.
#[must_use]
pub fn fingerprint(death: &Death<'_>) -> String {
    let handler = death.handler.map_or("", HandlerName::as_str);
    let class = death.class.map_or("", FaultClass::as_str);
    let message = normalised(death.message);
    hex_of(&["fingerprint-v1", handler, death.reason, class, death.code, &message], FINGERPRINT_BYTES)
}
