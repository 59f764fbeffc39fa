//! The two shapes of a handler, callable as one.

use crate::{Delivery, Event, Result};

/// A function that `#[wonce::handler]` takes.
pub trait Handler<Shape> {
    /// One call.
    fn handle(self, event: Event, delivery: Delivery) -> Result;
}

/// A handler that wants the event.
#[derive(Debug)]
pub struct OfEvent;

/// A handler that wants the delivery too.
#[derive(Debug)]
pub struct OfEventAndDelivery;

impl<F: FnOnce(Event) -> Result> Handler<OfEvent> for F {
    fn handle(self, event: Event, _: Delivery) -> Result {
        self(event)
    }
}

impl<F: FnOnce(Event, Delivery) -> Result> Handler<OfEventAndDelivery> for F {
    fn handle(self, event: Event, delivery: Delivery) -> Result {
        self(event, delivery)
    }
}
