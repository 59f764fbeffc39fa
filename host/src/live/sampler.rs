//! The services that look at the database in the name of the fleet. Every host stands for each
//! look; the database elects one, so that the numbers are taken once and all hosts show the same.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wonce_api::live::{Alert, AlertState};

use super::hub::Hub;
use crate::store::alert::Tell;
use crate::store::alert::notice::MAX_NOTICES;
use crate::store::gauges::Cap;
use crate::store::{Error, Store};
use crate::telemetry::metrics;
use crate::telemetry::metrics::names::COUNT_CAP;

/// The pace of gauges.
const GAUGES_EVERY: Duration = Duration::from_secs(2);
/// A sample that is nearly due is due: the hosts' clocks do not beat together.
const GAUGES_PAUSE: Duration = Duration::from_millis(1_500);
/// How often a host asks whether the books are to be counted.
const BOOKS_ASKED_EVERY: Duration = Duration::from_secs(10);
/// A look that hangs is given up; no statement in it may take so long.
const LOOK_LIMIT: Duration = Duration::from_secs(60);

/// See the module.
#[derive(Debug, Clone)]
pub struct Sampler {
    pub store: Store,
    pub boot: Uuid,
    /// Knows what all hosts counted lately.
    pub live: Arc<Hub>,
    pub tell: Tell,
}

impl Sampler {
    /// Samples gauges, and holds the alert rules against each sample, until told to stop.
    pub async fn gauges(self, stop: CancellationToken) {
        again("gauges", GAUGES_EVERY, stop, || self.gauges_and_alerts()).await;
    }

    async fn gauges_and_alerts(&self) -> Result<bool, Error> {
        let is_sampled = self.store.sample_gauges(self.boot, Cap(COUNT_CAP), GAUGES_PAUSE).await?;
        if is_sampled {
            let recently = |handler: &str, window| self.live.recent(handler, window);
            let judged = self.store.judge_alerts(self.boot, &recently, self.tell).await?;
            judged.changes.iter().for_each(log);
            if judged.dropped > 0 {
                metrics::alert_notices_dropped(judged.dropped);
                tracing::error!(
                    dropped = judged.dropped,
                    limit = MAX_NOTICES,
                    "too many notices of alerts wait for the webhook and the oldest were dropped; check [alert] webhook and its receiver"
                );
            }
        }
        Ok(is_sampled)
    }

    /// Counts the books until told to stop.
    pub async fn books(self, stop: CancellationToken) {
        again("books", BOOKS_ASKED_EVERY, stop, || self.store.sample_books(self.boot)).await;
    }
}

/// The one line of each change, by the host that found it.
fn log(alert: &Alert) {
    let (handler, rule) = (alert.handler.as_str(), alert.rule.as_str());
    let (value, limit) = (alert.value, alert.limit);
    match alert.state {
        AlertState::Firing => {
            tracing::warn!(handler, alert = rule, value, limit, reason = alert.text, "an alert fires");
        }
        AlertState::Resolved => {
            tracing::info!(handler, alert = rule, value, limit, reason = alert.text, "an alert is resolved");
        }
    }
}

async fn again<F>(what: &str, every: Duration, stop: CancellationToken, look: impl Fn() -> F)
where
    F: Future<Output = Result<bool, Error>>,
{
    let mut pace = tokio::time::interval(every);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut failed = false;
    while stop.run_until_cancelled(pace.tick()).await.is_some() {
        let Some(looked) = stop.run_until_cancelled(tokio::time::timeout(LOOK_LIMIT, look())).await else {
            return;
        };
        match looked {
            Ok(Ok(_)) => failed = false,
            // The scout reports a database that is away.
            Ok(Err(error)) if !failed && !error.is_outage() => {
                failed = true;
                tracing::warn!(what, error = %error.explained(), "cannot sample the database; the last numbers stay, with their age");
            }
            Ok(Err(_)) | Err(_) => {}
        }
    }
}
