//! Fifty events a transaction, sorted by event id so that two batches with the same events cannot deadlock.

use std::collections::HashSet;

use tokio_postgres::Transaction;

use super::inbox::{Claimed, Inbox, Statements};

/// Events a transaction.
const BATCH: i64 = 50;

/// Who checks for repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dedup {
    /// One statement an event.
    EachEvent,
    /// One statement a batch.
    WholeBatch,
}

/// Handles the next batch; how many events that were.
pub(super) async fn handle(inbox: &mut Inbox, dedup: Dedup) -> anyhow::Result<usize> {
    let Inbox { client, statements } = inbox;
    let transaction = client.transaction().await?;
    let rows = transaction.query(&statements.claim, &[&BATCH]).await?;
    let mut events = rows.iter().map(Claimed::from_row).collect::<anyhow::Result<Vec<_>>>()?;
    if events.is_empty() {
        return Ok(0);
    }
    events.sort_by(|a, b| a.event_id.cmp(&b.event_id));
    match dedup {
        Dedup::EachEvent => each(&transaction, statements, &events).await?,
        Dedup::WholeBatch => whole(&transaction, statements, &events).await?,
    }
    transaction.commit().await?;
    Ok(events.len())
}

async fn each(
    transaction: &Transaction<'_>,
    statements: &Statements,
    events: &[Claimed],
) -> anyhow::Result<()> {
    for event in events {
        let dedup = transaction.execute(&statements.dedup, &[&event.event_id, &event.accepted_at]).await?;
        if dedup == 1 {
            statements.work(transaction, event).await?;
        }
    }
    Ok(())
}

async fn whole(
    transaction: &Transaction<'_>,
    statements: &Statements,
    events: &[Claimed],
) -> anyhow::Result<()> {
    let ids: Vec<&str> = events.iter().map(|event| event.event_id.as_str()).collect();
    let accepted: Vec<_> = events.iter().map(|event| event.accepted_at).collect();
    let rows = transaction.query(&statements.dedup_set, &[&ids, &accepted]).await?;
    let mut fresh = rows.iter().map(|row| row.try_get(0)).collect::<Result<HashSet<&str>, _>>()?;
    for event in events {
        // Removing makes a repeat within the batch a repeat.
        if fresh.remove(event.event_id.as_str()) {
            statements.work(transaction, event).await?;
        }
    }
    Ok(())
}
