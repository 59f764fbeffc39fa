//! Replay, discard and restore. The moves are SQL functions (migrations 0008 and 0016), because each is several
//! steps that must see each other and end in one commit; here their verdicts become values.

use tokio_postgres::types::{Json, Type};
use tokio_postgres::{GenericClient, Transaction};
use wonce_core::event::{Event, Micros};
use wonce_core::name::{HandlerName, Key, SourceName};

use super::action::By;
use super::sql::Sql;
use super::{Error, Store, unknown_verdict, writing};

/// A delivery that a replay made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requeued {
    pub handler: String,
    pub key: String,
    pub round: i32,
}

/// Why a dead letter stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hindrance {
    Unknown,
    WasReplayed,
    WasDiscarded,
    /// It was not discarded, or is restored already.
    IsOpen,
    /// It was discarded too long ago.
    TooLate,
    /// It needs routing, which is the intake's work.
    Parked,
    /// A dead delivery keeps its key.
    KeepsKey,
    /// A key conflict needs a new one.
    NeedsKey,
    KeyTaken,
    /// Another event under this key waits in the inbox to be recognised as a repeat.
    RepeatPending,
    /// The books do not fit: `wonce verify` says where.
    NoLedgerRow,
}

impl Hindrance {
    pub(super) fn from_verdict(statement: &'static str, verdict: &str) -> Result<Self, Error> {
        match verdict {
            "unknown" => Ok(Hindrance::Unknown),
            "was_replayed" => Ok(Hindrance::WasReplayed),
            "was_discarded" => Ok(Hindrance::WasDiscarded),
            "is_open" => Ok(Hindrance::IsOpen),
            "too_late" => Ok(Hindrance::TooLate),
            "parked" => Ok(Hindrance::Parked),
            "keeps_key" => Ok(Hindrance::KeepsKey),
            "needs_key" => Ok(Hindrance::NeedsKey),
            "key_taken" => Ok(Hindrance::KeyTaken),
            "repeat_pending" => Ok(Hindrance::RepeatPending),
            "no_ledger_row" => Ok(Hindrance::NoLedgerRow),
            other => Err(unknown_verdict(statement, other)),
        }
    }
}

const REPLAY: Sql = Sql {
    name: "replay a dead letter",
    text: "SELECT verdict, handler_name, delivery_key, delivery_round FROM wonce.replay($1, $2, $3, $4)",
    params: &[Type::INT8, Type::TEXT, Type::TEXT, Type::TEXT],
};
const DISCARD: Sql = Sql {
    name: "discard a dead letter",
    text: "SELECT wonce.discard($1, $2, $3) AS verdict",
    params: &[Type::INT8, Type::TEXT, Type::TEXT],
};
const RESTORE: Sql = Sql {
    name: "restore a dead letter",
    text: "SELECT wonce.restore($1, $2, $3) AS verdict",
    params: &[Type::INT8, Type::TEXT, Type::TEXT],
};
const PARKED_EVENT: Sql = Sql {
    name: "read a parked event",
    text: "
        SELECT via, event_id, source, event_type, subject, content_type, data_schema, traceparent,
               (extract(epoch FROM event_time) * 1000000)::bigint AS event_micros, extensions, data
        FROM wonce.dead_letter WHERE id = $1 AND kind = 'parked' AND state = 'dead'",
    params: &[Type::INT8],
};
const PARKED_REPLAYED: Sql = Sql {
    name: "note the replay of a parked event",
    text: "SELECT wonce.parked_replayed($1, $2, $3, $4) AS verdict",
    params: &[Type::INT8, Type::TEXT, Type::TEXT, Type::JSONB],
};

pub(super) const STATEMENTS: &[&Sql] = &[&REPLAY, &DISCARD, &RESTORE, &PARKED_EVENT, &PARKED_REPLAYED];

impl Store {
    /// Puts a dead delivery back under its key (a new round, at the tail of its ordering key),
    /// or a key conflict under `new_key`. However many ask at once, it happens once.
    ///
    /// # Errors
    /// When the database cannot answer; nothing is changed then.
    pub async fn replay(
        &self,
        id: i64,
        new_key: Option<&Key>,
        by: &By,
    ) -> Result<Result<Requeued, Hindrance>, Error> {
        let mut client = self.client().await?;
        let tx = writing(&mut client, "begin a replay").await?;
        let row = REPLAY.query_one(&tx, &[&id, &new_key.map(Key::as_str), &by.actor(), &by.reason()]).await?;
        let verdict: String = row.get("verdict");
        if verdict != "accepted" {
            // Dropping the transaction rolls back what the function began.
            return Hindrance::from_verdict(REPLAY.name, &verdict).map(Err);
        }
        tx.commit().await.map_err(|source| Error::Statement { attempt: "commit a replay", source })?;
        Ok(Ok(Requeued {
            handler: row.get("handler_name"),
            key: row.get("delivery_key"),
            round: row.get("delivery_round"),
        }))
    }

