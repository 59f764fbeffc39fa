//! Numbers that only the database knows, each found by a bounded look and taken by one host for the
//! whole fleet. It speaks `wonce_api` directly, as the read side does. Knows nothing of how they are
//! shown.

use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};
use uuid::Uuid;
use wonce_api::live::gauges::{Count, Gauges, HandlerGauges, Method, SinkGauges};

use super::sample::{Kind, Sample};
use super::sql::Sql;
use super::{Error, Store};

/// A sample that takes longer is given up.
const LIMIT: Duration = Duration::from_secs(5);
/// Sinks that one sample lists.
const MAX_SINKS: i64 = 200;

/// `$1` is the cap: what is above it is estimated. `now()` and not the clock: only a stable value
/// can be looked up in an index.
const HANDLERS: Sql = Sql {
    name: "count each handler's deliveries",
    text: "
        SELECT h.name, h.state, h.ordering, encode(h.active_version, 'hex') AS digest,
               coalesce(v.label, '') AS label, c.depth, c.due, c.retries, c.dead,
               CASE WHEN c.depth > $1 THEN wonce.estimated_rows(
                   format('wonce.inbox WHERE handler_id = %s', h.id)) END AS estimated_depth,
               CASE WHEN c.due > $1 THEN wonce.estimated_rows(
                   format('wonce.inbox WHERE handler_id = %s AND due_at <= now()', h.id)) END AS estimated_due,
               CASE WHEN c.retries > $1 THEN wonce.estimated_rows(
                   format('wonce.inbox WHERE handler_id = %s AND due_at > now()', h.id)) END AS estimated_retries,
               CASE WHEN c.dead > $1 THEN wonce.estimated_rows(
                   format('wonce.dead_letter WHERE handler_id = %s AND state = %L', h.id, 'dead')) END
                   AS estimated_dead,
               (extract(epoch FROM now() - c.oldest_due) * 1000)::bigint AS oldest_due_ms,
               (extract(epoch FROM now() - c.oldest_dead) * 1000)::bigint AS oldest_dead_ms
        FROM wonce.handler h
        LEFT JOIN wonce.handler_version v ON v.handler_id = h.id AND v.digest = h.active_version
        CROSS JOIN LATERAL (SELECT
            (SELECT count(*) FROM (
                SELECT FROM wonce.inbox i WHERE i.handler_id = h.id LIMIT $1 + 1) n) AS depth,
            (SELECT count(*) FROM (
                (SELECT FROM wonce.inbox i
                 WHERE i.handler_id = h.id AND i.lane IS NULL AND i.due_at <= now() LIMIT $1 + 1)
                UNION ALL
                (SELECT FROM wonce.inbox i
                 WHERE i.handler_id = h.id AND i.lane IS NOT NULL AND i.due_at <= now() LIMIT $1 + 1)
                LIMIT $1 + 1) n) AS due,
            (SELECT count(*) FROM (
                (SELECT FROM wonce.inbox i
                 WHERE i.handler_id = h.id AND i.lane IS NULL AND i.due_at > now() LIMIT $1 + 1)
                UNION ALL
                (SELECT FROM wonce.inbox i
                 WHERE i.handler_id = h.id AND i.lane IS NOT NULL AND i.due_at > now() LIMIT $1 + 1)
                LIMIT $1 + 1) n) AS retries,
            (SELECT count(*) FROM (
                SELECT FROM wonce.dead_letter d
                WHERE d.handler_id = h.id AND d.state = 'dead' LIMIT $1 + 1) n) AS dead,
            (SELECT min(o.due_at) FROM (
                (SELECT i.due_at FROM wonce.inbox i
                 WHERE i.handler_id = h.id AND i.lane IS NULL ORDER BY i.due_at LIMIT 1)
                UNION ALL
                (SELECT i.due_at FROM wonce.inbox i
                 WHERE i.handler_id = h.id AND i.lane IS NOT NULL ORDER BY i.due_at LIMIT 1)) o
             WHERE o.due_at <= now()) AS oldest_due,
            (SELECT d.last_failed_at FROM wonce.dead_letter d
             WHERE d.handler_id = h.id AND d.state = 'dead' ORDER BY d.id LIMIT 1) AS oldest_dead
        ) c
        ORDER BY h.name",
    params: &[Type::INT8],
};
const SINKS: Sql = Sql {
    name: "count each sink's effects",
    // The order keeps the planner on the index of what is open, and off the history.
    text: "
        WITH RECURSIVE sink AS (
            SELECT (SELECT min(o.sink) FROM wonce.outbox o WHERE o.state <> 'confirmed') AS name
            UNION ALL
            SELECT (SELECT min(o.sink) FROM wonce.outbox o WHERE o.state <> 'confirmed' AND o.sink > s.name)
            FROM sink s WHERE s.name IS NOT NULL
        )
        SELECT s.name, st.state, c.effects,
               CASE WHEN c.effects > $1 THEN wonce.estimated_rows(
                   format('wonce.outbox WHERE sink = %L AND state = %L', s.name, st.state)) END AS estimated,
               CASE WHEN st.state = 'planned' THEN (extract(epoch FROM now() - (
                   SELECT o.planned_at FROM wonce.outbox o
                   WHERE o.sink = s.name AND o.state = 'planned' AND o.state <> 'confirmed'
                   ORDER BY o.id LIMIT 1)) * 1000)::bigint END AS oldest_ms
        FROM (SELECT name FROM sink WHERE name IS NOT NULL LIMIT $2) s
        CROSS JOIN unnest(ARRAY['planned', 'sending', 'refused', 'unknown']) AS st (state)
        CROSS JOIN LATERAL (
            SELECT count(*) AS effects FROM (
                SELECT FROM wonce.outbox o
                WHERE o.sink = s.name AND o.state = st.state AND o.state <> 'confirmed'
                ORDER BY o.id LIMIT $1 + 1) n) c
        ORDER BY s.name",
    params: &[Type::INT8, Type::INT8],
};
const REST: Sql = Sql {
    name: "count what has no handler",
    text: "
        SELECT p.parked, s.submitted,
               CASE WHEN p.parked > $1 THEN wonce.estimated_rows(
                   'wonce.dead_letter WHERE handler_id IS NULL AND state = ''dead''') END AS estimated_parked,
               CASE WHEN s.submitted > $1 THEN wonce.estimated_rows('wonce.submitted') END
                   AS estimated_submitted
        FROM (SELECT count(*) AS parked FROM (
                  SELECT FROM wonce.dead_letter d
                  WHERE d.handler_id IS NULL AND d.state = 'dead' LIMIT $1 + 1) n) p
        CROSS JOIN (SELECT count(*) AS submitted FROM (
                  SELECT FROM wonce.submitted LIMIT $1 + 1) n) s",
    params: &[Type::INT8],
};

