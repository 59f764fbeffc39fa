//! A committer: takes a group, commits it at once, answers its senders. A group that the
//! database refuses is redone one by one, so that one bad event costs its neighbours nothing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use wonce_api::receipt::{DeliveryReceipt, EventReceipt, Verdict};

use super::plan::Plan;
use super::queue::{Queue, Submission};
use super::report;
use crate::pipeline::wake::Wake;
use crate::source::NotAccepted;
use crate::store::intake::{Landed, NewDelivery, NewParked};
use crate::store::{Error, Store};

/// A commit that met other transactions in its way is redone at once this often.
const MAX_REDOS: usize = 3;
/// When a sender that met an outage should come back.
const OUTAGE_RETRY: Duration = Duration::from_secs(5);
const CONFLICT: &str = "another payload was accepted under this key; this one is kept as a dead letter";

#[derive(Debug, Clone)]
pub(super) struct Committer {
    pub(super) store: Store,
    pub(super) queue: Arc<Queue>,
    pub(super) wake: Wake,
}

/// What a commit did: per plan, per delivery.
type Outcome = Result<Vec<Vec<Landed>>, Error>;

impl Committer {
    /// Commits until `stop`, then what is still queued.
    pub(super) async fn run(self, stop: CancellationToken) {
        loop {
            let group = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                group = self.queue.next() => group,
            };
            match group {
                Some(group) => self.settle(group).await,
                // The doors are gone and nothing is left: what remains is the stop.
                None => return stop.cancelled().await,
            }
        }
        self.queue.close().await;
        while let Some(group) = self.queue.next().await {
            self.settle(group).await;
        }
    }

    async fn settle(&self, group: Vec<Submission>) {
        let plans: Vec<&Plan> = group.iter().flat_map(|submission| &submission.plans).collect();
        match self.store.accept(&plans).await {
            Ok(landed) => {
                let mut landed = landed.into_iter();
                for submission in group {
                    let own = landed.by_ref().take(submission.plans.len()).collect();
                    self.answer(submission, Ok(own));
                }
            }
            Err(error) if error.is_outage() => {
                tracing::warn!(error = error.explained(), requests = group.len(), "cannot accept events");
                for submission in group {
                    let _gone = submission.reply.send(Err(unavailable()));
                }
            }
            Err(error) => {
                tracing::debug!(error = error.explained(), requests = group.len(), "redoing a shared commit");
                for submission in group {
                    let outcome = self.commit_alone(&submission.plans).await;
                    self.answer(submission, outcome);
                }
            }
        }
    }

    async fn commit_alone(&self, plans: &[Plan]) -> Outcome {
        let plans: Vec<&Plan> = plans.iter().collect();
        for _ in 0..MAX_REDOS {
            match self.store.accept(&plans).await {
                Err(error) if error.is_contention() => {}
                outcome => return outcome,
            }
        }
        self.store.accept(&plans).await
    }

    /// A sender that has gone away meanwhile may send again: that will be a duplicate.
    fn answer(&self, submission: Submission, outcome: Outcome) {
        let answer = match outcome {
            Ok(landed) => {
                self.wake_handlers(&submission.plans, &landed);
                count(&submission.plans, &landed);
                Ok(submission.plans.iter().zip(&landed).map(|(plan, landed)| receipt(plan, landed)).collect())
            }
            Err(error) if error.is_outage() || error.is_contention() => {
                tracing::warn!(error = error.explained(), "cannot accept events");
                Err(unavailable())
            }
            Err(error) => {
                let reason = error.explained();
                tracing::error!(error = reason, "the database refused events");
                Err(NotAccepted::Failed { reason })
            }
        };
        let _gone = submission.reply.send(answer);
    }

    fn wake_handlers(&self, plans: &[Plan], landed: &[Vec<Landed>]) {
        let deliveries = plans.iter().flat_map(|plan| &plan.deliveries).zip(landed.iter().flatten());
        let accepted = deliveries.filter(|(_, landed)| **landed == Landed::Accepted);
        let handlers: BTreeSet<i64> = accepted.map(|(delivery, _)| delivery.recipient.id).collect();
        for handler in handlers {
            self.wake.due(handler);
        }
    }
}

fn count(plans: &[Plan], landed: &[Vec<Landed>]) {
    for (plan, landed) in plans.iter().zip(landed) {
        plan.deliveries.iter().zip(landed).for_each(|(d, landed)| report::landed(&d.recipient, *landed));
        plan.parked.iter().for_each(|parked| report::parked(parked.reason));
    }
}

fn unavailable() -> NotAccepted {
    NotAccepted::Unavailable { retry_after: OUTAGE_RETRY }
}

fn receipt(plan: &Plan, landed: &[Landed]) -> EventReceipt {
    let delivered = plan.deliveries.iter().zip(landed).map(|(delivery, landed)| delivered(delivery, *landed));
    EventReceipt { deliveries: delivered.chain(plan.parked.iter().map(parked)).collect() }
}

fn delivered(delivery: &NewDelivery, landed: Landed) -> DeliveryReceipt {
    let (verdict, reason) = match landed {
        Landed::Accepted => (Verdict::Accepted, None),
        Landed::Duplicate => (Verdict::Duplicate, None),
        Landed::KeyConflict => (Verdict::KeyConflict, Some(CONFLICT.to_owned())),
    };
    DeliveryReceipt {
        handler: Some(delivery.recipient.name.to_string()),
        key: Some(delivery.key.to_string()),
        verdict,
        reason,
    }
}

fn parked(parked: &NewParked) -> DeliveryReceipt {
    DeliveryReceipt {
        handler: parked.recipient.as_ref().map(|recipient| recipient.name.to_string()),
        key: None,
        verdict: Verdict::Parked,
        reason: Some(parked.message.clone()),
    }
}
