//! One event as wonce keeps it: CloudEvents attributes and the payload byte for byte.
//! Knows nothing of how it was received (that is `source`) nor of who wants it (`route`).

use crate::name::SourceName;

/// Microseconds since 1970-01-01T00:00:00Z, the resolution of Postgres' timestamptz.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros(pub i64);

/// A CloudEvents 1.0 event, or a plain webhook dressed as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The wonce source that it came in by.
    pub via: SourceName,
    /// `None` when the sender gave no id: then a key rule must name one.
    pub id: Option<String>,
    /// CloudEvents `source`; for a plain webhook the name of the wonce source.
    pub source: String,
    pub event_type: String,
    pub subject: Option<String>,
    pub time: Option<Micros>,
    pub content_type: Option<String>,
    pub data_schema: Option<String>,
    /// W3C Trace Context, as received.
    pub traceparent: Option<String>,
    /// CloudEvents extension attributes and kept headers, names in lower case.
    pub extensions: Vec<(String, String)>,
    /// Byte for byte; never parsed and written again.
    pub data: Vec<u8>,
}

impl Event {
    /// The value of an extension attribute or kept header; `name` in lower case.
    #[must_use]
    pub fn extension(&self, name: &str) -> Option<&str> {
        self.extensions.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
}
