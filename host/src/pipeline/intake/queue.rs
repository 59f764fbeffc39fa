//! What waits for a commit, bounded by count and bytes, and how it is grouped. Whichever
//! committer is free takes all that waits, up to a limit. Knows nothing of the database.

use tokio::sync::{Mutex, OwnedSemaphorePermit, mpsc, oneshot};
use wonce_api::receipt::EventReceipt;

use super::plan::Plan;
use crate::source::NotAccepted;

/// The payloads of one shared commit, in bytes, unless one event alone has more.
const COMMIT_BYTES: usize = 8 << 20;
/// What an event weighs beside its data.
const EVENT_OVERHEAD: usize = 1 << 10;
const KIB: usize = 1 << 10;

/// The weight of a submission in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bytes(usize);

impl Bytes {
    pub(super) fn of(plans: &[Plan]) -> Self {
        Self(plans.iter().map(|plan| plan.event.data.len() + EVENT_OVERHEAD).sum())
    }

    /// In KiB; never more than there are, so that a huge batch gets in alone.
    pub(super) fn permits(self, most: u32) -> u32 {
        u32::try_from(self.0.div_ceil(KIB)).unwrap_or(most).min(most)
    }
}

/// One request's events, all or none, and where its answer goes.
#[derive(Debug)]
pub(super) struct Submission {
    pub(super) plans: Vec<Plan>,
    pub(super) bytes: Bytes,
    pub(super) reply: oneshot::Sender<Result<Vec<EventReceipt>, NotAccepted>>,
    pub(super) _room: OwnedSemaphorePermit,
}

/// The committers' end.
#[derive(Debug)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    commit_events: usize,
}

#[derive(Debug)]
struct Waiting {
    receiver: mpsc::Receiver<Submission>,
    /// Taken out, but too much for the last group.
    held_back: Option<Submission>,
}

impl Queue {
    pub(super) fn new(receiver: mpsc::Receiver<Submission>, commit_events: usize) -> Self {
        let waiting = Waiting { receiver, held_back: None };
        Self { waiting: Mutex::new(waiting), commit_events: commit_events.max(1) }
    }

    /// The next group: single events together, or one batch. `None` when the queue is closed and
    /// empty. Dropping the future loses nothing.
    pub(super) async fn next(&self) -> Option<Vec<Submission>> {
        let mut waiting = self.waiting.lock().await;
        let first = match waiting.held_back.take() {
            Some(held_back) => held_back,
            None => waiting.receiver.recv().await?,
        };
        let batch = first.plans.len() > 1;
        let mut bytes = first.bytes.0;
        let mut group = vec![first];
        while !batch && group.len() < self.commit_events {
            let Ok(next) = waiting.receiver.try_recv() else { break };
            if next.plans.len() > 1 || bytes + next.bytes.0 > COMMIT_BYTES {
                waiting.held_back = Some(next);
                break;
            }
            bytes += next.bytes.0;
            group.push(next);
        }
        Some(group)
    }

    /// Lets nothing more in; what is queued stays.
    pub(super) async fn close(&self) {
        self.waiting.lock().await.receiver.close();
    }
}