    /// Gives a dead letter up, with the reason on record.
    ///
    /// # Errors
    /// When the database cannot answer; nothing is changed then.
    pub async fn discard(&self, id: i64, by: &By) -> Result<Result<(), Hindrance>, Error> {
        let mut client = self.client().await?;
        let tx = writing(&mut client, "begin a discard").await?;
        let row = DISCARD.query_one(&tx, &[&id, &by.actor(), &by.reason()]).await?;
        let verdict: String = row.get("verdict");
        if verdict != "discarded" {
            return Hindrance::from_verdict(DISCARD.name, &verdict).map(Err);
        }
        tx.commit().await.map_err(|source| Error::Statement { attempt: "commit a discard", source })?;
        Ok(Ok(()))
    }

    /// Makes a discarded dead letter an open one again, within
    /// [`RESTORABLE_DAYS`](wonce_api::dead_letter::RESTORABLE_DAYS) of its discard.
    ///
    /// # Errors
    /// When the database cannot answer; nothing is changed then.
    pub async fn restore(&self, id: i64, by: &By) -> Result<Result<(), Hindrance>, Error> {
        let mut client = self.client().await?;
        let tx = writing(&mut client, "begin a restore").await?;
        let row = RESTORE.query_one(&tx, &[&id, &by.actor(), &by.reason()]).await?;
        let verdict: String = row.get("verdict");
        if verdict != "restored" {
            return Hindrance::from_verdict(RESTORE.name, &verdict).map(Err);
        }
        tx.commit().await.map_err(|source| Error::Statement { attempt: "commit a restore", source })?;
        Ok(Ok(()))
    }

    /// An open parked event as it came in, for the intake to route again; `None` when there is
    /// no such open one.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn parked_event(&self, id: i64) -> Result<Option<Event>, Error> {
        let client = self.client().await?;
        let client: &tokio_postgres::Client = &client;
        read_parked(client, id).await
    }

    /// Notes that a parked event became these deliveries, which are committed already.
    ///
    /// # Errors
    /// When the database cannot answer: then the letter is still open, and a second replay finds
    /// the deliveries as duplicates.
    pub async fn parked_replayed(
        &self,
        id: i64,
        deliveries: &[(HandlerName, Key)],
        by: &By,
    ) -> Result<Result<(), Hindrance>, Error> {
        let mut client = self.client().await?;
        let tx = writing(&mut client, "begin to note a replay").await?;
        if let Err(hindrance) = note_parked(&tx, id, deliveries, by).await? {
            return Ok(Err(hindrance));
        }
        tx.commit().await.map_err(|source| Error::Statement { attempt: "commit a replay", source })?;
        Ok(Ok(()))
    }
}

/// An open parked event as it came in.
pub(super) async fn read_parked(client: &impl GenericClient, id: i64) -> Result<Option<Event>, Error> {
    let Some(row) = PARKED_EVENT.query_opt(client, &[&id]).await? else {
        return Ok(None);
    };
    let via: String = row.get("via");
    let via = SourceName::parse(via).map_err(|e| Error::Refused {
        attempt: format!("read the source of parked event {id}"),
        reason: e.to_string(),
    })?;
    Ok(Some(Event {
        via,
        id: row.get("event_id"),
        source: row.get("source"),
        event_type: row.get("event_type"),
        subject: row.get("subject"),
        time: row.get::<_, Option<i64>>("event_micros").map(Micros),
        content_type: row.get("content_type"),
        data_schema: row.get("data_schema"),
        traceparent: row.get("traceparent"),
        extensions: pairs(row.get("extensions")),
        data: row.get("data"),
    }))
}

/// Notes in this transaction that a parked event became these deliveries.
pub(super) async fn note_parked(
    tx: &Transaction<'_>,
    id: i64,
    deliveries: &[(HandlerName, Key)],
    by: &By,
) -> Result<Result<(), Hindrance>, Error> {
    let detail: Vec<serde_json::Value> = deliveries
        .iter()
        .map(|(handler, key)| serde_json::json!({ "handler": handler.as_str(), "key": key.as_str() }))
        .collect();
    let detail = Json(serde_json::json!({ "kind": "parked", "deliveries": detail }));
    let row = PARKED_REPLAYED.query_one(tx, &[&id, &by.actor(), &by.reason(), &detail]).await?;
    let verdict: String = row.get("verdict");
    if verdict == "replayed" {
        return Ok(Ok(()));
    }
    Hindrance::from_verdict(PARKED_REPLAYED.name, &verdict).map(Err)
}

/// name, value, name, value, … as pairs.
pub(super) fn pairs(flat: Vec<String>) -> Vec<(String, String)> {
    let mut pairs = Vec::with_capacity(flat.len() / 2);
    let mut texts = flat.into_iter();
    while let (Some(name), Some(value)) = (texts.next(), texts.next()) {
        pairs.push((name, value));
    }
    pairs
}
