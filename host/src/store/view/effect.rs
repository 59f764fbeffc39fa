//! Effects over all events, the latest first.

use tokio_postgres::Row;
use tokio_postgres::types::Type;
use wonce_api::effect::{EffectList, EffectSummary};
use wonce_core::effect::EffectState;
use wonce_core::name::SinkName;

use super::event::effect_seen;
use super::{READ_LIMIT, snapshot};
use crate::store::sql::Sql;
use crate::store::{Error, Store};

macro_rules! effects {
    ($found:literal) => {
        concat!(
            "SELECT o.id, h.name AS handler, o.key, o.sink, o.effect_type, o.state, o.attempt, o.dedup_key,
                    o.planned_at, o.settled_at, o.last_error,
                    CASE WHEN o.state = 'planned'
                         THEN ceil(extract(epoch FROM o.due_at - now()))::bigint END AS due_in_seconds
             FROM (",
            $found,
            ") o JOIN wonce.handler h ON h.id = o.handler_id ORDER BY o.id DESC LIMIT $4"
        )
    };
}

/// From sink to sink and state to state through the index of what is not confirmed, a page of each:
/// however many wait, no more is read.
const OPEN: Sql = Sql {
    name: "list open effects",
    text: effects!(
        "WITH RECURSIVE s (sink) AS (
             (SELECT sink FROM wonce.outbox WHERE state <> 'confirmed' AND ($1::text IS NULL OR sink = $1)
              ORDER BY sink LIMIT 1)
             UNION ALL
             SELECT (SELECT n.sink FROM wonce.outbox n
                     WHERE n.state <> 'confirmed' AND n.sink > s.sink AND $1 IS NULL ORDER BY n.sink LIMIT 1)
             FROM s WHERE s.sink IS NOT NULL
         )
         SELECT p.* FROM s CROSS JOIN unnest($2::text[]) AS w (state) CROSS JOIN LATERAL (
             SELECT * FROM wonce.outbox x
             WHERE x.state <> 'confirmed' AND x.sink = s.sink AND x.state = w.state
               AND ($3::bigint IS NULL OR x.id < $3)
             ORDER BY x.id DESC LIMIT $4) p"
    ),
    params: &[Type::TEXT, Type::TEXT_ARRAY, Type::INT8, Type::INT8],
};
/// Backwards through the history.
const CONFIRMED: Sql = Sql {
    name: "list confirmed effects",
    text: effects!(
        "SELECT * FROM wonce.outbox x
         WHERE x.state = ALL ($2::text[]) AND ($1::text IS NULL OR x.sink = $1) AND ($3::bigint IS NULL OR x.id < $3)
         ORDER BY x.id DESC LIMIT $4"
    ),
    params: &[Type::TEXT, Type::TEXT_ARRAY, Type::INT8, Type::INT8],
};

pub(in crate::store) const STATEMENTS: &[&Sql] = &[&OPEN, &CONFIRMED];

impl Store {
    /// One page of effects, the latest first: in one state, or all that are not confirmed.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn effects(
        &self,
        sink: Option<&SinkName>,
        state: Option<EffectState>,
        before: Option<i64>,
        limit: u32,
    ) -> Result<EffectList, Error> {
        let sql = if state == Some(EffectState::Confirmed) { &CONFIRMED } else { &OPEN };
        let states: Vec<&str> = EffectState::ALL
            .into_iter()
            .filter(|known| state.map_or(*known != EffectState::Confirmed, |wanted| *known == wanted))
            .map(EffectState::as_str)
            .collect();
        let sink = sink.map(SinkName::as_str);
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, READ_LIMIT).await?;
        let rows = sql.query(&tx, &[&sink, &states, &before, &(i64::from(limit) + 1)]).await?;
        let effects: Vec<EffectSummary> = rows.iter().take(limit as usize).map(summary).collect();
        let is_last = rows.len() <= limit as usize;
        let next_before = if is_last { None } else { effects.last().map(|one| one.effect.id) };
        Ok(EffectList { taken, effects, next_before })
    }
}

fn summary(row: &Row) -> EffectSummary {
    EffectSummary {
        handler: row.get("handler"),
        key: row.get("key"),
        due_in_seconds: row.get("due_in_seconds"),
        effect: effect_seen(row),
    }
}
