//! What is to be written for one event: its deliveries, and the handlers for which it is parked.
//! Pure. Knows nothing of commits.

use wonce_core::event::Event;
use wonce_core::route::{ParkReason, Routed, route};

use super::Unrouted;
use super::routes::Table;
use crate::source::NotAccepted;
use crate::store::intake::{Arrival, NewDelivery, NewParked};

/// An event with its fate. Empty when nobody wants it and the host ignores such events.
pub(crate) type Plan = Arrival;

/// Why the sender keeps the event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unfit {
    Unrouted { event_type: String, via: String },
    NoKey { reasons: Vec<String> },
}

impl Unfit {
    /// As the sender hears it; `index` is the event's place in the request.
    pub(super) fn not_accepted(self, index: usize) -> NotAccepted {
        match self {
            Unfit::Unrouted { event_type, via } => NotAccepted::Unrouted { index, event_type, via },
            Unfit::NoKey { reasons } => NotAccepted::NoKey { index, reasons },
        }
    }
}

impl Plan {
    pub(super) fn is_empty(&self) -> bool {
        self.deliveries.is_empty() && self.parked.is_empty()
    }
}

/// Plans an event whose sender hears a refusal, and keeps the event then.
///
/// # Errors
/// When no handler can take it.
pub(crate) fn heard(table: &Table, event: Event, unrouted: Unrouted) -> Result<Plan, Unfit> {
    let plan = routed(table, event);
    match (plan.deliveries.is_empty(), plan.parked.is_empty(), unrouted) {
        (false, _, _) => Ok(plan),
        (true, false, _) => {
            Err(Unfit::NoKey { reasons: plan.parked.into_iter().map(|parked| parked.message).collect() })
        }
        (true, true, Unrouted::Reject) => {
            Err(Unfit::Unrouted { event_type: plan.event.event_type, via: plan.event.via.into() })
        }
        (true, true, Unrouted::Park) => Ok(parked_whole(plan)),
        (true, true, Unrouted::Ignore) => Ok(plan),
    }
}

/// Plans an event that has no sender to refuse it to: what no handler can take is parked.
pub(crate) fn unheard(table: &Table, event: Event, unrouted: Unrouted) -> Plan {
    let plan = routed(table, event);
    match unrouted {
        Unrouted::Reject | Unrouted::Park if plan.is_empty() => parked_whole(plan),
        Unrouted::Reject | Unrouted::Park | Unrouted::Ignore => plan,
    }
}

fn routed(table: &Table, event: Event) -> Plan {
    let (mut deliveries, mut parked) = (Vec::new(), Vec::new());
    for routed in route(&table.routes, &event) {
        match routed {
            Routed::Deliver(deliverable) => {
                deliveries.extend(table.recipient(deliverable.handler).map(|recipient| NewDelivery {
                    recipient,
                    key: deliverable.key,
                    key_rule: deliverable.rule,
                    ordering_key: deliverable.ordering_key,
                    hash: deliverable.payload_hash,
                }));
            }
            Routed::Park(unable) => parked.push(NewParked {
                recipient: table.recipient(unable.handler),
                reason: unable.reason,
                message: unable.detail,
            }),
        }
    }
    Plan { event, deliveries, parked }
}

/// The plan of an event that nobody wants, kept for people.
fn parked_whole(mut plan: Plan) -> Plan {
    let message = format!(
        "no handler wants events of type \"{}\" from source \"{}\"; deploy one that does and replay",
        plan.event.event_type, plan.event.via
    );
    plan.parked.push(NewParked { recipient: None, reason: ParkReason::Unroutable, message });
    plan
}

#[cfg(test)]
mod tests;
