//! Carries out operations: one item after the other of whatever operation is due, at the pace
//! that is in its row. Any host takes the next item of any operation, so that none depends on the
//! host where it was asked for.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use wonce_core::event::Event;
use wonce_core::name::{HandlerName, Key};
use wonce_core::operation::ItemState;

use super::parked::{ParkedError, ParkedReplay};
use super::wake::Wake;
use crate::store::operation::progress::{ItemDone, NotRouted, Step};
use crate::store::{Error, Store};
use crate::telemetry::metrics;

/// Between two looks that found nothing to do: another host may be at the item that is due. What
/// it costs of the pace is made up for, see `wonce.note_item`.
const SHORTEST_WAIT: Duration = Duration::from_millis(20);
/// How long an operation that somebody began may wait for its first item.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// After a failure of the database, or when the intake is busy.
const FAILURE_WAIT: Duration = Duration::from_secs(5);

/// The service, to be run until the host stops.
pub struct Operations {
    pub store: Store,
    pub wake: Wake,
    /// Routes parked events again.
    pub parked: Arc<dyn ParkedReplay>,
}

impl std::fmt::Debug for Operations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operations").field("store", &self.store).finish_non_exhaustive()
    }
}

impl Operations {
    /// Does items until `stop`. An item that has begun is finished.
    pub async fn run(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let wait = match self.step().await {
                Ok(Step::Item(_)) => continue,
                Ok(Step::Nothing) => LONGEST_WAIT,
                Ok(Step::Later(wait)) => wait.clamp(SHORTEST_WAIT, LONGEST_WAIT),
                Ok(Step::NotNow { reason }) => {
                    tracing::warn!(reason, "a parked event of an operation cannot be routed now");
                    FAILURE_WAIT
                }
                Err(error) => {
                    tracing::warn!(error = error.explained(), "cannot do the next item of an operation");
                    FAILURE_WAIT
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Does one item, if one is due.
    ///
    /// # Errors
    /// When the database refused or was out of reach; the item still waits.
    pub async fn step(&self) -> Result<Step, Error> {
        let parked = Arc::clone(&self.parked);
        let step = self.store.advance_operation(|event| route(parked, event)).await?;
        if let Step::Item(item) = &step {
            self.report(item);
        }
        Ok(step)
    }

    fn report(&self, item: &ItemDone) {
        tracing::debug!(
            operation = item.operation,
            dead_letter = item.dead_letter,
            state = item.state.as_str(),
            result = item.result,
            "did an item of an operation"
        );
        if item.state == ItemState::Succeeded
            && item.result == "accepted"
            && let Some(handler) = &item.handler
        {
            metrics::replays(handler.name.as_str(), 1);
            self.wake.due(handler.id);
        }
    }
}

async fn route(parked: Arc<dyn ParkedReplay>, event: Event) -> Result<Vec<(HandlerName, Key)>, NotRouted> {
    match parked.replay(event).await {
        Ok(made) => {
            made.iter().for_each(|delivery| metrics::replays(delivery.handler.as_str(), 1));
            Ok(made.into_iter().map(|delivery| (delivery.handler, delivery.key)).collect())
        }
        Err(ParkedError::StillParked { reason }) => Err(NotRouted::Still(reason)),
        Err(ParkedError::Unavailable { reason }) => Err(NotRouted::Unavailable(reason)),
    }
}
