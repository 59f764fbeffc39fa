//! Counts both sides of the conservation law in one snapshot, and what else must be true of
//! rows that belong together. It only counts: what the counts mean is `wonce_core::conservation`.

use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};
use wonce_api::Taken;
use wonce_api::status::OutboxCount;
use wonce_core::conservation::Ledger;

use super::sql::Sql;
use super::view::snapshot;
use super::view::status::outbox_counts;
use super::{Error, Store};

/// A count over the whole ledger may take a while; longer than this it holds back vacuum.
const VERIFY_LIMIT: Duration = Duration::from_secs(600);

/// Everything that `wonce verify` judges, as one snapshot has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Books {
    pub taken: Taken,
    /// By name.
    pub handlers: Vec<HandlerBooks>,
    /// Open dead letters that own no delivery.
    pub key_conflicts: i64,
    pub parked: i64,
    pub outbox: Vec<OutboxCount>,
    /// Operations under way whose counts are not those of their items.
    pub operations_differ: i64,
}

/// One handler's counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerBooks {
    pub handler: String,
    pub ledger: Ledger,
    /// Ledger rows `dead` without an open dead letter.
    pub dead_without_letter: i64,
    /// Open dead letters of deliveries without a ledger row `dead`.
    pub letters_without_dead: i64,
    /// Effects that were not committed together with a ledger row of their delivery.
    pub stray_effects: i64,
    /// Ordered deliveries in a lane that no claim can find.
    pub unreachable: i64,
    /// Pending deliveries whose key is settled: late duplicates to be. Not a fault.
    pub late_to_come: i64,
}

/// Handlers that only rows know (no such handler any more) are listed too: their rows count.
pub(super) const COUNT: Sql = Sql {
    name: "count the books",
    text: "
        WITH t AS (
            SELECT handler_id, sum(accepted)::bigint AS accepted,
                   sum(duplicate_late)::bigint AS duplicate_late, sum(expired)::bigint AS expired
            FROM wonce.tally GROUP BY handler_id
        ), i AS (
            SELECT handler_id, count(*) AS pending FROM wonce.inbox GROUP BY handler_id
        ), p AS (
            SELECT handler_id,
                   count(*) FILTER (WHERE outcome = 'done') AS done,
                   count(*) FILTER (WHERE outcome = 'ignored') AS ignored,
                   count(*) FILTER (WHERE outcome = 'discarded') AS discarded
            FROM wonce.processed_events GROUP BY handler_id
        ), d AS (
            SELECT handler_id, count(*) AS dead FROM wonce.dead_letter
            WHERE kind = 'delivery' AND state = 'dead' GROUP BY handler_id
        ), known AS (
            SELECT id FROM wonce.handler UNION SELECT handler_id FROM t UNION SELECT handler_id FROM i
            UNION SELECT handler_id FROM p UNION SELECT handler_id FROM d
        )
        SELECT k.id, coalesce(h.name, 'unknown handler #' || k.id) AS handler,
               coalesce(t.accepted, 0) AS accepted, coalesce(t.duplicate_late, 0) AS duplicate_late,
               coalesce(t.expired, 0) AS expired, coalesce(i.pending, 0) AS pending,
               coalesce(p.done, 0) AS done, coalesce(p.ignored, 0) AS ignored,
               coalesce(p.discarded, 0) AS discarded, coalesce(d.dead, 0) AS dead
        FROM known k
        LEFT JOIN wonce.handler h ON h.id = k.id
        LEFT JOIN t ON t.handler_id = k.id LEFT JOIN i ON i.handler_id = k.id
        LEFT JOIN p ON p.handler_id = k.id LEFT JOIN d ON d.handler_id = k.id
        ORDER BY handler",
    params: &[],
};
/// Each check counts the rows of one handler that break it.
const CROSS_CHECKS: Sql = Sql {
    name: "cross-check the books",
    text: "
        SELECT
            (SELECT count(*) FROM wonce.processed_events p
             WHERE p.handler_id = $1 AND p.outcome = 'dead'
               AND NOT EXISTS (SELECT FROM wonce.dead_letter d
                               WHERE d.handler_id = p.handler_id AND d.key = p.key
                                 AND d.kind = 'delivery' AND d.state = 'dead')) AS dead_without_letter,
            (SELECT count(*) FROM wonce.dead_letter d
             WHERE d.handler_id = $1 AND d.kind = 'delivery' AND d.state = 'dead'
               AND NOT EXISTS (SELECT FROM wonce.processed_events p
                               WHERE p.handler_id = d.handler_id AND p.key = d.key
                                 AND p.outcome = 'dead')) AS letters_without_dead,
            (SELECT count(*) FROM wonce.outbox o
             WHERE o.handler_id = $1
               AND NOT EXISTS (SELECT FROM wonce.processed_events p
                               WHERE p.handler_id = o.handler_id AND p.key = o.key AND p.xact = o.xact
                                 AND p.outcome IN ('done', 'ignored'))) AS stray_effects,
            (SELECT count(*) FROM wonce.inbox i
             WHERE i.handler_id = $1 AND i.lane IS NOT NULL
               AND NOT EXISTS (SELECT FROM wonce.lane l
                               WHERE l.handler_id = i.handler_id AND l.lane = i.lane)) AS unreachable,
            (SELECT count(*) FROM wonce.inbox i
             JOIN wonce.processed_events p ON p.handler_id = i.handler_id AND p.key = i.key
             WHERE i.handler_id = $1) AS late_to_come",
    params: &[Type::INT8],
};
const OUTSIDE: Sql = Sql {
    name: "count dead letters outside the equation",
    text: "
        SELECT count(*) FILTER (WHERE kind = 'key_conflict') AS key_conflicts,
               count(*) FILTER (WHERE kind = 'parked') AS parked
        FROM wonce.dead_letter WHERE state = 'dead'",
    params: &[],
};

