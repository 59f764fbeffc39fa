//! The relay: committed effects go to their sinks, at least once, each under its dedup key, in
//! order per ordering key across all hosts. One [`sender`] per sink, one [`recovery`] for the
//! effects of hosts that died. It decides with `wonce_core::relay`, writes through the store, and
//! knows nothing of what a sink is made of.
//!
//! What makes it safe: an effect becomes `sending` with the host's boot id and a deadline, and
//! only after that commit is it sent. Until the deadline nobody else touches it; the host itself
//! stops earlier. After the deadline its fate is unknown, and the sink's policy says what follows.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::sink::Sinks;
use crate::store::Store;

mod pause;
mod recovery;
mod send;
mod sender;

use recovery::Recovery;
use sender::Sender;

/// How the relay goes about it, whatever the sink.
#[derive(Debug, Clone, PartialEq)]
pub struct RelaySettings {
    /// This boot of this host.
    pub host: Uuid,
    /// The pause after the first look that found nothing; it doubles up to `poll_ceiling`.
    pub poll_floor: Duration,
    pub poll_ceiling: Duration,
    /// How often effects of dead hosts are looked for.
    pub recover_every: Duration,
    /// A host that takes longer than this from the claim to the sending does not send any more.
    pub stall_allowance: Duration,
    /// How long a host may try to write down what came back.
    pub settle_allowance: Duration,
    /// How long a stop waits for what is being sent.
    pub drain: Duration,
}

impl RelaySettings {
    /// The defaults for a host.
    #[must_use]
    pub fn for_host(host: Uuid) -> Self {
        Self {
            host,
            poll_floor: Duration::from_millis(50),
            poll_ceiling: Duration::from_secs(1),
            recover_every: Duration::from_secs(5),
            stall_allowance: Duration::from_secs(5),
            settle_allowance: Duration::from_secs(30),
            drain: Duration::from_secs(20),
        }
    }
}

/// The service. Its tasks end when [`Relay::run`] ends.
#[derive(Debug)]
pub struct Relay {
    store: Store,
    sinks: Sinks,
    settings: RelaySettings,
    /// Says that effects were committed: saves the wait for the next poll, is never relied on.
    hint: Arc<Notify>,
}

impl Relay {
    #[must_use]
    pub fn new(store: Store, sinks: Sinks, settings: RelaySettings, hint: Arc<Notify>) -> Self {
        Self { store, sinks, settings, hint }
    }

    /// Carries effects out until told to stop; then claims nothing more, waits a bounded time for
    /// what is being sent, and returns.
    pub async fn run(self, stop: CancellationToken) {
        // Its own: a bug in here must not stop the rest of the host.
        let stop = stop.child_token();
        let mut tasks = JoinSet::new();
        let mut wakes = Vec::new();
        for (name, registered) in self.sinks.iter() {
            let wake = Arc::new(Notify::new());
            wakes.push(Arc::clone(&wake));
            let sender = Sender::new(
                self.store.clone(),
                name.clone(),
                registered.clone(),
                self.settings.clone(),
                wake,
            );
            tasks.spawn(sender.run(stop.clone()));
        }
        let wakes = Wakes(wakes);
        tasks.spawn(forward(Arc::clone(&self.hint), wakes.clone(), stop.clone()));
        tasks.spawn(Recovery::new(self.store, self.sinks, self.settings, wakes).run(stop.clone()));
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended {
                // A bug of ours. Stopping lets whoever owns the relay start it again, whole.
                tracing::error!(error = %error, "a task of the relay ended by itself; the relay stops");
                stop.cancel();
            }
        }
    }
}

/// All senders' bells.
#[derive(Debug, Clone)]
struct Wakes(Vec<Arc<Notify>>);

impl Wakes {
    /// Each bell keeps one ring for a sender that is busy.
    fn ring(&self) {
        self.0.iter().for_each(|wake| wake.notify_one());
    }
}

async fn forward(hint: Arc<Notify>, wakes: Wakes, stop: CancellationToken) {
    while stop.run_until_cancelled(hint.notified()).await.is_some() {
        wakes.ring();
    }
}
