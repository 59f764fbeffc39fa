//! Dead letters for study: lists, and one with its payload.

use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};
use wonce_api::dead_letter::{
    DeadLetterDetail, DeadLetterList, DeadLetterSummary, Original, Payload, Selection,
};

use super::event::{attempt_seen, effects_of};
use super::{READ_LIMIT, snapshot, time, time_opt};
use crate::store::dead_letter::pairs;
use crate::store::edit::{edits_of, hex, letters_of, received};
use crate::store::selected::{
    AS_OF, FINGERPRINT, HANDLER, KEY_PREFIX, OPERATION, REASON, STATE, VERSION, selected,
};
use crate::store::sql::{Param, Sql};
use crate::store::{Error, Store, action};

/// Which dead letters to list; `None` is "any".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub selection: Selection,
    pub state: Option<String>,
    /// Only smaller ids.
    pub before: Option<i64>,
    /// At most so many.
    pub limit: u32,
}

macro_rules! summaries {
    ($further:literal) => {
        concat!(
            "SELECT d.id, d.kind, d.state, d.reason, h.name AS handler, d.key, d.event_type, d.code,
                    d.message, d.fingerprint, d.round, d.attempts, d.owner, d.last_failed_at, d.acted_at",
            $further,
            " FROM wonce.dead_letter d LEFT JOIN wonce.handler h ON h.id = d.handler_id "
        )
    };
}

const LIST: Sql = Sql {
    name: "list dead letters",
    text: selected!(summaries!(""), "AND ($9::bigint IS NULL OR d.id < $9) ORDER BY d.id DESC LIMIT $10"),
    params: &[
        HANDLER,
        REASON,
        FINGERPRINT,
        VERSION,
        KEY_PREFIX,
        STATE,
        AS_OF,
        OPERATION,
        Type::INT8,
        Type::INT8,
    ],
};
const COUNT: Sql = Sql {
    name: "count dead letters",
    text: selected!(
        "SELECT count(*) AS total, min(d.last_failed_at) AS oldest, max(d.last_failed_at) AS newest,
                (SELECT coalesce(max(id), 0) FROM wonce.dead_letter) AS as_of
         FROM wonce.dead_letter d",
        ""
    ),
    params: &[HANDLER, REASON, FINGERPRINT, VERSION, KEY_PREFIX, STATE, AS_OF, OPERATION],
};
const OF_DELIVERY: Sql = Sql {
    name: "list a delivery's dead letters",
    text: concat!(summaries!(""), "WHERE h.name = $1 AND d.key = $2 ORDER BY d.id DESC LIMIT $3"),
    params: &[Type::TEXT, Type::TEXT, Type::INT8],
};
const DETAIL: Sql = Sql {
    name: "read a dead letter",
    text: concat!(
        summaries!(
            ", d.class, encode(d.version, 'hex') AS version, d.accepted_at, d.first_failed_at, d.via,
               d.source, d.event_id, d.subject, d.event_time, d.content_type, d.data_schema, d.traceparent,
               d.extensions, d.key_rule, d.ordering_key, encode(d.payload_digest, 'hex') AS payload_hash,
               d.hash_rule, d.data, d.handler_id, d.revision"
        ),
        "WHERE d.id = $1"
    ),
    params: &[Type::INT8],
};
const ATTEMPTS: Sql = Sql {
    name: "list the attempts of a dead letter",
    text: "
        SELECT round, attempt, failed_at, decision, class, code, message, duration_us,
               encode(version, 'hex') AS version, host::text AS host, log_tail
        FROM wonce.attempt WHERE handler_id = $1 AND key = $2 AND round = $3
        ORDER BY id DESC LIMIT $4",
    params: &[Type::INT8, Type::TEXT, Type::INT4, Type::INT8],
};
/// The owner of a conflicting key: its ledger row, else its pending delivery.
const ORIGINAL: Sql = Sql {
    name: "find the first payload of a key",
    text: "
        SELECT standing, accepted_at, settled_at, encode(digest, 'hex') AS payload_hash, hash_rule, data
        FROM (
            SELECT 1 AS place, p.outcome AS standing, p.accepted_at, p.processed_at AS settled_at,
                   coalesce(d.payload_digest, p.payload_digest) AS digest, p.hash_rule, d.data
            FROM wonce.processed_events p
            LEFT JOIN wonce.dead_letter d
                ON d.handler_id = p.handler_id AND d.key = p.key AND d.kind = 'delivery' AND d.state = 'dead'
            WHERE p.handler_id = $1 AND p.key = $2
            UNION ALL
            SELECT 2, 'pending', i.accepted_at, NULL, i.payload_digest, i.hash_rule, i.data
            FROM wonce.inbox i WHERE i.handler_id = $1 AND i.key = $2
        ) AS o ORDER BY place LIMIT 1",
    params: &[Type::INT8, Type::TEXT],
};

