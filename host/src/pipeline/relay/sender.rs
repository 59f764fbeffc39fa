//! One sink's way out: claim as many effects as there is room for, send each in a task of its
//! own, pause when there is nothing. Knows nothing of other sinks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use wonce_core::name::SinkName;

use super::RelaySettings;
use super::pause::Pause;
use super::send::{Courier, Freed};
use crate::sink::Registered;
use crate::store::outbox::{EffectClaim, Turn};
use crate::store::{Error, Store};

/// The longest pause while the database is out of reach.
const OUTAGE_PAUSE: Duration = Duration::from_secs(5);

/// The loop of one sink.
pub(super) struct Sender {
    courier: Arc<Courier>,
    wake: Arc<Notify>,
    drain: Duration,
    idle: Pause,
    outage: Pause,
    out_of_reach: bool,
    turn: Turn,
    behind: String,
}

/// What a look for effects came to.
enum Look {
    Found,
    /// Not all ordering keys were walked over yet.
    Unfinished,
    Nothing,
    Failed,
}

impl Sender {
    pub(super) fn new(
        store: Store,
        name: SinkName,
        registered: Registered,
        settings: RelaySettings,
        wake: Arc<Notify>,
    ) -> Self {
        Self {
            wake,
            drain: settings.drain,
            idle: Pause::new(settings.poll_floor, settings.poll_ceiling),
            outage: Pause::new(settings.poll_floor, OUTAGE_PAUSE),
            out_of_reach: false,
            turn: Turn::Ordered,
            behind: String::new(),
            courier: Arc::new(Courier { store, name, registered, settings }),
        }
    }

    pub(super) async fn run(mut self, stop: CancellationToken) {
        let mut in_flight = JoinSet::new();
        while !stop.is_cancelled() {
            while let Some(ended) = in_flight.try_join_next() {
                self.reap(ended);
            }
            let room = self.courier.registered.settings.concurrency.get() - in_flight.len();
            if room == 0 {
                if let Some(Some(ended)) = stop.run_until_cancelled(in_flight.join_next()).await {
                    self.reap(ended);
                }
                continue;
            }
            match self.look(room, &mut in_flight).await {
                Look::Found => self.idle.reset(),
                Look::Unfinished => {}
                Look::Nothing => {
                    let pause = self.idle.take();
                    self.rest(pause, &mut in_flight, &stop).await;
                }
                Look::Failed => {
                    let pause = self.outage.take();
                    stop.run_until_cancelled(tokio::time::sleep(pause)).await;
                }
            }
        }
        self.drain(in_flight).await;
    }

    /// Claims up to `room` effects and starts sending them. Not cut off by a stop: a claim that
    /// was committed must be sent, or its effects wait for their deadline.
    async fn look(&mut self, room: usize, in_flight: &mut JoinSet<Freed>) -> Look {
        let claimed_at = Instant::now();
        let claim = EffectClaim {
            sink: &self.courier.name,
            host: self.courier.settings.host,
            limit: room,
            deadline: self.courier.deadline(),
            turn: self.turn,
            behind: &self.behind,
        };
        let claims = match self.courier.store.claim_effects(&claim).await {
            Ok(claims) => claims,
            Err(error) => return self.failed(&error),
        };
        self.answered();
        self.turn = match self.turn {
            Turn::Ordered => Turn::Unordered,
            Turn::Unordered => Turn::Ordered,
        };
        self.behind = claims.behind;
        let found = !claims.effects.is_empty();
        for claimed in claims.effects {
            in_flight.spawn(Arc::clone(&self.courier).send(claimed, claimed_at));
        }
        match (found, self.behind.is_empty()) {
            (true, _) => Look::Found,
            (false, false) => Look::Unfinished,
            (false, true) => Look::Nothing,
        }
    }

    /// Waits for the pause's end, a hint, or an ordering key that became free.
    async fn rest(&mut self, pause: Duration, in_flight: &mut JoinSet<Freed>, stop: &CancellationToken) {
        let pause = tokio::time::sleep(pause);
        tokio::pin!(pause);
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = &mut pause => return,
                () = self.wake.notified() => return self.idle.reset(),
                Some(ended) = in_flight.join_next() => {
                    if self.reap(ended) == Freed::OrderingKey {
                        return self.idle.reset();
                    }
                }
            }
        }
    }

    fn reap(&self, ended: Result<Freed, JoinError>) -> Freed {
        ended.unwrap_or_else(|error| {
            tracing::error!(sink = %self.courier.name, error = %error, "sending an effect broke off; it waits for its deadline");
            Freed::Nothing
        })
    }

    fn failed(&mut self, error: &Error) -> Look {
        if !self.out_of_reach {
            tracing::warn!(sink = %self.courier.name, error = %error.explained(), "cannot claim effects; the relay keeps trying");
        }
        self.out_of_reach = true;
        Look::Failed
    }

    fn answered(&mut self) {
        if self.out_of_reach {
            tracing::info!(sink = %self.courier.name, "effects are claimed again");
            self.out_of_reach = false;
            self.outage.reset();
        }
    }

    /// What is not settled in time is left `sending`: another host, or this one's next boot,
    /// finds it after its deadline.
    async fn drain(&self, mut in_flight: JoinSet<Freed>) {
        let all = async {
            while let Some(ended) = in_flight.join_next().await {
                self.reap(ended);
            }
        };
        if tokio::time::timeout(self.drain, all).await.is_err() {
            tracing::warn!(
                sink = %self.courier.name,
                effects = in_flight.len(),
                "stopped while effects were being sent; their fate is found out after their deadline"
            );
        }
    }
}
