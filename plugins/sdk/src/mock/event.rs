//! Events and deliveries as a test needs them: whole, with one thing to say.

use serde::Serialize;

use crate::{Delivery, Event};

/// When a test's events are accepted, and what its clock says: 2026-01-01T00:00:00Z.
pub(super) const NOW: i64 = 1_767_225_600_000_000;

/// An event of this type with a JSON payload. Change its other fields as they matter.
///
/// # Panics
/// When serde cannot write the payload.
pub fn event<T: Serialize + ?Sized>(kind: &str, payload: &T) -> Event {
    let data = serde_json::to_vec(payload).unwrap_or_else(|error| panic!("the test's payload: {error}"));
    event_bytes(kind, "application/json", data)
}

/// An event of this type with any payload.
pub fn event_bytes(kind: &str, content_type: &str, data: impl Into<Vec<u8>>) -> Event {
    Event {
        id: "e-1".to_owned(),
        source: "/test".to_owned(),
        type_: kind.to_owned(),
        subject: None,
        time: Some(NOW),
        datacontenttype: Some(content_type.to_owned()),
        dataschema: None,
        extensions: Vec::new(),
        data: data.into(),
    }
}

/// The first of eight attempts at the key `e-1`.
pub fn delivery() -> Delivery {
    Delivery {
        key: "e-1".to_owned(),
        ordering_key: None,
        attempt: 1,
        max_attempts: 8,
        round: 0,
        received: NOW,
        traceparent: None,
        facts: Vec::new(),
    }
}
