//! One event's payload as key rules, ordering and hashing share it: read as JSON at most
//! once, and only if somebody asks. Knows nothing of rules.

use std::cell::OnceCell;

use crate::event::Event;
use crate::json::{Document, Error};

/// An event with its payload, read on demand. Cheap to make.
#[derive(Debug)]
pub struct Payload<'a> {
    event: &'a Event,
    document: OnceCell<Result<Document<'a>, Error>>,
}

impl<'a> Payload<'a> {
    #[must_use]
    pub fn of(event: &'a Event) -> Self {
        Self { event, document: OnceCell::new() }
    }

    #[must_use]
    pub fn event(&self) -> &'a Event {
        self.event
    }

    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        &self.event.data
    }

    /// The payload as JSON, whatever its content type says.
    ///
    /// # Errors
    /// When the bytes are not JSON.
    pub fn json(&self) -> Result<&Document<'a>, Error> {
        self.document.get_or_init(|| Document::read(&self.event.data)).as_ref().map_err(Clone::clone)
    }
}
