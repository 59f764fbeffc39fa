//! Keeps small what must not grow: tally rows are folded, the duplicate sample ages out, ledger
//! rows past a handler's retention expire (and are counted as expired in the same commit), crash
//! marks go with their deliveries, the items of operations 30 days after their end.

use std::time::Duration;

use tokio_postgres::types::Type;

use super::sql::Sql;
use super::{Error, Store, begin};

/// Fewer tally rows than this are left alone.
const TALLY_FOLD: i64 = 1_000;
/// Rows that one upkeep transaction touches at most.
const BATCH: i64 = 10_000;

const TRY_LOCK: Sql = Sql {
    name: "take the upkeep lock",
    text: "SELECT pg_try_advisory_xact_lock(hashtextextended('wonce upkeep', 0))",
    params: &[],
};
const FOLD_TALLY: Sql = Sql {
    name: "fold tally rows",
    text: "WITH old AS (
               DELETE FROM wonce.tally WHERE id IN (SELECT t.id FROM wonce.tally t ORDER BY t.id LIMIT $2)
                 AND (SELECT count(*) FROM (SELECT FROM wonce.tally LIMIT $1) AS few) >= $1
               RETURNING handler_id, accepted, duplicate_early, duplicate_late, key_conflict, expired)
           INSERT INTO wonce.tally (handler_id, accepted, duplicate_early, duplicate_late, key_conflict, expired)
           SELECT handler_id, sum(accepted)::bigint, sum(duplicate_early)::bigint,
                  sum(duplicate_late)::bigint, sum(key_conflict)::bigint, sum(expired)::bigint
           FROM old GROUP BY handler_id",
    params: &[Type::INT8, Type::INT8],
};
const AGE_DUPLICATES: Sql = Sql {
    name: "age the duplicate sample",
    text: "DELETE FROM wonce.duplicate WHERE seen_at < clock_timestamp() - interval '7 days'",
    params: &[],
};
const AGE_HOSTS: Sql = Sql {
    name: "forget hosts that are long gone",
    text: "DELETE FROM wonce.host WHERE last_seen < clock_timestamp() - interval '7 days'",
    params: &[],
};
/// A mark is committed beside its delivery's transaction, so it can outlive the delivery.
const FORGET_MARKS: Sql = Sql {
    name: "forget crash marks whose delivery is gone",
    text: "DELETE FROM wonce.crash_mark m
           WHERE NOT EXISTS (SELECT FROM wonce.inbox i WHERE i.handler_id = m.handler_id AND i.key = m.key)",
    params: &[],
};
const FORGET_ITEMS: Sql = Sql {
    name: "forget the items of operations that ended long ago",
    text: "DELETE FROM wonce.operation_item WHERE (operation_id, dead_letter_id) IN (
               SELECT i.operation_id, i.dead_letter_id
               FROM wonce.operation o JOIN wonce.operation_item i ON i.operation_id = o.id
               WHERE o.ended_at < clock_timestamp() - interval '30 days' LIMIT $1)",
    params: &[Type::INT8],
};
const EXPIRE: Sql = Sql {
    name: "expire settled deliveries",
    text: "WITH expired AS (
               DELETE FROM wonce.processed_events
               WHERE handler_id = $1 AND key IN (
                   SELECT p.key FROM wonce.processed_events p
                   WHERE p.handler_id = $1 AND p.outcome IN ('done', 'ignored')
                     AND p.processed_at < clock_timestamp() - $2 * interval '1 second'
                     AND NOT EXISTS (SELECT FROM wonce.outbox o WHERE o.handler_id = $1 AND o.key = p.key
                                       AND o.state IN ('planned', 'sending', 'unknown'))
                   LIMIT $3)
               RETURNING key
           ), attempts AS (
               DELETE FROM wonce.attempt a USING expired e WHERE a.handler_id = $1 AND a.key = e.key
           ), effects AS (
               DELETE FROM wonce.outbox o USING expired e WHERE o.handler_id = $1 AND o.key = e.key
           )
           INSERT INTO wonce.tally (handler_id, expired)
           SELECT $1, count(*) FROM expired HAVING count(*) > 0",
    params: &[Type::INT8, Type::FLOAT8, Type::INT8],
};

pub(super) const STATEMENTS: &[&Sql] =
    &[&TRY_LOCK, &FOLD_TALLY, &AGE_DUPLICATES, &AGE_HOSTS, &FORGET_MARKS, &FORGET_ITEMS, &EXPIRE];

/// How long a handler's settled deliveries are remembered.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    pub handler: i64,
    pub keep: Duration,
}

impl Store {
    /// One round of upkeep, unless another host is at it.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn upkeep(&self, retentions: &[Retention]) -> Result<(), Error> {
        let mut client = self.client().await?;
        let tx = begin(&mut client, "begin upkeep").await?;
        if !TRY_LOCK.query_one(&tx, &[]).await?.get::<_, bool>(0) {
            return Ok(());
        }
        FOLD_TALLY.execute(&tx, &[&TALLY_FOLD, &BATCH]).await?;
        AGE_DUPLICATES.execute(&tx, &[]).await?;
        AGE_HOSTS.execute(&tx, &[]).await?;
        FORGET_MARKS.execute(&tx, &[]).await?;
        FORGET_ITEMS.execute(&tx, &[&BATCH]).await?;
        for retention in retentions {
            EXPIRE.execute(&tx, &[&retention.handler, &retention.keep.as_secs_f64(), &BATCH]).await?;
        }
        tx.commit().await.map_err(|source| Error::Statement { attempt: "commit upkeep", source })
    }
}
