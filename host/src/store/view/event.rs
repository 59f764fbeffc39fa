//! One delivery's whole timeline, put together from every table that knows its key.

use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};
use wonce_api::event::{
    Accepted, AttemptSeen, DuplicateSeen, EffectSeen, Head, Settled, TIMELINE_LIMIT, Timeline, Waiting,
};

use super::{READ_LIMIT, dead_letter, snapshot, time, time_opt};
use crate::store::edit::edits_of;
use crate::store::sql::Sql;
use crate::store::{Error, Store, action};

const PENDING: Sql = Sql {
    name: "find a pending delivery",
    text: "
        SELECT i.id, i.accepted_at, i.via, i.source, i.event_id, i.event_type, i.key_rule, i.ordering_key,
               encode(i.payload_digest, 'hex') AS payload_hash, i.hash_rule, i.traceparent,
               length(i.data)::bigint AS bytes, i.round, i.attempt, i.due_at,
               ceil(extract(epoch FROM i.due_at - now()))::bigint AS due_in_seconds, h.state AS handler_state
        FROM wonce.inbox i JOIN wonce.handler h ON h.id = i.handler_id
        WHERE h.name = $1 AND i.key = $2",
    params: &[Type::TEXT, Type::TEXT],
};
const SETTLED: Sql = Sql {
    name: "find a settled delivery",
    text: "
        SELECT p.accepted_at, p.via, p.source, p.event_id, p.event_type, p.key_rule, p.ordering_key,
               encode(p.payload_digest, 'hex') AS payload_hash, p.hash_rule, p.traceparent,
               (SELECT length(d.data)::bigint FROM wonce.dead_letter d
                WHERE d.handler_id = p.handler_id AND d.key = p.key AND d.kind = 'delivery'
                ORDER BY d.id DESC LIMIT 1) AS bytes,
               p.outcome, p.ignored_reason, p.processed_at, p.round, p.attempts,
               encode(p.version, 'hex') AS version, p.xact::text AS xact
        FROM wonce.processed_events p JOIN wonce.handler h ON h.id = p.handler_id
        WHERE h.name = $1 AND p.key = $2",
    params: &[Type::TEXT, Type::TEXT],
};
const HEAD: Sql = Sql {
    name: "find the head of an ordering key",
    text: "
        SELECT head.key, head.attempt, head.due_at,
               (SELECT a.message FROM wonce.attempt a
                WHERE a.handler_id = head.handler_id AND a.key = head.key
                ORDER BY a.id DESC LIMIT 1) AS message,
               (SELECT count(*) FROM wonce.inbox x
                WHERE x.handler_id = me.handler_id AND x.lane = me.lane
                  AND x.ordering_key = me.ordering_key AND x.id > head.id AND x.id < me.id) AS between
        FROM wonce.inbox me
        CROSS JOIN LATERAL (
            SELECT x.id, x.handler_id, x.key, x.attempt, x.due_at FROM wonce.inbox x
            WHERE x.handler_id = me.handler_id AND x.lane = me.lane
              AND x.ordering_key = me.ordering_key AND x.id < me.id
            ORDER BY x.id LIMIT 1) AS head
        WHERE me.id = $1",
    params: &[Type::INT8],
};
const ATTEMPTS: Sql = Sql {
    name: "list attempts",
    text: "
        SELECT a.round, a.attempt, a.failed_at, a.decision, a.class, a.code, a.message, a.duration_us,
               encode(a.version, 'hex') AS version, a.host::text AS host, a.log_tail
        FROM wonce.attempt a JOIN wonce.handler h ON h.id = a.handler_id
        WHERE h.name = $1 AND a.key = $2 ORDER BY a.id DESC LIMIT $3",
    params: &[Type::TEXT, Type::TEXT, Type::INT8],
};
const EFFECTS: Sql = Sql {
    name: "list effects",
    text: "
        SELECT o.id, o.sink, o.effect_type, o.state, o.attempt, o.dedup_key, o.planned_at, o.settled_at,
               o.last_error
        FROM wonce.outbox o JOIN wonce.handler h ON h.id = o.handler_id
        WHERE h.name = $1 AND o.key = $2 ORDER BY o.id LIMIT $3",
    params: &[Type::TEXT, Type::TEXT, Type::INT8],
};
const DUPLICATES: Sql = Sql {
    name: "list sampled duplicates",
    text: "
        SELECT u.seen_at, u.via, floor(extract(epoch FROM u.seen_at - u.original_at))::bigint AS after_seconds
        FROM wonce.duplicate u JOIN wonce.handler h ON h.id = u.handler_id
        WHERE h.name = $1 AND u.key = $2 ORDER BY u.seen_at LIMIT $3",
    params: &[Type::TEXT, Type::TEXT, Type::INT8],
};

pub(in crate::store) const STATEMENTS: &[&Sql] =
    &[&PENDING, &SETTLED, &HEAD, &ATTEMPTS, &EFFECTS, &DUPLICATES];

