//! Looks every poll interval, once for the whole host, which handlers have something due, and
//! wakes their workers. Hints from intake make it faster; this makes it certain: retries come due,
//! other hosts accept, other hosts die.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::dispatch::Shared;
use super::lineup::Lineup;

/// Connections that no invocation used for this long are closed.
const IDLE_CONNECTION_LIMIT: Duration = Duration::from_secs(60);
/// A claim within this time is "lately".
const CLAIMED_LATELY: Duration = Duration::from_secs(30);
/// A look older than this many poll intervals is no knowledge any more.
const STALE_POLLS: u32 = 10;

/// The service.
#[derive(Debug)]
pub struct Scout {
    pub shared: Arc<Shared>,
    /// This host's handlers.
    pub lineup: Lineup,
    pub poll_interval: Duration,
}

/// What readiness is judged by.
#[derive(Debug, Default)]
pub struct Vitals(Mutex<Signs>);

#[derive(Debug, Default, Clone, Copy)]
struct Signs {
    last_claim: Option<Instant>,
    last_look: Option<(Instant, Duration, usize)>,
}

impl Vitals {
    pub(super) fn claimed(&self) {
        self.update(|signs| signs.last_claim = Some(Instant::now()));
    }

    fn looked(&self, poll_interval: Duration, due: usize) {
        self.update(|signs| signs.last_look = Some((Instant::now(), poll_interval, due)));
    }

    fn update(&self, change: impl FnOnce(&mut Signs)) {
        change(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }

    /// Ready means: claimed lately, or nothing is due. Otherwise the reason why not.
    ///
    /// # Errors
    /// The reason, for the one who asks.
    pub fn ready(&self) -> Result<(), String> {
        let signs = *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some((at, interval, due)) = signs.last_look else {
            return Err("the database was not looked at yet".to_owned());
        };
        if at.elapsed() > interval * STALE_POLLS {
            return Err(format!("the last look at the database is {} s old", at.elapsed().as_secs()));
        }
        let claimed_lately = signs.last_claim.is_some_and(|at| at.elapsed() < CLAIMED_LATELY);
        if due > 0 && !claimed_lately {
            return Err(format!("{due} handlers have due deliveries and none was claimed lately"));
        }
        Ok(())
    }
}

impl Scout {
    /// Looks until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        let mut failing_since: Option<Instant> = None;
        loop {
            let (busy, quiet) = self.by_claims();
            match self.shared.store.due_handlers(&quiet).await {
                Ok(due) => {
                    if let Some(since) = failing_since.take() {
                        tracing::info!(outage_ms = since.elapsed().as_millis(), "the database answers again");
                    }
                    self.shared.vitals.looked(self.poll_interval, busy + due.len());
                    due.into_iter().for_each(|handler| self.shared.wake.due(handler));
                }
                Err(error) if failing_since.is_none() => {
                    failing_since = Some(Instant::now());
                    tracing::error!(
                        error = error.explained(),
                        "cannot look for due deliveries; will keep trying"
                    );
                }
                Err(_) => {}
            }
            self.shared.pool.close_idle(IDLE_CONNECTION_LIMIT);
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(self.poll_interval) => {}
            }
        }
    }

    /// How many handlers go on claiming by themselves, and the others.
    fn by_claims(&self) -> (usize, Vec<i64>) {
        let handlers = self.lineup.handlers();
        let quiet = handlers.iter().filter(|handler| !handler.turns.go_on());
        let quiet: Vec<i64> = quiet.map(|handler| handler.access.id).collect();
        (handlers.len() - quiet.len(), quiet)
    }
}
