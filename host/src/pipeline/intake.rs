//! Intake: events become durable deliveries. Each event is planned (who wants it, under which
//! key), queued, and committed together with whatever else waits; the answer comes after that
//! commit. Knows nothing of how events were received.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use wonce_api::receipt::EventReceipt;
use wonce_core::event::Event;

use super::wake::Wake;
use crate::source::{Door, NotAccepted};
use crate::store::Store;

mod commit;
pub(super) mod plan;
mod queue;
pub(in crate::pipeline) mod report;
mod routes;

use commit::Committer;
use plan::Plan;
use queue::{Bytes, Queue, Submission};
pub use routes::{RoutedHandler, Routes};

/// Payloads that may wait for a commit, in KiB: the memory of the queue.
const QUEUE_KIB: u32 = 64 << 10;
/// How long a sender waits for room in the queue before it hears that the host is busy.
const QUEUE_WAIT: Duration = Duration::from_secs(2);
/// When a sender that met a full queue should come back.
const BUSY_RETRY: Duration = Duration::from_secs(1);
/// When a sender that met a stopping host should come back.
const STOPPING_RETRY: Duration = Duration::from_secs(5);

/// What becomes of an event that no handler subscribes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unrouted {
    /// The sender hears that it was not accepted; without a sender to hear, it is parked.
    Reject,
    /// It is kept for people.
    Park,
    /// It is counted and forgotten.
    Ignore,
}

/// How intake works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntakeSettings {
    /// Requests that may wait for a commit.
    pub queue: usize,
    /// The most events of a shared commit.
    pub commit_events: usize,
    /// Commits that may run at once; each holds a control connection.
    pub committers: usize,
    pub unrouted: Unrouted,
}

impl Default for IntakeSettings {
    fn default() -> Self {
        Self { queue: 4_096, commit_events: 256, committers: 2, unrouted: Unrouted::Reject }
    }
}

/// The way in. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Intake {
    routes: Routes,
    unrouted: Unrouted,
    capacity: usize,
    queue: mpsc::Sender<Submission>,
    room: Arc<Semaphore>,
}

/// The committers, to be run until the host stops.
#[derive(Debug)]
pub struct IntakeService {
    committers: Vec<Committer>,
    room: Arc<Semaphore>,
}

/// Makes both ends of the queue.
#[must_use]
pub fn intake(store: Store, routes: Routes, wake: Wake, settings: IntakeSettings) -> (Intake, IntakeService) {
    let (sender, receiver) = mpsc::channel(settings.queue.max(1));
    let queue = Arc::new(Queue::new(receiver, settings.commit_events));
    let room = Arc::new(Semaphore::new(QUEUE_KIB as usize));
    let committer = Committer { store, queue, wake };
    let service =
        IntakeService { committers: vec![committer; settings.committers.max(1)], room: Arc::clone(&room) };
    let intake =
        Intake { routes, unrouted: settings.unrouted, capacity: settings.queue, queue: sender, room };
    (intake, service)
}

impl IntakeService {
    /// Commits what is queued until `stop`, then what is still queued, and returns.
    pub async fn run(self, stop: CancellationToken) {
        let committers = self.committers.into_iter().map(|committer| committer.run(stop.clone()));
        futures_util::future::join_all(committers).await;
        self.room.close();
    }
}

#[async_trait]
impl Door for Intake {
    async fn accept(&self, events: Vec<Event>) -> Result<Vec<EventReceipt>, NotAccepted> {
        let plans = self.plan(events)?;
        plans.iter().filter(|plan| plan.is_empty()).for_each(|_| report::ignored());
        if plans.iter().all(Plan::is_empty) {
            return Ok(plans.iter().map(|_| EventReceipt::default()).collect());
        }
        self.submit(plans).await
    }
}

impl Intake {
    fn plan(&self, events: Vec<Event>) -> Result<Vec<Plan>, NotAccepted> {
        let routes = self.routes.current();
        let planned = events.into_iter().enumerate().map(|(index, event)| {
            plan::heard(&routes, event, self.unrouted).map_err(|unfit| unfit.not_accepted(index))
        });
        planned.collect()
    }

    /// Routes an event again that was parked, by the rules as they are now, and accepts it for
    /// every handler that wants it. It is not parked a second time.
    ///
    /// # Errors
    /// When some handler still cannot take it, or nobody wants it: then nothing is written.
    pub async fn accept_parked(&self, event: Event) -> Result<EventReceipt, NotAccepted> {
        let plan = plan::heard(&self.routes.current(), event, Unrouted::Reject)
            .map_err(|unfit| unfit.not_accepted(0))?;
        if !plan.parked.is_empty() {
            let reasons = plan.parked.into_iter().map(|parked| parked.message).collect();
            return Err(NotAccepted::NoKey { index: 0, reasons });
        }
        Ok(self.submit(vec![plan]).await?.pop().unwrap_or_default())
    }

    async fn submit(&self, plans: Vec<Plan>) -> Result<Vec<EventReceipt>, NotAccepted> {
        let bytes = Bytes::of(&plans);
        let (reply, answer) = oneshot::channel();
        let admitted = timeout(QUEUE_WAIT, async {
            let room = Arc::clone(&self.room).acquire_many_owned(bytes.permits(QUEUE_KIB)).await.ok()?;
            Some((room, self.queue.reserve().await.ok()?))
        });
        match admitted.await {
            Err(_) => return Err(NotAccepted::Busy { waiting: self.waiting(), retry_after: BUSY_RETRY }),
            Ok(None) => return Err(NotAccepted::Stopping { retry_after: STOPPING_RETRY }),
            Ok(Some((room, slot))) => slot.send(Submission { plans, bytes, reply, _room: room }),
        }
        answer.await.unwrap_or(Err(NotAccepted::Stopping { retry_after: STOPPING_RETRY }))
    }

    /// Requests that wait for a commit, for metrics.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.capacity.saturating_sub(self.queue.capacity())
    }
}
