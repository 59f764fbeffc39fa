//! Counts what intake did, after its commit. Both ways in (senders who wait and rows enqueued
//! from SQL) count here, so that the numbers mean the same.

use wonce_core::route::ParkReason;

use crate::store::intake::{Landed, Recipient};
use crate::telemetry::metrics::{self, Found};

/// One delivery that was committed, or found to be there already.
pub(in crate::pipeline) fn landed(recipient: &Recipient, landed: Landed) {
    match landed {
        Landed::Accepted => metrics::accepted(&recipient.name, 1),
        Landed::Duplicate => metrics::duplicates(&recipient.name, Found::Early, 1),
        Landed::KeyConflict => metrics::key_conflict(&recipient.name),
    }
}

/// One event, or one handler's share of it, that is kept for people.
pub(in crate::pipeline) fn parked(reason: ParkReason) {
    metrics::parked(reason);
}

/// One event that nobody wants, where that is to be ignored.
pub(in crate::pipeline) fn ignored() {
    metrics::unrouted_ignored();
}
