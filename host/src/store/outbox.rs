//! Effects on their way out: claim (in [`claim`]), settle, recover. The relay decides, this writes;
//! every write checks that the effect is still in the hands it was claimed for. Knows nothing of
//! sinks but their names.

use tokio_postgres::types::Type;
use uuid::Uuid;
use wonce_core::delivery::Attempt;
use wonce_core::name::{HandlerName, SinkName};
use wonce_core::relay::{Doubt, SendDecision};

use super::sql::Sql;
use super::{Error, Store, begin};

mod claim;

pub use claim::{ClaimedEffect, EffectClaim, EffectClaims, Turn};

/// Rows that one recovery takes; the rest waits for the next.
const RECOVERY_BATCH: i64 = 200;
/// Sink names that one look lists.
const SINK_NAMES: i64 = 200;

/// One row of the outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId(pub i64);

/// Whose hands an effect is in: no other boot, and no later attempt of this one, may settle it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InHand {
    pub id: EffectId,
    pub host: Uuid,
    pub attempt: Attempt,
}

/// Whether a settlement found the effect as it was claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    Written,
    /// Another host or a later attempt has it; nothing was written.
    Overtaken,
}

/// An effect whose host did not answer in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostEffect {
    pub in_hand: InHand,
    /// None when it is not deployed any more.
    pub handler: Option<HandlerName>,
    pub sink: SinkName,
    pub doubt: Doubt,
}

const SETTLE: Sql = Sql {
    name: "settle an effect",
    text: "
        UPDATE wonce.outbox SET
            state = $4,
            due_at = CASE WHEN $4 = 'planned' THEN clock_timestamp() + make_interval(secs => $5) ELSE due_at END,
            settled_at = CASE WHEN $4 = 'planned' THEN NULL ELSE clock_timestamp() END,
            sending_deadline = NULL,
            last_error = coalesce($6, last_error),
            in_doubt = in_doubt OR $7
        WHERE id = $1 AND state = 'sending' AND sending_host = $2 AND attempt = $3",
    params: &[
        Type::INT8,
        Type::UUID,
        Type::INT4,
        Type::TEXT,
        Type::FLOAT8,
        Type::TEXT,
        Type::BOOL,
    ],
};
const LOST: Sql = Sql {
    name: "find effects whose host did not answer in time",
    text: "
        SELECT o.id, o.sending_host, o.attempt, o.sink, o.in_doubt,
               (SELECT h.name FROM wonce.handler h WHERE h.id = o.handler_id)
        FROM wonce.outbox o
        WHERE o.state = 'sending' AND o.sending_deadline < now() AND o.sink = ANY ($1)
        ORDER BY o.sending_deadline LIMIT $2
        FOR UPDATE SKIP LOCKED",
    params: &[Type::TEXT_ARRAY, Type::INT8],
};
const OPEN_SINKS: Sql = Sql {
    name: "list the sinks that planned effects wait for",
    text: "
        WITH RECURSIVE sink AS (
            SELECT (SELECT min(o.sink) FROM wonce.outbox o WHERE o.state <> 'confirmed') AS name
            UNION ALL
            SELECT (SELECT min(o.sink) FROM wonce.outbox o WHERE o.state <> 'confirmed' AND o.sink > s.name)
            FROM sink s WHERE s.name IS NOT NULL
        )
        SELECT s.name FROM sink s
        WHERE EXISTS (SELECT FROM wonce.outbox o
                      WHERE o.sink = s.name AND o.state = 'planned' AND o.state <> 'confirmed')
        LIMIT $1",
    params: &[Type::INT8],
};

pub(super) const STATEMENTS: &[&Sql] = &[
    &SETTLE,
    &LOST,
    &OPEN_SINKS,
    &claim::HEADS,
    &claim::LOCK_KEYS,
    &claim::TAKE_ORDERED,
    &claim::TAKE_UNORDERED,
];

impl Store {
    /// Writes what became of a sent effect.
    ///
    /// # Errors
    /// When the database does not answer: then nothing is known, and asking again is safe.
    pub async fn settle_effect(&self, effect: InHand, decision: &SendDecision) -> Result<Settled, Error> {
        let client = self.client().await?;
        settle(&**client, effect, decision).await
    }

    /// Takes effects of `sinks` whose sending deadline has passed out of the hands of their
    /// hosts, as `decide` says. Answers what was written.
    ///
    /// # Errors
    /// When the database does not answer; then nothing was written.
    pub async fn recover_effects(
        &self,
        sinks: &[SinkName],
        decide: impl Fn(&LostEffect) -> SendDecision,
    ) -> Result<Vec<(LostEffect, SendDecision)>, Error> {
        let sinks: Vec<&str> = sinks.iter().map(SinkName::as_str).collect();
        let mut client = self.client().await?;
        let tx = begin(&mut client, "begin the recovery of effects").await?;
        let mut recovered = Vec::new();
        for row in LOST.query(&tx, &[&sinks, &RECOVERY_BATCH]).await? {
            let lost = lost_effect(&row)?;
            let decision = decide(&lost);
            settle(&tx, lost.in_hand, &decision).await?;
            recovered.push((lost, decision));
        }
        tx.commit()
            .await
            .map_err(|source| Error::Statement { attempt: "commit the recovery of effects", source })?;
        Ok(recovered)
    }

    /// Names of sinks for which effects are planned, those that no host knows included.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn sinks_with_planned_effects(&self) -> Result<Vec<String>, Error> {
        let client = self.client().await?;
        let rows = OPEN_SINKS.query(&**client, &[&SINK_NAMES]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }
}

async fn settle(
    client: &impl tokio_postgres::GenericClient,
    effect: InHand,
    decision: &SendDecision,
) -> Result<Settled, Error> {
    let attempt = stored(effect.attempt);
    let wait = decision.after().unwrap_or_default().as_secs_f64();
    let (reason, in_doubt) = match decision {
        SendDecision::Confirm => (None, false),
        SendDecision::Again { reason, doubt, .. } => (Some(reason), *doubt == Doubt::MayHaveArrived),
        SendDecision::Refuse { reason } => (Some(reason), false),
        SendDecision::Hold { reason } => (Some(reason), true),
    };
    let written = SETTLE
        .execute(
            client,
            &[&effect.id.0, &effect.host, &attempt, &decision.state().as_str(), &wait, &reason, &in_doubt],
        )
        .await?;
    Ok(if written == 1 { Settled::Written } else { Settled::Overtaken })
}

fn lost_effect(row: &tokio_postgres::Row) -> Result<LostEffect, Error> {
    let sink: String = row.get(3);
    let sink = SinkName::parse(sink.clone()).map_err(|problem| Error::Refused {
        attempt: format!("read the sink \"{sink}\" of an effect"),
        reason: problem.to_string(),
    })?;
    let in_hand = InHand { id: EffectId(row.get(0)), host: row.get(1), attempt: attempt_of(row.get(2)) };
    let handler: Option<String> = row.get(5);
    let handler = handler.and_then(|name| HandlerName::parse(name).ok());
    Ok(LostEffect { in_hand, handler, sink, doubt: doubt_of(row.get(4)) })
}

fn doubt_of(in_doubt: bool) -> Doubt {
    if in_doubt { Doubt::MayHaveArrived } else { Doubt::None }
}

/// The column is never negative: it starts at 0 and only grows.
fn attempt_of(column: i32) -> Attempt {
    Attempt(u32::try_from(column).unwrap_or_default())
}

fn stored(attempt: Attempt) -> i32 {
    i32::try_from(attempt.0).unwrap_or(i32::MAX)
}
