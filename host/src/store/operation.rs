//! Operations as people ask for them: begun, paused, resumed, aborted and given another pace.
//! What hosts do with them is in [`progress`].

use tokio_postgres::Transaction;
use tokio_postgres::types::{Json, Type};
use wonce_api::dead_letter::Selection;
use wonce_api::operation::MAX_ITEMS;
use wonce_core::operation::{OperationState, OperationVerb, Transition};

use super::action::By;
use super::selected::{AS_OF, FINGERPRINT, HANDLER, KEY_PREFIX, OPERATION, REASON, STATE, VERSION, selected};
use super::sql::Sql;
use super::{Error, Store, unknown_verdict, writing};

pub mod progress;

/// The longest name of a request, in bytes.
pub const MAX_IDEMPOTENCY_KEY_BYTES: usize = 200;

/// An operation as it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The caller's name for this request.
    pub idempotency_key: String,
    pub verb: OperationVerb,
    pub selection: Selection,
    pub as_of: i64,
    pub expected: i64,
    /// Items a second.
    pub rate: f64,
    pub by: By,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    New(i64),
    /// The same request came before: this is its operation.
    Known(i64),
    /// The name was used for another request.
    OtherRequest(i64),
    /// So many dead letters match, and the caller expected another number.
    CountDiffers(i64),
    Nothing,
    /// More than [`MAX_ITEMS`].
    TooMany,
}

/// What became of a wish for another state or pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Made,
    Unknown,
    /// It is over, as this state says.
    Ended(OperationState),
    NotByWish,
}

