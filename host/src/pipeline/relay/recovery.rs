//! Finds effects whose host did not answer in time, and effects for sinks that nobody here knows.
//! Every host does this for all; knows nothing of which host it was.

use std::collections::BTreeSet;

use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use wonce_core::relay::{SendDecision, SendOutcome, decide_send};
use wonce_core::retry::Jitter;

use super::{RelaySettings, Wakes};
use crate::sink::Sinks;
use crate::store::outbox::LostEffect;
use crate::store::{Error, Store};
use crate::telemetry::metrics;

/// The loop.
pub(super) struct Recovery {
    store: Store,
    sinks: Sinks,
    settings: RelaySettings,
    wakes: Wakes,
    /// Sinks that were warned of; the store bounds how many it lists.
    warned: BTreeSet<String>,
}

impl Recovery {
    pub(super) fn new(store: Store, sinks: Sinks, settings: RelaySettings, wakes: Wakes) -> Self {
        Self { store, sinks, settings, wakes, warned: BTreeSet::new() }
    }

    pub(super) async fn run(mut self, stop: CancellationToken) {
        let mut tick = tokio::time::interval(self.settings.recover_every);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            // The senders report an outage of the database.
            if let Some(Err(error)) = stop.run_until_cancelled(self.once()).await {
                tracing::debug!(error = %error.explained(), "cannot look for effects of dead hosts");
            }
        }
    }

    async fn once(&mut self) -> Result<(), Error> {
        let recovered = self.store.recover_effects(&self.sinks.names(), |lost| self.decide(lost)).await?;
        for (lost, decision) in &recovered {
            if let Some(handler) = &lost.handler {
                metrics::effect(handler, &lost.sink, decision.state());
            }
            tracing::warn!(
                sink = %lost.sink, effect = lost.in_hand.id.0, attempt = lost.in_hand.attempt.0,
                dead_host = %lost.in_hand.host, result = decision.state().as_str(),
                "the host that sent an effect did not answer in time; its sink's policy decided"
            );
        }
        if !recovered.is_empty() {
            self.wakes.ring();
        }
        self.warn_of_unknown_sinks().await
    }

    fn decide(&self, lost: &LostEffect) -> SendDecision {
        let reason = format!("host {} did not answer before its deadline", lost.in_hand.host);
        let Some(registered) = self.sinks.get(&lost.sink) else {
            return SendDecision::Hold { reason };
        };
        let settings = &registered.settings;
        let outcome = SendOutcome::Unknown { reason };
        let jitter = Jitter(rand::random());
        decide_send(outcome, settings.unknown, lost.doubt, lost.in_hand.attempt, &settings.retry, jitter)
    }

    async fn warn_of_unknown_sinks(&mut self) -> Result<(), Error> {
        for sink in self.store.sinks_with_planned_effects().await? {
            if !self.sinks.knows(&sink) && self.warned.insert(sink.clone()) {
                tracing::warn!(
                    sink,
                    "effects wait for a sink that this host does not know; they stay planned: configure the sink here or run a host that has it"
                );
            }
        }
        Ok(())
    }
}
