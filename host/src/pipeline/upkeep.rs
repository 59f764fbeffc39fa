//! What a host does on the side: says that it is alive, and keeps small what must not grow.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::lineup::Lineup;
use crate::store::Store;
use crate::store::host_boot::HEARTBEAT;

/// Heartbeats between two rounds of upkeep.
const BEATS_PER_ROUND: u32 = 6;

/// The service.
#[derive(Debug)]
pub struct Upkeep {
    pub store: Store,
    pub boot: Uuid,
    pub lineup: Lineup,
}

impl Upkeep {
    /// Beats and tidies until `stop`. A database that is away is the scout's to report.
    pub async fn run(self, stop: CancellationToken) {
        let mut ticks = tokio::time::interval(HEARTBEAT);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut beats: u32 = 0;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                _ = ticks.tick() => {}
            }
            let beaten = self.store.beat(self.boot).await;
            if beaten.is_ok() && beats.is_multiple_of(BEATS_PER_ROUND) {
                self.tidy().await;
            }
            beats = beats.wrapping_add(1);
        }
    }

    async fn tidy(&self) {
        let retentions = self.lineup.retentions();
        let round = tokio::time::timeout(Duration::from_secs(60), self.store.upkeep(&retentions)).await;
        match round {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(
                error = error.explained(),
                "a round of upkeep failed; the next one tries again"
            ),
            Err(_) => {
                tracing::warn!("a round of upkeep took over 60 s and was given up; the next one tries again")
            }
        }
    }
}