pub(super) const STATEMENTS: &[&Sql] = &[&HANDLERS, &SINKS, &REST];

/// Counts up to here; the planner's estimate above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cap(pub u32);

impl Store {
    /// Takes a sample in the name of the fleet, unless another host is at it, or the last one is
    /// younger than `pause` or than fifty times what it took. Says whether it did.
    ///
    /// # Errors
    /// When the database does not answer in time.
    pub async fn sample_gauges(&self, boot: Uuid, cap: Cap, pause: Duration) -> Result<bool, Error> {
        let mut client = self.client().await?;
        let Some(sample) = Sample::begin(&mut client, Kind::Gauges, boot, pause, LIMIT).await? else {
            return Ok(false);
        };
        let gauges = look(sample.transaction(), cap).await?;
        sample.finish(&gauges).await?;
        Ok(true)
    }
}

/// What the caller of a sample adds stays empty: when, by whom, how long.
async fn look(tx: &Transaction<'_>, cap: Cap) -> Result<Gauges, Error> {
    let cap = i64::from(cap.0);
    let handlers = HANDLERS.query(tx, &[&cap]).await?;
    let sinks = SINKS.query(tx, &[&cap, &MAX_SINKS]).await?;
    let rest = REST.query_one(tx, &[&cap]).await?;
    Ok(Gauges {
        at: String::new(),
        age_ms: 0,
        by: String::new(),
        took_ms: 0,
        handlers: handlers.iter().map(handler).collect(),
        sinks: sinks.chunk_by(|a, b| name(a) == name(b)).map(sink).collect(),
        parked: count(&rest, "parked", "estimated_parked"),
        submitted: count(&rest, "submitted", "estimated_submitted"),
        books: None,
    })
}

fn handler(row: &Row) -> HandlerGauges {
    HandlerGauges {
        handler: row.get("name"),
        state: row.get("state"),
        ordering: row.get("ordering"),
        version: row.get("label"),
        digest: row.get("digest"),
        depth: count(row, "depth", "estimated_depth"),
        due: count(row, "due", "estimated_due"),
        scheduled_retries: count(row, "retries", "estimated_retries"),
        oldest_due_ms: age(row, "oldest_due_ms"),
        dead: count(row, "dead", "estimated_dead"),
        oldest_dead_ms: age(row, "oldest_dead_ms"),
    }
}

fn name(row: &Row) -> &str {
    row.get("name")
}

/// The four rows of one sink.
fn sink(rows: &[Row]) -> SinkGauges {
    let of = |state: &str| rows.iter().find(|row| row.get::<_, &str>("state") == state);
    let count_of = |state| of(state).map_or_else(none, |row| count(row, "effects", "estimated"));
    SinkGauges {
        sink: rows.first().map(|row| name(row).to_owned()).unwrap_or_default(),
        planned: count_of("planned"),
        sending: count_of("sending"),
        refused: count_of("refused"),
        unknown: count_of("unknown"),
        oldest_planned_ms: of("planned").and_then(|row| age(row, "oldest_ms")),
    }
}

fn none() -> Count {
    Count { n: 0, method: Method::Exact }
}

/// The count, or where it stopped at the cap the estimate, which is never less than the count.
fn count(row: &Row, counted: &str, estimated: &str) -> Count {
    let counted = row.get::<_, i64>(counted);
    let (n, method) = match row.get::<_, Option<i64>>(estimated) {
        None => (counted, Method::Exact),
        Some(estimate) => (estimate.max(counted), Method::Estimate),
    };
    Count { n: u64::try_from(n).unwrap_or(0), method }
}

fn age(row: &Row, column: &str) -> Option<u64> {
    row.get::<_, Option<i64>>(column).map(|milliseconds| u64::try_from(milliseconds).unwrap_or(0))
}
