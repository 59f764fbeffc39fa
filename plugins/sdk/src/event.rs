//! Reading an event. The record itself is the contract's; here are the questions a handler asks of it.

use serde::de::DeserializeOwned;

use crate::time::Timestamp;
use crate::{Event, Failure, rejected};

impl Event {
    /// The payload as JSON.
    ///
    /// # Errors
    /// [`rejected`] with the code `undecodable-payload` when the payload is not JSON of this shape: a fault of the
    /// producer, so the event is a dead letter at once.
    pub fn json<T: DeserializeOwned>(&self) -> crate::Result<T> {
        serde_json::from_slice(&self.data).map_err(Failure::from)
    }

    /// The payload as text.
    ///
    /// # Errors
    /// [`rejected`] with the code `undecodable-payload` when the payload is not UTF-8.
    pub fn text(&self) -> crate::Result<&str> {
        str::from_utf8(&self.data)
            .map_err(|error| rejected("undecodable-payload", format!("the payload is not UTF-8: {error}")))
    }

    /// A CloudEvents extension attribute or kept transport header. Names are lower case.
    pub fn extension(&self, name: &str) -> Option<&str> {
        self.extensions.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// When the event happened, if its source said so.
    pub fn happened_at(&self) -> Option<Timestamp> {
        self.time.map(Timestamp::from_micros)
    }
}
