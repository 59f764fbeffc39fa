//! What every hand-written consumer has: a prepared connection, the dedup row and the work of one event.
//! It never knows how many events share a transaction.

use anyhow::Context;
use serde_json::json;
use tokio_postgres::types::{Json, Type};
use tokio_postgres::{Client, Row, Statement, Transaction};

use crate::database::connect;
use crate::workload::{Body, Workload};

const CLAIM: &str = "DELETE FROM hand.queue WHERE id = ANY (ARRAY(
    SELECT id FROM hand.queue ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING event_id, body, accepted_at";
const DEDUP: &str =
    "INSERT INTO hand.processed (event_id, accepted_at) VALUES ($1, $2) ON CONFLICT DO NOTHING";
const DEDUP_SET: &str = "INSERT INTO hand.processed (event_id, accepted_at)
    SELECT * FROM unnest($1, $2) ON CONFLICT DO NOTHING RETURNING event_id";
const EMIT: &str = "INSERT INTO hand.outbox (event_id, sink, kind, body) VALUES ($1, 'receipts', $2, $3)";

/// A connection with its statements prepared.
#[derive(Debug)]
pub(super) struct Inbox {
    pub(super) client: Client,
    pub(super) statements: Statements,
}

#[derive(Debug)]
pub(super) struct Statements {
    pub(super) claim: Statement,
    pub(super) dedup: Statement,
    pub(super) dedup_set: Statement,
    work: Statement,
    emit: Statement,
    workload: Workload,
}

/// A claimed event.
#[derive(Debug)]
pub(super) struct Claimed {
    pub(super) event_id: String,
    pub(super) body: Body,
    /// Goes from the queue's row to the dedup row as it is.
    pub(super) accepted_at: std::time::SystemTime,
}

impl Inbox {
    pub(super) async fn open(url: &str, workload: Workload) -> anyhow::Result<Self> {
        let client = connect(url).await?;
        let prepare = async |sql: &str, types: &[Type]| {
            client.prepare_typed(sql, types).await.with_context(|| format!("prepare \"{sql}\""))
        };
        let statements = Statements {
            claim: prepare(CLAIM, &[Type::INT8]).await?,
            dedup: prepare(DEDUP, &[]).await?,
            dedup_set: prepare(DEDUP_SET, &[Type::TEXT_ARRAY, Type::TIMESTAMPTZ_ARRAY]).await?,
            work: prepare(workload.statement(), &[]).await?,
            emit: prepare(EMIT, &[]).await?,
            workload,
        };
        Ok(Self { client, statements })
    }
}

impl Claimed {
    pub(super) fn from_row(row: &Row) -> anyhow::Result<Self> {
        let Json(body) = row.try_get("body").context("read an event's body")?;
        Ok(Self { event_id: row.try_get("event_id")?, body, accepted_at: row.try_get("accepted_at")? })
    }
}

impl Statements {
    /// The business's part of one event.
    pub(super) async fn work(&self, transaction: &Transaction<'_>, event: &Claimed) -> anyhow::Result<()> {
        match self.workload {
            Workload::Blind => {
                transaction.execute(&self.work, &[&event.body.id]).await?;
            }
            Workload::Payment => self.payment(transaction, event).await?,
        }
        Ok(())
    }

    async fn payment(&self, transaction: &Transaction<'_>, event: &Claimed) -> anyhow::Result<()> {
        let paid = transaction.query_opt(&self.work, &[&event.body.id, &event.body.amount]).await?;
        let total: i64 = paid.with_context(|| format!("order {} is missing", event.body.id))?.try_get(0)?;
        let receipt = json!({ "order": event.body.id, "amount": event.body.amount, "total": total });
        transaction.execute(&self.emit, &[&event.event_id, &"bench.receipt", &Json(receipt)]).await?;
        Ok(())
    }
}
