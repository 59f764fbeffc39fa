//! Keeps the database gauges fresh: reads bounded counts from the store every few seconds. Knows
//! nothing of the statements; an outage leaves the old values, whose age is a metric of its own.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::metrics::{self, names::COUNT_CAP};
use crate::store::gauges::OPEN_STATES;
use crate::store::{Error, Store};

/// How often the database is asked.
pub const REFRESH_EVERY: Duration = Duration::from_secs(5);

/// The service that refreshes the gauges.
#[derive(Debug)]
pub struct Gauges {
    store: Store,
    /// Sinks shown so far: one that has nothing open any more must fall to zero.
    sinks: BTreeSet<String>,
}

impl Gauges {
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self { store, sinks: BTreeSet::new() }
    }

    /// Refreshes until told to stop.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut tick = tokio::time::interval(REFRESH_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut out_of_reach = false;
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            match stop.run_until_cancelled(self.refresh()).await {
                Some(Err(error)) if !out_of_reach => {
                    out_of_reach = true;
                    tracing::warn!(error = %error.explained(), "cannot refresh the database gauges; they keep their last values");
                }
                Some(Err(_)) | None => {}
                Some(Ok(())) => out_of_reach = false,
            }
        }
    }

    /// Reads and sets them once.
    ///
    /// # Errors
    /// When the database does not answer; then no gauge has changed its age.
    pub async fn refresh(&mut self) -> Result<(), Error> {
        let handlers = self.store.handler_counts(COUNT_CAP).await?;
        let effects = self.store.outbox_counts(COUNT_CAP).await?;
        handlers.iter().for_each(metrics::handler_gauges);
        for sink in &self.sinks {
            OPEN_STATES.into_iter().for_each(|state| metrics::outbox_gauge(sink, state, 0));
        }
        for count in effects {
            metrics::outbox_gauge(&count.sink, count.state, count.effects);
            self.sinks.insert(count.sink);
        }
        metrics::gauges_read_at(jiff::Timestamp::now());
        Ok(())
    }
}
