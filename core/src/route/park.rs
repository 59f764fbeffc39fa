//! Why an event could not become a delivery. Knows nothing of where parked events are kept.

use std::fmt;

/// The one word in code, tables, API, metrics and docs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ParkReason {
    /// The bytes are no event.
    Undecodable,
    /// No rule gives a key or a declared ordering key.
    NoKey,
    /// The payload is larger than the limit.
    Oversize,
    /// No handler wants it.
    Unroutable,
}

impl ParkReason {
    pub const ALL: [ParkReason; 4] =
        [ParkReason::Undecodable, ParkReason::NoKey, ParkReason::Oversize, ParkReason::Unroutable];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ParkReason::Undecodable => "undecodable",
            ParkReason::NoKey => "no_key",
            ParkReason::Oversize => "oversize",
            ParkReason::Unroutable => "unroutable",
        }
    }
}

impl fmt::Display for ParkReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