const STANDING: Sql = Sql {
    name: "say what became of a delivery",
    text: "
        SELECT coalesce((SELECT p.outcome FROM wonce.processed_events p WHERE p.handler_id = $1 AND p.key = $2),
                        (SELECT 'pending' FROM wonce.inbox i WHERE i.handler_id = $1 AND i.key = $2)) AS standing",
    params: &[Type::INT8, Type::TEXT],
};

pub(in crate::store) const STATEMENTS: &[&Sql] =
    &[&LIST, &COUNT, &OF_DELIVERY, &DETAIL, &ATTEMPTS, &ORIGINAL, &STANDING];

/// How many of its actions a dead letter shows.
const ACTIONS_LIMIT: i64 = 20;

impl Store {
    /// One page of dead letters, the latest first.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn dead_letters(&self, filter: &Filter) -> Result<DeadLetterList, Error> {
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, READ_LIMIT).await?;
        let Selection { handler, reason, fingerprint, version, key_prefix, operation } = &filter.selection;
        let (state, as_of) = (&filter.state, &None::<i64>);
        let selected: [Param<'_>; 8] =
            [handler, reason, fingerprint, version, key_prefix, state, as_of, operation];
        let about = COUNT.query_one(&tx, &selected).await?;
        let page = i64::from(filter.limit);
        let rest: [Param<'_>; 2] = [&filter.before, &(page + 1)];
        let rows = LIST.query(&tx, &[&selected[..], &rest[..]].concat()).await?;
        let is_last = i64::try_from(rows.len()).is_ok_and(|found| found <= page);
        let dead_letters: Vec<_> = rows.iter().take(filter.limit as usize).map(summary).collect();
        let next_before = if is_last { None } else { dead_letters.last().map(|d| d.id) };
        Ok(DeadLetterList {
            taken,
            total: about.get("total"),
            as_of: about.get("as_of"),
            oldest_failed_at: time_opt(&about, "oldest"),
            newest_failed_at: time_opt(&about, "newest"),
            dead_letters,
            next_before,
        })
    }

    /// One dead letter whole, or `None` when there is none with this id.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn dead_letter(&self, id: i64) -> Result<Option<DeadLetterDetail>, Error> {
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, READ_LIMIT).await?;
        let Some(row) = DETAIL.query_opt(&tx, &[&id]).await? else {
            return Ok(None);
        };
        let summary = summary(&row);
        let handler_id: Option<i64> = row.get("handler_id");
        let attempts = match (summary.kind.as_str(), handler_id, &summary.key) {
            ("delivery", Some(handler), Some(key)) => attempts(&tx, handler, key, summary.round).await?,
            _ => Vec::new(),
        };
        let original = match (summary.kind.as_str(), handler_id, &summary.key) {
            ("key_conflict", Some(handler), Some(key)) => original(&tx, handler, key).await?,
            _ => None,
        };
        let (standing, effects) = match (summary.kind.as_str(), handler_id, &summary.handler, &summary.key) {
            ("delivery", Some(id), Some(handler), Some(key)) => {
                let standing = STANDING.query_one(&tx, &[&id, key]).await?.get("standing");
                (standing, effects_of(&tx, handler, key).await?)
            }
            _ => (None, Vec::new()),
        };
        let letters = letters_of(&tx, id).await?;
        Ok(Some(DeadLetterDetail {
            taken,
            summary,
            class: row.get("class"),
            version: row.get("version"),
            accepted_at: time(&row, "accepted_at"),
            first_failed_at: time(&row, "first_failed_at"),
            via: row.get("via"),
            source: row.get("source"),
            event_id: row.get("event_id"),
            subject: row.get("subject"),
            event_time: time_opt(&row, "event_time"),
            content_type: row.get("content_type"),
            data_schema: row.get("data_schema"),
            traceparent: row.get("traceparent"),
            extensions: pairs(row.get("extensions")),
            key_rule: row.get("key_rule"),
            ordering_key: row.get("ordering_key"),
            payload_hash: row.get("payload_hash"),
            hash_rule: row.get("hash_rule"),
            payload: payload(row.get("data")),
            attempts,
            original,
            standing,
            effects,
            actions: action::of_targets(&tx, &[action::dead_letter_target(id)], ACTIONS_LIMIT).await?,
            revision: row.get("revision"),
            edits: edits_of(&tx, &letters).await?,
            received: received(&tx, &letters).await?.map(payload),
        }))
    }
}

