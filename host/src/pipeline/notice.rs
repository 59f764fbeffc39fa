//! Tells a webhook that an alert fires or is resolved: at least once, in order for each alert, with
//! growing waits between attempts. The queue is in the database, so any host goes on when one dies.
//! Knows nothing of the rules, nor of HTTP.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use wonce_core::delivery::Attempt;
use wonce_core::effect::Effect;
use wonce_core::name::{HandlerName, SinkName};
use wonce_core::relay::SendOutcome;
use wonce_core::retry::RetryPolicy;

use super::settle::draw_jitter;
use crate::sink::{OutgoingEffect, Sink};
use crate::store::Store;
use crate::store::alert::notice::Taken;
use crate::store::error::Error;
use crate::telemetry::metrics::{self, Told};

/// How often a host looks for notices.
pub const POLL: Duration = Duration::from_secs(1);
/// From the start of a request to its answer.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// Beyond the timeout, for writing down how it ended.
const LEASE_SPARE: Duration = Duration::from_secs(5);
/// About eight hours with the waits below; a receiver that is away for longer has others to tell it.
const MAX_ATTEMPTS: u32 = 100;
/// The longest wait between two attempts.
const CEILING: Duration = Duration::from_secs(300);
/// What stands for the sink's name, which no request shows.
const SINK: &str = "alert-webhook";

/// The service.
#[derive(Debug)]
pub struct Notices {
    pub store: Store,
    pub webhook: Arc<dyn Sink>,
    /// How often to look.
    pub poll: Duration,
    pub retry: RetryPolicy,
}

impl Notices {
    /// With the waits that a host has.
    #[must_use]
    pub fn new(store: Store, webhook: Arc<dyn Sink>) -> Self {
        let retry = RetryPolicy { max_attempts: MAX_ATTEMPTS, ceiling: CEILING, ..RetryPolicy::default() };
        Self { store, webhook, poll: POLL, retry }
    }

    /// Sends what is due until told to stop. A notice that is cut off is sent again.
    pub async fn run(self, stop: CancellationToken) {
        let mut pace = tokio::time::interval(self.poll);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(pace.tick()).await.is_some() {
            let Some(sent) = stop.run_until_cancelled(self.send_all()).await else { return };
            // The scout reports a database that is away.
            if let Err(error) = sent
                && !error.is_outage()
            {
                tracing::warn!(
                    error = error.explained(),
                    "cannot read the notices of alerts; the next look tries again"
                );
            }
        }
    }

    async fn send_all(&self) -> Result<(), Error> {
        while let Some(notice) = self.store.take_alert_notice(TIMEOUT + LEASE_SPARE).await? {
            self.send(&notice).await?;
        }
        Ok(())
    }

    async fn send(&self, notice: &Taken) -> Result<(), Error> {
        let outcome = match request(notice) {
            Ok(request) => tokio::time::timeout(TIMEOUT, self.webhook.send(&request)).await,
            Err(reason) => Ok(SendOutcome::Refused { reason }),
        };
        let (reason, wish) = match outcome {
            Ok(SendOutcome::Confirmed) => {
                metrics::alert_notice(Told::Sent);
                return self.store.forget_alert_notice(notice.id).await;
            }
            // A no can be a mistake in the configuration of either side, and people mend those.
            Ok(SendOutcome::Refused { reason } | SendOutcome::Unknown { reason }) => (reason, None),
            Ok(SendOutcome::Retry { after, reason }) => (reason, after),
            Err(_) => (format!("no answer within {} s", TIMEOUT.as_secs()), None),
        };
        let (alert, state, attempt) = (notice.alert.as_str(), notice.state.as_str(), notice.attempt);
        if attempt >= self.retry.max_attempts {
            metrics::alert_notice(Told::Dropped);
            tracing::error!(
                alert,
                state,
                attempt,
                reason,
                "the webhook was not told of an alert and the notice is given up; check [alert] webhook and its receiver"
            );
            return self.store.forget_alert_notice(notice.id).await;
        }
        metrics::alert_notice(Told::Failed);
        let wait = self.retry.delay(Attempt(attempt), wish, draw_jitter());
        tracing::warn!(
            alert,
            state,
            attempt,
            reason,
            wait_ms = wait.as_millis(),
            "the webhook was not told of an alert and is tried again; check [alert] webhook and its receiver"
        );
        self.store.postpone_alert_notice(notice, wait).await
    }
}

/// The notice in the form of an effect, so that it has the headers of one: its id under
/// `Idempotency-Key` and `ce-id`, its kind under `ce-type`.
fn request(notice: &Taken) -> Result<OutgoingEffect, String> {
    let handler = notice.alert.split('/').next().unwrap_or_default();
    let name = |what: &str, error: String| format!("{what} of the notice is no name: {error}");
    Ok(OutgoingEffect {
        handler: HandlerName::parse(handler).map_err(|e| name("the handler", e.to_string()))?,
        attempt: Attempt(notice.attempt),
        traceparent: None,
        effect: Effect {
            sink: SinkName::parse(SINK).map_err(|e| name("the sink", e.to_string()))?,
            effect_type: format!("wonce.alert.{}", notice.state),
            content_type: Some("application/json".to_owned()),
            data: notice.body.clone().into_bytes(),
            ordering_key: None,
            dedup_key: notice.name.clone(),
            delay: None,
            attributes: Vec::new(),
        },
    })
}
