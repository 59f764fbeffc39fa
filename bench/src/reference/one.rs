//! One event a transaction: claim, dedup, work, commit.

use super::inbox::{Claimed, Inbox};

/// Handles the next event; how many that were.
pub(super) async fn handle(inbox: &mut Inbox) -> anyhow::Result<usize> {
    let Inbox { client, statements } = inbox;
    let transaction = client.transaction().await?;
    let Some(row) = transaction.query_opt(&statements.claim, &[&1_i64]).await? else { return Ok(0) };
    let event = Claimed::from_row(&row)?;
    let dedup = transaction.execute(&statements.dedup, &[&event.event_id, &event.accepted_at]).await?;
    if dedup == 1 {
        statements.work(&transaction, &event).await?;
    }
    transaction.commit().await?;
    Ok(1)
}
