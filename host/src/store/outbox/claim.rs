//! The claim: due effects of one sink become `sending` in the name of one host boot, committed
//! before anything goes out. Of an ordering key only the head is taken, and only while no effect
//! of that key is being sent anywhere. Knows nothing of what is done with them.
//!
//! The ordered claim is three statements, because one cannot be right: a snapshot that was taken
//! before another host's commit may show a head that is none any more. So the keys are locked
//! first (until this transaction ends), and a statement with a fresh snapshot looks again.

use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};
use uuid::Uuid;
use wonce_core::delivery::Attempt;
use wonce_core::effect::Effect;
use wonce_core::name::{HandlerName, Key, OrderingKey, SinkName};
use wonce_core::relay::Doubt;

use super::{EffectId, InHand, attempt_of, doubt_of};
use crate::store::sql::Sql;
use crate::store::{Error, Store, begin};

/// Ordering keys that one claim walks over; the next one goes on behind them.
const HEADS_WALKED: i64 = 256;

/// What is asked for.
#[derive(Debug)]
pub struct EffectClaim<'a> {
    pub sink: &'a SinkName,
    pub host: Uuid,
    /// At most this many effects.
    pub limit: usize,
    /// When the host must have answered, from now.
    pub deadline: Duration,
    pub turn: Turn,
    /// The walk over ordering keys starts behind this one; empty for the first.
    pub behind: &'a str,
}

/// Which effects are looked for first. The relay alternates, so that neither starves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Ordered,
    Unordered,
}

/// What was found.
#[derive(Debug)]
pub struct EffectClaims {
    pub effects: Vec<ClaimedEffect>,
    /// Where the next walk starts; empty when this one reached the last key.
    pub behind: String,
}

/// An effect in the hands of the claiming host.
#[derive(Debug)]
pub struct ClaimedEffect {
    pub id: EffectId,
    /// The attempt that is about to run.
    pub attempt: Attempt,
    pub doubt: Doubt,
    pub handler: HandlerName,
    /// The key of the delivery that planned it.
    pub key: Key,
    pub traceparent: Option<String>,
    pub effect: Effect,
}

impl ClaimedEffect {
    /// What a settlement must find unchanged.
    #[must_use]
    pub fn in_hand(&self, host: Uuid) -> InHand {
        InHand { id: self.id, host, attempt: self.attempt }
    }
}

/// What both claims answer, in the order that [`claimed_effect`] reads it.
macro_rules! taken {
    () => {
        "SELECT t.id, t.attempt, t.in_doubt, h.name, t.key, t.traceparent, t.effect_type, t.content_type,
               t.ordering_key, t.dedup_key, t.attributes, t.data
        FROM taken t LEFT JOIN wonce.handler h ON h.id = t.handler_id
        ORDER BY t.id"
    };
}

pub(super) const HEADS: Sql = Sql {
    name: "walk over the heads of ordering keys",
    // A loose index scan: one row a key, however many wait behind it. `now()` and not the clock:
    // it does not move during the walk.
    text: "
        WITH RECURSIVE head AS (
            (SELECT o.ordering_key, o.id, o.state, o.due_at FROM wonce.outbox o
             WHERE o.sink = $1 AND o.ordering_key > $2 AND o.state IN ('planned', 'sending')
             ORDER BY o.ordering_key, o.id LIMIT 1)
            UNION ALL
            SELECT n.ordering_key, n.id, n.state, n.due_at
            FROM head h
            CROSS JOIN LATERAL (
                SELECT o.ordering_key, o.id, o.state, o.due_at FROM wonce.outbox o
                WHERE o.sink = $1 AND o.ordering_key > h.ordering_key AND o.state IN ('planned', 'sending')
                ORDER BY o.ordering_key, o.id LIMIT 1) AS n
        )
        SELECT h.ordering_key, h.id, h.state = 'planned' AND h.due_at <= now() FROM head h LIMIT $3",
    params: &[Type::TEXT, Type::TEXT, Type::INT8],
};
pub(super) const LOCK_KEYS: Sql = Sql {
    name: "lock ordering keys of a sink",
    text: "
        SELECT k FROM unnest($2) AS k
        WHERE pg_try_advisory_xact_lock(hashtextextended(k, hashtextextended('wonce relay ' || $1, 0)))",
    params: &[Type::TEXT, Type::TEXT_ARRAY],
};
pub(super) const TAKE_ORDERED: Sql = Sql {
    name: "claim the heads of ordering keys",
    text: concat!(
        "
        WITH taken AS (
            UPDATE wonce.outbox o SET
                state = 'sending', attempt = o.attempt + 1, sending_host = $2,
                sending_deadline = clock_timestamp() + make_interval(secs => $3)
            WHERE o.id = ANY ($1) AND o.state = 'planned' AND o.ordering_key = ANY ($4)
              AND NOT EXISTS (
                  SELECT FROM wonce.outbox s
                  WHERE s.sink = o.sink AND s.ordering_key = o.ordering_key AND s.state = 'sending')
              AND NOT EXISTS (
                  SELECT FROM wonce.outbox e
                  WHERE e.sink = o.sink AND e.ordering_key = o.ordering_key AND e.id < o.id
                    AND e.state IN ('planned', 'sending'))
            RETURNING o.*
        )
        ",
        taken!()
    ),
    params: &[Type::INT8_ARRAY, Type::UUID, Type::FLOAT8, Type::TEXT_ARRAY],
};
pub(super) const TAKE_UNORDERED: Sql = Sql {
    name: "claim unordered effects",
    text: concat!(
        "
        WITH due AS MATERIALIZED (
            SELECT o.id FROM wonce.outbox o
            WHERE o.sink = $1 AND o.state = 'planned' AND o.ordering_key IS NULL AND o.due_at <= now()
            ORDER BY o.due_at, o.id LIMIT $4
            FOR UPDATE SKIP LOCKED
        ), taken AS (
            UPDATE wonce.outbox o SET
                state = 'sending', attempt = o.attempt + 1, sending_host = $2,
                sending_deadline = clock_timestamp() + make_interval(secs => $3)
            FROM due WHERE o.id = due.id
            RETURNING o.*
        )
        ",
        taken!()
    ),
    params: &[Type::TEXT, Type::UUID, Type::FLOAT8, Type::INT8],
};