/// Only of those under way: the items of the others are forgotten in time.
const OPERATIONS: Sql = Sql {
    name: "check the counts of operations",
    text: "
        SELECT count(*) AS differ FROM wonce.operation o
        WHERE o.ended_at IS NULL
          AND (o.total, o.succeeded, o.refused) <> (
              SELECT count(*), count(*) FILTER (WHERE i.state = 'succeeded'),
                     count(*) FILTER (WHERE i.state = 'refused')
              FROM wonce.operation_item i WHERE i.operation_id = o.id)",
    params: &[],
};

pub(super) const STATEMENTS: &[&Sql] = &[&COUNT, &CROSS_CHECKS, &OUTSIDE, &OPERATIONS];

impl Store {
    /// Counts everything, however large: the one answer that is allowed to take minutes.
    ///
    /// # Errors
    /// When the database cannot answer, or not within ten minutes.
    pub async fn books(&self) -> Result<Books, Error> {
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, VERIFY_LIMIT).await?;
        let mut handlers = Vec::new();
        for row in COUNT.query(&tx, &[]).await? {
            handlers.push(handler_books(&tx, &row).await?);
        }
        let outside = OUTSIDE.query_one(&tx, &[]).await?;
        Ok(Books {
            taken,
            handlers,
            key_conflicts: outside.get("key_conflicts"),
            parked: outside.get("parked"),
            outbox: outbox_counts(&tx).await?,
            operations_differ: OPERATIONS.query_one(&tx, &[]).await?.get("differ"),
        })
    }
}

async fn handler_books(tx: &Transaction<'_>, row: &Row) -> Result<HandlerBooks, Error> {
    let checks = CROSS_CHECKS.query_one(tx, &[&row.get::<_, i64>("id")]).await?;
    Ok(HandlerBooks {
        handler: row.get("handler"),
        ledger: ledger(row),
        dead_without_letter: checks.get("dead_without_letter"),
        letters_without_dead: checks.get("letters_without_dead"),
        stray_effects: checks.get("stray_effects"),
        unreachable: checks.get("unreachable"),
        late_to_come: checks.get("late_to_come"),
    })
}

/// The terms of one row of [`COUNT`].
pub(super) fn ledger(row: &Row) -> Ledger {
    Ledger {
        accepted: count(row, "accepted"),
        pending: count(row, "pending"),
        done: count(row, "done"),
        ignored: count(row, "ignored"),
        dead: count(row, "dead"),
        discarded: count(row, "discarded"),
        // The tally counts late key conflicts among the late duplicates.
        duplicate_late: count(row, "duplicate_late"),
        expired: count(row, "expired"),
    }
}

/// Counts are never negative; a forged tally that is counts as nothing and shows as a difference.
fn count(row: &Row, column: &str) -> u64 {
    u64::try_from(row.get::<_, i64>(column)).unwrap_or(0)
}
