//! Which handlers want an event, and under which key each gets it. Pure: the routes are
//! handed in. Knows nothing of intake, storage or HTTP answers.

use crate::delivery::PayloadHash;
use crate::event::Event;
use crate::hash::payload_hash;
use crate::key::{KeyError, KeyRule, native_key};
use crate::name::{HandlerName, Key, OrderingKey};
use crate::payload::Payload;
use crate::pointer::Pointer;

mod park;
mod pattern;

pub use park::ParkReason;
pub use pattern::{Error as PatternError, Pattern};

/// Some of the events that a handler wants, and their identity. An empty list of patterns
/// does not restrict.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subscription {
    /// Patterns of the CloudEvents type.
    pub types: Vec<Pattern>,
    /// Patterns of the wonce source that the event came in by.
    pub sources: Vec<Pattern>,
    /// `None` is the source's native id.
    pub key: Option<KeyRule>,
    /// `None` is no order.
    pub order_by: Option<KeyRule>,
    /// Volatile fields that the payload hash leaves out.
    pub hash_ignore: Vec<Pointer>,
}

/// A handler and what it wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub handler: HandlerName,
    pub subscriptions: Vec<Subscription>,
}

/// What becomes of an event for one handler that wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Routed {
    Deliver(Deliverable),
    Park(Parked),
}

/// All that intake needs to write a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deliverable {
    pub handler: HandlerName,
    pub key: Key,
    /// Which rule made the key.
    pub rule: String,
    pub ordering_key: Option<OrderingKey>,
    pub payload_hash: PayloadHash,
}

/// Why a handler that wants an event cannot have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    pub handler: HandlerName,
    pub reason: ParkReason,
    /// For people: the thing, the reason and the next step.
    pub detail: String,
}

/// Answers for each handler that wants the event; nobody wants it when the answer is empty.
/// A handler gets an event at most once: its first matching subscription counts.
#[must_use]
pub fn route(routes: &[Route], event: &Event) -> Vec<Routed> {
    let payload = Payload::of(event);
    let wanted = |route: &Route| {
        let subscription = route.subscriptions.iter().find(|s| s.wants(event))?;
        Some(subscription.routed(&route.handler, &payload))
    };
    routes.iter().filter_map(wanted).collect()
}

impl Subscription {
    /// Whether type and source match.
    #[must_use]
    pub fn wants(&self, event: &Event) -> bool {
        let any = |patterns: &[Pattern], text: &str| {
            patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(text))
        };
        any(&self.types, &event.event_type) && any(&self.sources, event.via.as_str())
    }

    fn routed(&self, handler: &HandlerName, payload: &Payload<'_>) -> Routed {
        match self.deliverable(handler, payload) {
            Ok(deliverable) => Routed::Deliver(deliverable),
            Err(detail) => {
                Routed::Park(Parked { handler: handler.clone(), reason: ParkReason::NoKey, detail })
            }
        }
    }

    fn deliverable(&self, handler: &HandlerName, payload: &Payload<'_>) -> Result<Deliverable, String> {
        let refused = |what: &str, error: KeyError| format!("no {what} for handler '{handler}': {error}");
        let explained = match &self.key {
            Some(rule) => rule.key_of(payload, &self.hash_ignore),
            None => native_key(payload),
        };
        let explained = explained.map_err(|error| refused("key", error))?;
        let ordering_key = self.order_by.as_ref().map(|r| r.ordering_key_of(payload, &self.hash_ignore));
        let ordering_key = ordering_key.transpose().map_err(|error| refused("ordering key", error))?;
        Ok(Deliverable {
            handler: handler.clone(),
            key: explained.key,
            rule: explained.rule,
            ordering_key,
            payload_hash: payload_hash(payload, &self.hash_ignore),
        })
    }
}
