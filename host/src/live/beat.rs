//! The service that ticks: takes what this host counted, tells the others, hears them, and makes a
//! frame of it. When the database is away the stream goes on with what this host knows of itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::hub::{Hub, TICK};
use crate::store::Store;
use crate::store::tick::{Heard, KEPT_TICKS};
use crate::telemetry::metrics::tick::Ticker;

/// The others are given up for this frame when they are not heard in this time.
const EXCHANGE_LIMIT: Duration = Duration::from_millis(1_500);
/// Ticks are read from so long before the last look: they are committed out of order.
const OVERLAP_SECONDS: f64 = 3.0;
/// Beats between two rounds of tidying.
const BEATS_PER_TIDY: u64 = 60;

/// See the module.
#[derive(Debug)]
pub struct Beat {
    store: Store,
    boot: Uuid,
    hub: Arc<Hub>,
    ticker: Ticker,
    /// When the others were heard last.
    heard: Option<Instant>,
    started: Instant,
    last: Instant,
}

impl Beat {
    #[must_use]
    pub fn new(store: Store, boot: Uuid, hub: Arc<Hub>) -> Self {
        let now = Instant::now();
        Self { store, boot, hub, ticker: Ticker::new(boot.to_string()), heard: None, started: now, last: now }
    }

    /// Ticks until told to stop, and once more: the others learn the last counts.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut pace = tokio::time::interval(TICK);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut beats: u64 = 0;
        while stop.run_until_cancelled(pace.tick()).await.is_some() {
            self.beat().await;
            if beats.is_multiple_of(BEATS_PER_TIDY) {
                self.tidy().await;
            }
            beats += 1;
        }
        self.beat().await;
    }

    async fn beat(&mut self) {
        let now = Instant::now();
        let since_last = now.duration_since(self.last).as_secs_f64();
        self.last = now;
        let away = now.duration_since(self.heard.unwrap_or(self.started)).as_secs_f64();
        let is_away = away > TICK.as_secs_f64() * 2.0;
        let tick = self.ticker.take(is_away.then_some(away));
        let heard = match serde_json::to_string(&tick) {
            Ok(body) => self.exchange(tick.seq, &body).await,
            Err(error) => {
                tracing::error!(error = %error, "this host's tick has no JSON form");
                None
            }
        };
        if heard.is_some() {
            self.heard = Some(Instant::now());
        }
        self.hub.beat(tick, heard, since_last);
    }

    async fn exchange(&self, seq: u64, body: &str) -> Option<Heard> {
        let kept = Duration::from_secs(KEPT_TICKS.unsigned_abs()).as_secs_f64();
        let seconds = self.heard.map_or(kept, |heard| heard.elapsed().as_secs_f64() + OVERLAP_SECONDS);
        let since = self.hub.since(seconds.min(kept));
        let exchange = self.store.exchange_ticks(self.boot, Some((seq, body)), since);
        match tokio::time::timeout(EXCHANGE_LIMIT, exchange).await {
            Ok(Ok(heard)) => Some(heard),
            // The scout reports a database that is away.
            Ok(Err(error)) => {
                tracing::debug!(error = %error.explained(), "cannot exchange ticks");
                None
            }
            Err(_) => {
                tracing::debug!(limit_ms = EXCHANGE_LIMIT.as_millis(), "cannot exchange ticks in time");
                None
            }
        }
    }

    async fn tidy(&self) {
        if let Ok(Err(error)) = tokio::time::timeout(EXCHANGE_LIMIT, self.store.forget_ticks()).await {
            tracing::debug!(error = %error.explained(), "cannot forget the ticks of hosts that are gone");
        }
    }
}