/// A delivery's dead letters, latest first.
pub(super) async fn of_delivery(
    tx: &Transaction<'_>,
    handler: &str,
    key: &str,
    limit: i64,
) -> Result<Vec<DeadLetterSummary>, Error> {
    let rows = OF_DELIVERY.query(tx, &[&handler, &key, &limit]).await?;
    Ok(rows.iter().map(summary).collect())
}

async fn attempts(
    tx: &Transaction<'_>,
    handler: i64,
    key: &str,
    round: i32,
) -> Result<Vec<wonce_api::event::AttemptSeen>, Error> {
    let limit = wonce_api::event::TIMELINE_LIMIT;
    let rows = ATTEMPTS.query(tx, &[&handler, &key, &round, &limit]).await?;
    Ok(rows.iter().rev().map(attempt_seen).collect())
}

async fn original(tx: &Transaction<'_>, handler: i64, key: &str) -> Result<Option<Original>, Error> {
    let row = ORIGINAL.query_opt(tx, &[&handler, &key]).await?;
    Ok(row.map(|row| Original {
        standing: row.get("standing"),
        accepted_at: time(&row, "accepted_at"),
        settled_at: time_opt(&row, "settled_at"),
        payload_hash: row.get("payload_hash"),
        hash_rule: row.get("hash_rule"),
        payload: row.get::<_, Option<Vec<u8>>>("data").map(payload),
    }))
}

fn payload(data: Vec<u8>) -> Payload {
    let bytes = data.len() as u64;
    match String::from_utf8(data) {
        Ok(body) => Payload { encoding: "text".to_owned(), body, bytes },
        Err(e) => {
            let body = hex(e.as_bytes());
            Payload { encoding: "hex".to_owned(), body, bytes }
        }
    }
}

fn summary(row: &Row) -> DeadLetterSummary {
    DeadLetterSummary {
        id: row.get("id"),
        kind: row.get("kind"),
        state: row.get("state"),
        reason: row.get("reason"),
        handler: row.get("handler"),
        key: row.get("key"),
        event_type: row.get("event_type"),
        code: row.get("code"),
        message: row.get("message"),
        fingerprint: row.get("fingerprint"),
        round: row.get("round"),
        attempts: row.get("attempts"),
        owner: row.get("owner"),
        last_failed_at: time(row, "last_failed_at"),
        acted_at: time_opt(row, "acted_at"),
    }
}
