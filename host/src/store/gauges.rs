//! Numbers that only the database knows, each counted over a bounded look. Knows nothing of how
//! they are shown.

use std::time::Duration;

use tokio_postgres::types::Type;
use wonce_core::effect::EffectState;

use super::sql::Sql;
use super::{Error, Store};

/// What stands in the database for one handler. A count of `cap + 1` means "more than `cap`".
#[derive(Debug, Clone, PartialEq)]
pub struct HandlerCounts {
    /// `-` for parked events, which have no handler.
    pub handler: String,
    pub inbox_depth: u32,
    pub inbox_due: u32,
    pub scheduled_retries: u32,
    pub dead_letters: u32,
    /// Zero when nothing is due.
    pub oldest_due_age: Duration,
}

/// How many effects of a sink stand in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxCount {
    pub sink: String,
    pub state: EffectState,
    pub effects: u32,
}

const HANDLERS: Sql = Sql {
    name: "count each handler's deliveries",
    // `now()` and not the clock: only a stable value can be looked up in an index.
    text: "
        SELECT h.name,
               (SELECT count(*) FROM (SELECT 1 FROM wonce.inbox i WHERE i.handler_id = h.id LIMIT $1) c),
               (SELECT count(*) FROM (
                   (SELECT 1 FROM wonce.inbox i
                    WHERE i.handler_id = h.id AND i.lane IS NULL AND i.due_at <= now() LIMIT $1)
                   UNION ALL
                   (SELECT 1 FROM wonce.inbox i
                    WHERE i.handler_id = h.id AND i.lane IS NOT NULL AND i.due_at <= now() LIMIT $1)
                   LIMIT $1) c),
               (SELECT count(*) FROM (
                   (SELECT 1 FROM wonce.inbox i
                    WHERE i.handler_id = h.id AND i.lane IS NULL AND i.due_at > now() LIMIT $1)
                   UNION ALL
                   (SELECT 1 FROM wonce.inbox i
                    WHERE i.handler_id = h.id AND i.lane IS NOT NULL AND i.due_at > now() LIMIT $1)
                   LIMIT $1) c),
               (SELECT count(*) FROM (
                   SELECT 1 FROM wonce.dead_letter d
                   WHERE d.handler_id = h.id AND d.state = 'dead' LIMIT $1) c),
               coalesce(extract(epoch FROM greatest(now() - least(
                   (SELECT i.due_at FROM wonce.inbox i
                    WHERE i.handler_id = h.id AND i.lane IS NULL ORDER BY i.due_at LIMIT 1),
                   (SELECT i.due_at FROM wonce.inbox i
                    WHERE i.handler_id = h.id AND i.lane IS NOT NULL ORDER BY i.due_at LIMIT 1)),
                   interval '0')), 0)::float8
        FROM wonce.handler h
        UNION ALL
        SELECT '-', 0, 0, 0,
               (SELECT count(*) FROM (
                   SELECT 1 FROM wonce.dead_letter d
                   WHERE d.handler_id IS NULL AND d.state = 'dead' LIMIT $1) c),
               0",
    params: &[Type::INT8],
};
const OUTBOX: Sql = Sql {
    name: "count each sink's effects",
    // The order keeps the planner on the index of what is open, and off the history.
    text: "
        WITH RECURSIVE sink AS (
            SELECT (SELECT min(o.sink) FROM wonce.outbox o WHERE o.state <> 'confirmed') AS name
            UNION ALL
            SELECT (SELECT min(o.sink) FROM wonce.outbox o WHERE o.state <> 'confirmed' AND o.sink > s.name)
            FROM sink s WHERE s.name IS NOT NULL
        )
        SELECT s.name, st.state,
               (SELECT count(*) FROM (
                   SELECT 1 FROM wonce.outbox o
                   WHERE o.sink = s.name AND o.state = st.state AND o.state <> 'confirmed'
                   ORDER BY o.id LIMIT $1) c)
        FROM sink s CROSS JOIN unnest($2) AS st (state)
        WHERE s.name IS NOT NULL",
    params: &[Type::INT8, Type::TEXT_ARRAY],
};

/// The states that `outbox_counts` counts: confirmed effects are history.
pub const OPEN_STATES: [EffectState; 4] =
    [EffectState::Planned, EffectState::Sending, EffectState::Refused, EffectState::Unknown];

pub(super) const STATEMENTS: &[&Sql] = &[&HANDLERS, &OUTBOX];

impl Store {
    /// Counts per handler, each up to `cap + 1`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn handler_counts(&self, cap: u32) -> Result<Vec<HandlerCounts>, Error> {
        let client = self.client().await?;
        let rows = HANDLERS.query(&**client, &[&(i64::from(cap) + 1)]).await?;
        Ok(rows
            .iter()
            .map(|row| HandlerCounts {
                handler: row.get(0),
                inbox_depth: small(row.get(1)),
                inbox_due: small(row.get(2)),
                scheduled_retries: small(row.get(3)),
                dead_letters: small(row.get(4)),
                oldest_due_age: Duration::try_from_secs_f64(row.get(5)).unwrap_or_default(),
            })
            .collect())
    }

    /// Counts per sink and open state, each up to `cap + 1`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn outbox_counts(&self, cap: u32) -> Result<Vec<OutboxCount>, Error> {
        let client = self.client().await?;
        let states = OPEN_STATES.map(EffectState::as_str);
        let rows = OUTBOX.query(&**client, &[&(i64::from(cap) + 1), &states.as_slice()]).await?;
        let count_of = |row: &tokio_postgres::Row| {
            let state: &str = row.get(1);
            let state = OPEN_STATES.into_iter().find(|s| s.as_str() == state)?;
            Some(OutboxCount { sink: row.get(0), state, effects: small(row.get(2)) })
        };
        Ok(rows.iter().filter_map(count_of).collect())
    }
}

/// The statement's own LIMIT keeps it small.
fn small(count: i64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