const INSERT: Sql = Sql {
    name: "begin an operation",
    text: "
        INSERT INTO wonce.operation (idempotency_key, verb, request, rate, actor, reason)
        VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (idempotency_key) DO NOTHING RETURNING id",
    params: &[Type::TEXT, Type::TEXT, Type::JSONB, Type::FLOAT8, Type::TEXT, Type::TEXT],
};
const KNOWN: Sql = Sql {
    name: "find an operation by its request",
    text: "SELECT id, verb = $2 AND request = $3 AS is_same FROM wonce.operation WHERE idempotency_key = $1",
    params: &[Type::TEXT, Type::TEXT, Type::JSONB],
};
const FREEZE: Sql = Sql {
    name: "freeze the list of an operation",
    text: selected!(
        "INSERT INTO wonce.operation_item (operation_id, dead_letter_id)
         SELECT $9, d.id FROM wonce.dead_letter d",
        "ORDER BY d.id LIMIT $10"
    ),
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
const TOTAL: Sql = Sql {
    name: "note the size of an operation",
    text: "
        WITH op AS (
            UPDATE wonce.operation SET total = $2 WHERE id = $1 RETURNING *
        )
        INSERT INTO wonce.action (actor, verb, target, reason, detail)
        SELECT op.actor, op.verb, 'operation/' || op.id, op.reason,
               op.request || jsonb_build_object('total', op.total, 'rate', op.rate) FROM op",
    params: &[Type::INT8, Type::INT8],
};
const LOCK: Sql = Sql {
    name: "hold an operation",
    text: "SELECT state, rate FROM wonce.operation WHERE id = $1 FOR UPDATE",
    params: &[Type::INT8],
};
const SET_STATE: Sql = Sql {
    name: "change the state of an operation",
    text: "
        WITH op AS (
            UPDATE wonce.operation
            SET state = $2, next_at = greatest(next_at, clock_timestamp()),
                ended_at = CASE WHEN $2 = 'aborted' THEN clock_timestamp() END
            WHERE id = $1 RETURNING id
        )
        INSERT INTO wonce.action (actor, verb, target, reason)
        SELECT $4, $3, 'operation/' || op.id, $5 FROM op",
    params: &[Type::INT8, Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT],
};
const SET_RATE: Sql = Sql {
    name: "change the pace of an operation",
    text: "
        WITH op AS (
            -- At the old pace the next item may be far away.
            UPDATE wonce.operation SET rate = $2, next_at = least(next_at, clock_timestamp() + interval '1 second' / $2)
            WHERE id = $1 RETURNING id
        )
        INSERT INTO wonce.action (actor, verb, target, reason, detail)
        SELECT $3, 'pace', 'operation/' || op.id, $4, jsonb_build_object('rate', $2) FROM op",
    params: &[Type::INT8, Type::FLOAT8, Type::TEXT, Type::TEXT],
};

pub(super) const STATEMENTS: &[&Sql] = &[&INSERT, &KNOWN, &FREEZE, &TOTAL, &LOCK, &SET_STATE, &SET_RATE];

impl Store {
    /// Begins an operation: its list is what matches at this moment, and it begins only when
    /// there are as many as the caller expects.
    ///
    /// # Errors
    /// When the database cannot answer; nothing has begun then.
    pub async fn begin_operation(&self, asked: &Asked) -> Result<Begun, Error> {
        let request = Json(asked.request());
        let mut client = self.client().await?;
        let tx = writing(&mut client, "begin an operation").await?;
        let (key, verb) = (&asked.idempotency_key, asked.verb.as_str());
        let (actor, reason) = (asked.by.actor(), asked.by.reason());
        // Waits for a request of the same name that has not committed yet.
        let inserted = INSERT.query_opt(&tx, &[key, &verb, &request, &asked.rate, &actor, &reason]).await?;
        let Some(row) = inserted else {
            let known = KNOWN.query_one(&tx, &[key, &verb, &request]).await?;
            let id = known.get("id");
            return Ok(if known.get("is_same") { Begun::Known(id) } else { Begun::OtherRequest(id) });
        };
        let id: i64 = row.get("id");
        let found = freeze(&tx, id, asked).await?;
        if found > MAX_ITEMS {
            return Ok(Begun::TooMany);
        } else if found != asked.expected {
            return Ok(Begun::CountDiffers(found));
        } else if found == 0 {
            return Ok(Begun::Nothing);
        }
        TOTAL.execute(&tx, &[&id, &found]).await?;
        tx.commit().await.map_err(|source| Error::Statement { attempt: "commit an operation", source })?;
        Ok(Begun::New(id))
    }

    /// Gives an operation another state, another pace, or both.
    ///
    /// # Errors
    /// When the database cannot answer; nothing is changed then.
    pub async fn change_operation(
        &self,
        id: i64,
        state: Option<OperationState>,
        rate: Option<f64>,
        by: &By,
    ) -> Result<Change, Error> {
        let mut client = self.client().await?;
        let tx = writing(&mut client, "begin to change an operation").await?;
        let Some(row) = LOCK.query_opt(&tx, &[&id]).await? else {
            return Ok(Change::Unknown);
        };
        let word: String = row.get("state");
        let standing = OperationState::parse(&word).ok_or_else(|| unknown_verdict(LOCK.name, &word))?;
        // A pace alone is the wish that it stays as it is, as long as it has not ended.
        let wanted = match (state, standing) {
            (Some(state), _) => state,
            (None, OperationState::Finished | OperationState::Aborted) => return Ok(Change::Ended(standing)),
            (None, OperationState::Running | OperationState::Paused) => standing,
        };
        match standing.wanted(wanted) {
            Transition::NotByWish => return Ok(Change::NotByWish),
            Transition::Ended => return Ok(Change::Ended(standing)),
            Transition::Unchanged => {}
            Transition::Changed(state) => {
                let (word, verb) = (state.as_str(), verb_of(state));
                SET_STATE.execute(&tx, &[&id, &word, &verb, &by.actor(), &by.reason()]).await?;
            }
        }
        if let Some(rate) = rate.filter(|rate| row.get::<_, f64>("rate").to_bits() != rate.to_bits()) {
            SET_RATE.execute(&tx, &[&id, &rate, &by.actor(), &by.reason()]).await?;
        }
        tx.commit().await.map_err(|source| Error::Statement { attempt: "commit a change", source })?;
        Ok(Change::Made)
    }
}

async fn freeze(tx: &Transaction<'_>, id: i64, asked: &Asked) -> Result<i64, Error> {
    let Selection { handler, reason, fingerprint, version, key_prefix, operation } = &asked.selection;
    let (state, as_of, limit) = (Some(asked.verb.acts_on()), Some(asked.as_of), MAX_ITEMS + 1);
    let frozen = FREEZE
        .execute(
            tx,
            &[handler, reason, fingerprint, version, key_prefix, &state, &as_of, operation, &id, &limit],
        )
        .await?;
    Ok(i64::try_from(frozen).unwrap_or(i64::MAX))
}

/// The record's verb for a person who brings this state about.
fn verb_of(state: OperationState) -> &'static str {
    match state {
        OperationState::Running => "resume",
        OperationState::Paused => "pause",
        OperationState::Aborted | OperationState::Finished => "abort",
    }
}

impl Asked {
    /// What is kept of the request, and compared when its name comes again.
    fn request(&self) -> serde_json::Value {
        serde_json::json!({ "filter": self.selection, "as_of": self.as_of, "expected": self.expected })
    }
}

/// How the record names an operation.
pub(super) fn target(id: i64) -> String {
    format!("operation/{id}")
}