impl Store {
    /// Everything that is known of one delivery, or `None` when it is neither pending nor in the
    /// ledger.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn timeline(&self, handler: &str, key: &str) -> Result<Option<Timeline>, Error> {
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, READ_LIMIT).await?;
        let pending = PENDING.query_opt(&tx, &[&handler, &key]).await?;
        let settled = SETTLED.query_opt(&tx, &[&handler, &key]).await?;
        // With both, the ledger row owns the key and the pending one will be its duplicate.
        let Some(owner) = settled.as_ref().or(pending.as_ref()) else {
            return Ok(None);
        };
        let dead_letters = dead_letter::of_delivery(&tx, handler, key, TIMELINE_LIMIT).await?;
        let targets: Vec<String> = dead_letters.iter().map(|d| action::dead_letter_target(d.id)).collect();
        let mut actions = action::of_targets(&tx, &targets, TIMELINE_LIMIT).await?;
        actions.reverse();
        let deliveries = dead_letters.iter().filter(|letter| letter.kind == "delivery");
        let edits = edits_of(&tx, &deliveries.map(|letter| letter.id).collect::<Vec<i64>>()).await?;
        let mut accepted = accepted(owner);
        if let Some(first) = edits.first() {
            accepted.payload_hash.clone_from(&first.hash_before);
        }
        let effects = effects_of(&tx, handler, key).await?;
        let duplicates = DUPLICATES.query(&tx, &[&handler, &key, &TIMELINE_LIMIT]).await?;
        Ok(Some(Timeline {
            taken,
            handler: handler.to_owned(),
            key: key.to_owned(),
            standing: settled.as_ref().map_or_else(|| "pending".to_owned(), |row| row.get("outcome")),
            accepted,
            waiting: match &pending {
                Some(row) => Some(waiting(&tx, row).await?),
                None => None,
            },
            attempts: attempts(&tx, handler, key).await?,
            effects,
            duplicates: duplicates.iter().map(duplicate_seen).collect(),
            dead_letters,
            edits,
            actions,
            outcome: settled.as_ref().map(outcome),
        }))
    }
}

fn accepted(row: &Row) -> Accepted {
    Accepted {
        at: time(row, "accepted_at"),
        via: row.get("via"),
        source: row.get("source"),
        event_id: row.get("event_id"),
        event_type: row.get("event_type"),
        key_rule: row.get("key_rule"),
        ordering_key: row.get("ordering_key"),
        payload_hash: row.get("payload_hash"),
        hash_rule: row.get("hash_rule"),
        traceparent: row.get("traceparent"),
        bytes: row.get("bytes"),
    }
}

async fn waiting(tx: &Transaction<'_>, row: &Row) -> Result<Waiting, Error> {
    let head = HEAD.query_opt(tx, &[&row.get::<_, i64>("id")]).await?;
    Ok(Waiting {
        round: row.get("round"),
        failed_attempts: row.get("attempt"),
        due_at: time(row, "due_at"),
        due_in_seconds: row.get("due_in_seconds"),
        handler_state: row.get("handler_state"),
        behind: head.map(|head| Head {
            key: head.get("key"),
            failed_attempts: head.get("attempt"),
            due_at: time(&head, "due_at"),
            message: head.get("message"),
            between: head.get("between"),
        }),
    })
}

async fn attempts(tx: &Transaction<'_>, handler: &str, key: &str) -> Result<Vec<AttemptSeen>, Error> {
    let rows = ATTEMPTS.query(tx, &[&handler, &key, &TIMELINE_LIMIT]).await?;
    Ok(rows.iter().rev().map(attempt_seen).collect())
}

pub(super) fn attempt_seen(row: &Row) -> AttemptSeen {
    AttemptSeen {
        round: row.get("round"),
        attempt: row.get("attempt"),
        at: time(row, "failed_at"),
        decision: row.get("decision"),
        class: row.get("class"),
        code: row.get("code"),
        message: row.get("message"),
        duration_us: row.get("duration_us"),
        version: row.get("version"),
        host: row.get("host"),
        log_tail: row.get("log_tail"),
    }
}

/// What a delivery planned, oldest first.
pub(super) async fn effects_of(
    tx: &Transaction<'_>,
    handler: &str,
    key: &str,
) -> Result<Vec<EffectSeen>, Error> {
    let rows = EFFECTS.query(tx, &[&handler, &key, &TIMELINE_LIMIT]).await?;
    Ok(rows.iter().map(effect_seen).collect())
}

fn effect_seen(row: &Row) -> EffectSeen {
    EffectSeen {
        id: row.get("id"),
        sink: row.get("sink"),
        effect_type: row.get("effect_type"),
        state: row.get("state"),
        attempts: row.get("attempt"),
        dedup_key: row.get("dedup_key"),
        planned_at: time(row, "planned_at"),
        settled_at: time_opt(row, "settled_at"),
        last_error: row.get("last_error"),
    }
}

fn duplicate_seen(row: &Row) -> DuplicateSeen {
    DuplicateSeen { at: time(row, "seen_at"), via: row.get("via"), after_seconds: row.get("after_seconds") }
}

fn outcome(row: &Row) -> Settled {
    Settled {
        outcome: row.get("outcome"),
        ignored_reason: row.get("ignored_reason"),
        at: time(row, "processed_at"),
        round: row.get("round"),
        attempts: row.get("attempts"),
        version: row.get("version"),
        xact: row.get("xact"),
        payload_hash: row.get("payload_hash"),
    }
}