impl Store {
    /// Claims due effects of one sink. They are `sending` and committed when this answers.
    ///
    /// # Errors
    /// When the database does not answer. A claim whose commit got no answer may have happened:
    /// its effects then wait for their deadline.
    pub async fn claim_effects(&self, claim: &EffectClaim<'_>) -> Result<EffectClaims, Error> {
        let mut client = self.client().await?;
        let tx = begin(&mut client, "begin a claim of effects").await?;
        let mut claims = EffectClaims { effects: Vec::new(), behind: claim.behind.to_owned() };
        let turns = match claim.turn {
            Turn::Ordered => [Turn::Ordered, Turn::Unordered],
            Turn::Unordered => [Turn::Unordered, Turn::Ordered],
        };
        for turn in turns {
            match turn {
                Turn::Ordered => take_ordered(&tx, claim, &mut claims).await?,
                Turn::Unordered => take_unordered(&tx, claim, &mut claims).await?,
            }
        }
        tx.commit()
            .await
            .map_err(|source| Error::Statement { attempt: "commit a claim of effects", source })?;
        Ok(claims)
    }
}

async fn take_unordered(
    tx: &Transaction<'_>,
    claim: &EffectClaim<'_>,
    claims: &mut EffectClaims,
) -> Result<(), Error> {
    let free = claim.limit.saturating_sub(claims.effects.len());
    if free == 0 {
        return Ok(());
    }
    let free = i64::try_from(free).unwrap_or(i64::MAX);
    let deadline = claim.deadline.as_secs_f64();
    let rows = TAKE_UNORDERED.query(tx, &[&claim.sink.as_str(), &claim.host, &deadline, &free]).await?;
    read_into(&rows, claim.sink, claims)
}

async fn take_ordered(
    tx: &Transaction<'_>,
    claim: &EffectClaim<'_>,
    claims: &mut EffectClaims,
) -> Result<(), Error> {
    let free = claim.limit.saturating_sub(claims.effects.len());
    if free == 0 {
        return Ok(());
    }
    let sink = claim.sink.as_str();
    let heads = HEADS.query(tx, &[&sink, &claim.behind, &HEADS_WALKED]).await?;
    let due = due_heads(&heads, free);
    claims.behind = due.behind;
    if due.ids.is_empty() {
        return Ok(());
    }
    let locked: Vec<String> =
        LOCK_KEYS.query(tx, &[&sink, &due.keys]).await?.iter().map(|row| row.get(0)).collect();
    let deadline = claim.deadline.as_secs_f64();
    let rows = TAKE_ORDERED.query(tx, &[&due.ids, &claim.host, &deadline, &locked]).await?;
    read_into(&rows, claim.sink, claims)
}

struct DueHeads {
    ids: Vec<i64>,
    keys: Vec<String>,
    behind: String,
}

/// The first `limit` due heads of a walk, and where the next walk starts.
fn due_heads(walked: &[Row], limit: usize) -> DueHeads {
    let mut due = DueHeads { ids: Vec::new(), keys: Vec::new(), behind: String::new() };
    for row in walked {
        let key: String = row.get(0);
        due.behind.clone_from(&key);
        if row.get(2) {
            due.keys.push(key);
            due.ids.push(row.get(1));
        }
        if due.ids.len() == limit {
            return due;
        }
    }
    if i64::try_from(walked.len()).is_ok_and(|walked| walked < HEADS_WALKED) {
        due.behind.clear();
    }
    due
}

fn read_into(rows: &[Row], sink: &SinkName, claims: &mut EffectClaims) -> Result<(), Error> {
    for row in rows {
        claims.effects.push(claimed_effect(row, sink)?);
    }
    Ok(())
}

fn claimed_effect(row: &Row, sink: &SinkName) -> Result<ClaimedEffect, Error> {
    let id: i64 = row.get(0);
    let unreadable = |what: &'static str| {
        move |problem: wonce_core::name::Error| Error::Refused {
            attempt: format!("read the {what} of effect {id}"),
            reason: problem.to_string(),
        }
    };
    let handler: Option<String> = row.get(3);
    let key: String = row.get(4);
    let ordering_key: Option<String> = row.get(8);
    let attributes: Vec<String> = row.get(10);
    Ok(ClaimedEffect {
        id: EffectId(id),
        attempt: attempt_of(row.get(1)),
        doubt: doubt_of(row.get(2)),
        handler: HandlerName::parse(handler.unwrap_or_default()).map_err(unreadable("handler"))?,
        key: Key::parse(key).map_err(unreadable("key"))?,
        traceparent: row.get(5),
        effect: Effect {
            sink: sink.clone(),
            effect_type: row.get(6),
            content_type: row.get(7),
            data: row.get(11),
            ordering_key: ordering_key
                .map(OrderingKey::parse)
                .transpose()
                .map_err(unreadable("ordering key"))?,
            dedup_key: row.get(9),
            delay: None,
            attributes: attributes.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect(),
        },
    })
}
