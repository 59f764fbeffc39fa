//! Handlers with what waits for them.

use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};
use wonce_api::handler::{BlockedKey, HandlerDetail, HandlerList, HandlerSummary, Version};

use super::{READ_LIMIT, snapshot, time};
use crate::store::sql::Sql;
use crate::store::{Error, Store, action};

/// How many blocked ordering keys one answer lists.
const BLOCKED_LIMIT: i64 = 20;
/// How many of its latest actions a handler shows.
const ACTIONS_LIMIT: i64 = 20;

pub(super) const SUMMARIES: Sql = Sql {
    name: "count what waits per handler",
    text: "
        SELECT h.name, h.state, h.ordering, h.owner,
               encode(h.active_version, 'hex') AS digest, coalesce(v.label, '') AS label,
               coalesce(i.pending, 0) AS pending, coalesce(i.due, 0) AS due, i.oldest_due_seconds,
               coalesce(i.retries, 0) AS retries, coalesce(d.dead_letters, 0) AS dead_letters
        FROM wonce.handler h
        LEFT JOIN wonce.handler_version v ON v.handler_id = h.id AND v.digest = h.active_version
        LEFT JOIN (
            SELECT handler_id, count(*) AS pending,
                   count(*) FILTER (WHERE due_at <= now()) AS due,
                   floor(extract(epoch FROM now() - min(due_at) FILTER (WHERE due_at <= now())))::bigint
                       AS oldest_due_seconds,
                   count(*) FILTER (WHERE attempt > 0 AND due_at > now()) AS retries
            FROM wonce.inbox GROUP BY handler_id
        ) AS i ON i.handler_id = h.id
        LEFT JOIN (
            SELECT handler_id, count(*) AS dead_letters
            FROM wonce.dead_letter WHERE state = 'dead' GROUP BY handler_id
        ) AS d ON d.handler_id = h.id
        WHERE $1::text IS NULL OR h.name = $1
        ORDER BY h.name",
    params: &[Type::TEXT],
};
const DETAIL: Sql = Sql {
    name: "read a handler",
    text: "
        SELECT h.login_role, h.policy, h.deployed_by, h.deployed_at,
               encode(h.previous_version, 'hex') AS digest, coalesce(v.label, '') AS label
        FROM wonce.handler h
        LEFT JOIN wonce.handler_version v ON v.handler_id = h.id AND v.digest = h.previous_version
        WHERE h.name = $1",
    params: &[Type::TEXT],
};
const BLOCKED: Sql = Sql {
    name: "list blocked ordering keys",
    text: "
        SELECT head.ordering_key, head.key, head.attempt, head.due_at, f.followers,
               (SELECT a.message FROM wonce.attempt a
                WHERE a.handler_id = head.handler_id AND a.key = head.key
                ORDER BY a.id DESC LIMIT 1) AS message
        FROM wonce.inbox head
        JOIN wonce.handler h ON h.id = head.handler_id
        CROSS JOIN LATERAL (
            SELECT count(*) AS followers FROM wonce.inbox x
            WHERE x.handler_id = head.handler_id AND x.lane = head.lane
              AND x.ordering_key = head.ordering_key AND x.id > head.id) AS f
        WHERE h.name = $1 AND head.lane IS NOT NULL AND head.attempt > 0 AND f.followers > 0
          AND NOT EXISTS (SELECT FROM wonce.inbox x
                          WHERE x.handler_id = head.handler_id AND x.lane = head.lane
                            AND x.ordering_key = head.ordering_key AND x.id < head.id)
        ORDER BY head.id LIMIT $2",
    params: &[Type::TEXT, Type::INT8],
};

pub(in crate::store) const STATEMENTS: &[&Sql] = &[&SUMMARIES, &DETAIL, &BLOCKED];

impl Store {
    /// All handlers, by name.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn handlers(&self) -> Result<HandlerList, Error> {
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, READ_LIMIT).await?;
        let handlers = summaries(&tx).await?;
        Ok(HandlerList { taken, handlers })
    }

    /// One handler whole, or `None` when there is none of this name.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn handler(&self, name: &str) -> Result<Option<HandlerDetail>, Error> {
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, READ_LIMIT).await?;
        let Some(summary) = SUMMARIES.query_opt(&tx, &[&Some(name)]).await?.as_ref().map(summary) else {
            return Ok(None);
        };
        let row = DETAIL.query_one(&tx, &[&name]).await?;
        let blocked = BLOCKED.query(&tx, &[&name, &BLOCKED_LIMIT]).await?;
        let actions = action::of_targets(&tx, &[action::handler_target(name)], ACTIONS_LIMIT).await?;
        let previous: Option<String> = row.get("digest");
        Ok(Some(HandlerDetail {
            taken,
            summary,
            previous_version: previous.map(|digest| Version { digest, label: row.get("label") }),
            deployed_by: row.get("deployed_by"),
            deployed_at: time(&row, "deployed_at"),
            login_role: row.get("login_role"),
            policy: row.get("policy"),
            blocked: blocked.iter().map(blocked_key).collect(),
            actions,
        }))
    }
}

pub(super) async fn summaries(tx: &Transaction<'_>) -> Result<Vec<HandlerSummary>, Error> {
    let rows = SUMMARIES.query(tx, &[&None::<&str>]).await?;
    Ok(rows.iter().map(summary).collect())
}

fn summary(row: &Row) -> HandlerSummary {
    HandlerSummary {
        name: row.get("name"),
        state: row.get("state"),
        ordering: row.get("ordering"),
        owner: row.get("owner"),
        version: Version { digest: row.get("digest"), label: row.get("label") },
        pending: row.get("pending"),
        due: row.get("due"),
        oldest_due_seconds: row.get("oldest_due_seconds"),
        scheduled_retries: row.get("retries"),
        dead_letters: row.get("dead_letters"),
    }
}

fn blocked_key(row: &Row) -> BlockedKey {
    BlockedKey {
        ordering_key: row.get("ordering_key"),
        head: row.get("key"),
        attempts: row.get("attempt"),
        due_at: time(row, "due_at"),
        message: row.get("message"),
        followers: row.get("followers"),
    }
}
