//! Brings events in that SQL callers enqueued with `wonce.enqueue`: looks for them, more rarely
//! the longer there are none, and routes them like any other event. Nobody hears a refusal here,
//! so what cannot become a delivery is parked.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use wonce_core::event::Event;
use wonce_core::name::SourceName;
use wonce_core::route::ParkReason;

use super::intake::{Routes, Unrouted, plan, report};
use super::wake::Wake;
use crate::store::intake::Landed;
use crate::store::submitted::{Fate, MoveLimits, Moved, SubmittedRow};
use crate::store::{Error, Store};

/// The look after one that found nothing comes after twice this.
const SHORTEST_WAIT: Duration = Duration::from_millis(100);
/// The longest a SQL caller waits for an idle host to look.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// After a failure of the database.
const FAILURE_WAIT: Duration = Duration::from_secs(5);
/// Rows of one transaction.
const MAX_ROWS: i64 = 256;
/// Data of one transaction, in bytes.
const MAX_BYTES: i64 = 16 << 20;

/// The mover, to be run until the host stops.
#[derive(Debug)]
pub struct SubmittedMover {
    pub store: Store,
    pub routes: Routes,
    pub wake: Wake,
    pub unrouted: Unrouted,
    /// The most bytes of one event's data.
    pub max_event_bytes: usize,
}

/// What one look found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    Nothing,
    Moved(usize),
}

impl SubmittedMover {
    /// Moves what is enqueued until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        let mut idle = SHORTEST_WAIT;
        while !stop.is_cancelled() {
            let wait = match self.look().await {
                Ok(Look::Moved(_)) => {
                    idle = SHORTEST_WAIT;
                    continue;
                }
                Ok(Look::Nothing) => {
                    idle = (idle * 2).min(LONGEST_WAIT);
                    idle
                }
                Err(error) => {
                    tracing::warn!(error = error.explained(), "cannot move enqueued events");
                    FAILURE_WAIT
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Moves what is enqueued, as far as one transaction goes.
    ///
    /// # Errors
    /// When the database refused or was out of reach; the rows are still there.
    pub async fn look(&self) -> Result<Look, Error> {
        let routes = self.routes.current();
        let decide = |row| match decode(row) {
            Ok(event) => Fate::Arrives(Box::new(plan::unheard(&routes, event, self.unrouted))),
            Err(reason) => Fate::Parked(ParkReason::Undecodable, reason),
        };
        let event_bytes = i32::try_from(self.max_event_bytes).unwrap_or(i32::MAX);
        let limits = MoveLimits { rows: MAX_ROWS, bytes: MAX_BYTES, event_bytes };
        match self.store.move_submitted(limits, decide).await? {
            Moved::NotOurs | Moved::Rows { count: 0, .. } => Ok(Look::Nothing),
            Moved::Rows { count, parked, landed } => {
                tracing::debug!(rows = count, parked = parked.len(), "moved enqueued events");
                parked.into_iter().for_each(report::parked);
                landed.iter().for_each(|(recipient, landed)| report::landed(recipient, *landed));
                let accepted = landed.iter().filter(|(_, landed)| *landed == Landed::Accepted);
                for handler in accepted.map(|(recipient, _)| recipient.id).collect::<BTreeSet<i64>>() {
                    self.wake.due(handler);
                }
                Ok(Look::Moved(count))
            }
        }
    }
}

/// Anybody who may call the function may write anything into the row.
fn decode(row: SubmittedRow) -> Result<Event, String> {
    let via = SourceName::parse(row.via.as_str())
        .map_err(|e| format!("via is \"{}\", which is not a source: {e}; leave it out", row.via))?;
    for (name, text) in [("event_type", &row.event_type), ("source", &row.source)] {
        if text.is_empty() {
            return Err(format!("{name} is empty; give wonce.enqueue a value for it"));
        }
    }
    Ok(Event {
        via,
        id: row.event_id.filter(|id| !id.is_empty()),
        source: row.source,
        event_type: row.event_type,
        subject: row.subject,
        time: None,
        content_type: Some(row.content_type),
        data_schema: None,
        traceparent: row.traceparent,
        extensions: pairs(row.extensions)?,
        data: row.data,
    })
}

fn pairs(flat: Vec<Option<String>>) -> Result<Vec<(String, String)>, String> {
    let refused = || "extensions are not name, value, name, value, ...; leave them out".to_owned();
    let flat: Vec<String> = flat.into_iter().collect::<Option<_>>().ok_or_else(refused)?;
    let (pairs, rest) = flat.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(refused());
    }
    Ok(pairs.iter().map(|[name, value]| (name.clone(), value.clone())).collect())
}
