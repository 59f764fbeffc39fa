//! One claim from claim to settlement: its guests run, and what became of them is settled in one
//! commit. Nothing leaves by `?`: every way out is a [`Delivered`].

use super::batch::{Batch, Broken, Item, Stand};
use super::dispatch::Shared;
use super::handler::Handler;
use super::probation::Turn;
use super::settle::{self, Ended};
use crate::crash;
use crate::store::claim::Claimed;
use crate::store::transaction::Loss;

/// How the deliveries of a claim left this host's hands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivered {
    /// They are settled, or somebody else took them over: go on.
    Settled,
    /// Some are pending as before and still due: claim again at once.
    SomeLeft,
    /// The host could not do its part, for this reason: back off before the next claim.
    HostFault(String),
}

/// Takes the deliveries of one claim to their end.
pub(super) async fn deliver(
    shared: &Shared,
    handler: &Handler,
    claimed: Claimed,
    probation: Option<&Turn>,
) -> Delivered {
    crash::point("after-claim");
    let mut batch = Batch::new(shared, handler, claimed);
    if probation.is_some()
        && let Err(reason) = mark_open(shared, handler, &mut batch).await
    {
        return give_up(shared, handler, batch, Broken::Refused(reason)).await;
    }
    match batch.run().await {
        Ok(()) => settle_batch(shared, handler, batch).await,
        Err(broken) => give_up(shared, handler, batch, broken).await,
    }
}

/// On probation, which claims singly, a mark is committed before the guest starts.
async fn mark_open(shared: &Shared, handler: &Handler, batch: &mut Batch<'_>) -> Result<(), String> {
    for item in batch.items.iter_mut().filter(|item| matches!(item.stand, Stand::Open)) {
        match shared.store.mark_crash(&handler.access, &item.delivery.delivery.key).await {
            Ok(marks) => item.delivery.marks = marks,
            Err(error) => return Err(error.explained()),
        }
    }
    Ok(())
}

async fn settle_batch(shared: &Shared, handler: &Handler, batch: Batch<'_>) -> Delivered {
    let (items, transaction, host_fault) = batch.into_parts();
    let claimed = items.len();
    let ended: Vec<Ended> = items.into_iter().filter_map(Ended::of).collect();
    let settled = ended.len();
    let delivered = match ended.is_empty() {
        true => {
            transaction.release().await;
            Delivered::Settled
        }
        false => settle::write(shared, handler, transaction, ended, claimed).await,
    };
    match (delivered, host_fault) {
        (Delivered::Settled | Delivered::SomeLeft, Some(fault)) => Delivered::HostFault(fault.message),
        (Delivered::Settled, None) if settled < claimed => Delivered::SomeLeft,
        (delivered, _) => delivered,
    }
}

/// The connection is of no use any more and nothing was counted. One that died under the statement
/// of a guest that ran alone leaves a mark, or a guest that kills its backend would loop for ever;
/// in a batch nobody knows whose statement it was, so its deliveries run singly next.
async fn give_up(shared: &Shared, handler: &Handler, batch: Batch<'_>, broken: Broken) -> Delivered {
    let (items, transaction, _) = batch.into_parts();
    transaction.release().await;
    match (items.as_slice(), broken) {
        ([only], Broken::Lost(Loss::UnderStatement(reason))) => {
            Delivered::HostFault(mark(shared, handler, only, reason).await)
        }
        ([_], Broken::Lost(Loss::Between(reason)) | Broken::Refused(reason)) => Delivered::HostFault(reason),
        (several, Broken::Lost(loss)) => {
            handler.pace.undone(several.len());
            Delivered::HostFault(loss.reason().to_owned())
        }
        (several, Broken::Refused(reason)) => {
            handler.pace.undone(several.len());
            Delivered::HostFault(reason)
        }
    }
}

async fn mark(shared: &Shared, handler: &Handler, item: &Item, reason: String) -> String {
    match shared.store.mark_crash(&handler.access, &item.delivery.delivery.key).await {
        Ok(_) => reason,
        Err(error) => format!("{reason}; and the mark could not be written: {}", error.explained()),
    }
}

impl Ended {
    /// A delivery whose end is known; one that is held stays pending as it was.
    fn of(item: Item) -> Option<Self> {
        match item.stand {
            Stand::Decided { settlement, run } => Some(Self { delivery: item.delivery, settlement, run }),
            Stand::Open | Stand::Suspect | Stand::Held => None,
        }
    }
}
