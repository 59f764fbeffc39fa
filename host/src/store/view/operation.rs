//! Operations with their progress, and what became of each item.

use tokio_postgres::Row;
use tokio_postgres::types::{Json, Type};
use wonce_api::dead_letter::Selection;
use wonce_api::live::Op;
use wonce_api::operation::{Item, ItemList, Operation, OperationDetail, OperationList, RefusalCount};

use super::{READ_LIMIT, snapshot, time, time_opt};
use crate::store::sql::Sql;
use crate::store::{Error, Store, action, operation};

/// How many of its actions an operation shows.
const ACTIONS_LIMIT: i64 = 20;
/// How many reasons of refusal an operation shows.
const REFUSALS_LIMIT: i64 = 20;

macro_rules! operations {
    ($rest:literal) => {
        concat!(
            "SELECT id, verb, state, request->'filter' AS filter, (request->>'as_of')::bigint AS as_of, total,
                    succeeded, refused, rate, actor, reason, created_at, ended_at,
                    ceil((total - succeeded - refused) / rate)::bigint AS seconds_left
             FROM wonce.operation ",
            $rest
        )
    };
}

const LIST: Sql = Sql {
    name: "list operations",
    text: operations!("WHERE ($1::bigint IS NULL OR id < $1) ORDER BY id DESC LIMIT $2"),
    params: &[Type::INT8, Type::INT8],
};
const ONE: Sql = Sql { name: "read an operation", text: operations!("WHERE id = $1"), params: &[Type::INT8] };
const REFUSALS: Sql = Sql {
    name: "count why items were refused",
    text: "
        SELECT result, count(*) AS items FROM wonce.operation_item
        WHERE operation_id = $1 AND state = 'refused'
        GROUP BY result ORDER BY items DESC, result LIMIT $2",
    params: &[Type::INT8, Type::INT8],
};
const ITEMS: Sql = Sql {
    name: "list the items of an operation",
    text: "
        SELECT i.dead_letter_id, i.state, i.result, i.acted_at, h.name AS handler, d.key,
               CASE WHEN d.kind <> 'delivery' THEN NULL
                    WHEN p.outcome IS NOT NULL THEN p.outcome
                    WHEN EXISTS (SELECT FROM wonce.inbox x WHERE x.handler_id = d.handler_id AND x.key = d.key)
                    THEN 'pending' END AS standing
        FROM wonce.operation_item i
        LEFT JOIN wonce.dead_letter d ON d.id = i.dead_letter_id
        LEFT JOIN wonce.handler h ON h.id = d.handler_id
        LEFT JOIN wonce.processed_events p ON p.handler_id = d.handler_id AND p.key = d.key
        WHERE i.operation_id = $1 AND ($2::text IS NULL OR i.state = $2)
          AND ($3::bigint IS NULL OR i.dead_letter_id > $3)
        ORDER BY i.dead_letter_id LIMIT $4",
    params: &[Type::INT8, Type::TEXT, Type::INT8, Type::INT8],
};

/// The ends are told as well, to whoever was away for a moment.
pub(in crate::store) const LIVE: Sql = Sql {
    name: "look how far operations are",
    text: "
        SELECT id, verb, state, request->'filter' AS filter, total, succeeded, refused, actor, reason, created_at
        FROM (SELECT * FROM wonce.operation ORDER BY id DESC LIMIT $1) latest
        WHERE ended_at IS NULL OR ended_at > now() - $2 * interval '1 second'
        ORDER BY id",
    params: &[Type::INT8, Type::FLOAT8],
};

pub(in crate::store) const STATEMENTS: &[&Sql] = &[&LIST, &ONE, &REFUSALS, &ITEMS, &LIVE];

/// One operation as the live stream shows it.
pub(in crate::store) fn live(row: &Row) -> Op {
    let number = |column: &str| u64::try_from(row.get::<_, i64>(column)).unwrap_or(0);
    Op {
        id: row.get::<_, i64>("id").to_string(),
        verb: row.get("verb"),
        state: row.get("state"),
        // What another version wrote may hold conditions that this one does not know.
        target: row
            .try_get("filter")
            .map_or_else(|_| "?".to_owned(), |Json::<Selection>(filter)| filter.to_string()),
        total: number("total"),
        done: number("succeeded"),
        failed: number("refused"),
        skipped: 0,
        actor: row.get("actor"),
        reason: row.get("reason"),
        started_at: time(row, "created_at"),
    }
}

impl Store {
    /// One page of operations, the latest first.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn operations(&self, before: Option<i64>, limit: u32) -> Result<OperationList, Error> {
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, READ_LIMIT).await?;
        let rows = LIST.query(&tx, &[&before, &(i64::from(limit) + 1)]).await?;
        let operations =
            rows.iter().take(limit as usize).map(seen).collect::<Result<Vec<Operation>, Error>>()?;
        let is_last = rows.len() <= limit as usize;
        let next_before = if is_last { None } else { operations.last().map(|op| op.id) };
        Ok(OperationList { taken, operations, next_before })
    }

    /// One operation whole, or `None` when there is none with this id.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn operation(&self, id: i64) -> Result<Option<OperationDetail>, Error> {
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, READ_LIMIT).await?;
        let Some(row) = ONE.query_opt(&tx, &[&id]).await? else {
            return Ok(None);
        };
        let refusals = REFUSALS.query(&tx, &[&id, &REFUSALS_LIMIT]).await?;
        let refusals = refusals
            .iter()
            .map(|row| RefusalCount { result: row.get("result"), items: row.get("items") })
            .collect();
        let actions = action::of_targets(&tx, &[operation::target(id)], ACTIONS_LIMIT).await?;
        Ok(Some(OperationDetail { taken, operation: seen(&row)?, refusals, actions }))
    }

    /// One page of an operation's items in the order in which they are done, or `None` when
    /// there is no such operation.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn operation_items(
        &self,
        id: i64,
        state: Option<&str>,
        after: Option<i64>,
        limit: u32,
    ) -> Result<Option<ItemList>, Error> {
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, READ_LIMIT).await?;
        if ONE.query_opt(&tx, &[&id]).await?.is_none() {
            return Ok(None);
        }
        let rows = ITEMS.query(&tx, &[&id, &state, &after, &(i64::from(limit) + 1)]).await?;
        let items: Vec<Item> = rows.iter().take(limit as usize).map(item).collect();
        let is_last = rows.len() <= limit as usize;
        let next_after = if is_last { None } else { items.last().map(|item| item.dead_letter) };
        Ok(Some(ItemList { taken, items, next_after }))
    }
}

fn seen(row: &Row) -> Result<Operation, Error> {
    let Json(filter): Json<Selection> = row.try_get("filter").map_err(|source| Error::Statement {
        attempt: "read the filter of an operation, which another version wrote",
        source,
    })?;
    let (total, succeeded, refused): (i64, i64, i64) =
        (row.get("total"), row.get("succeeded"), row.get("refused"));
    Ok(Operation {
        id: row.get("id"),
        verb: row.get("verb"),
        state: row.get("state"),
        filter,
        as_of: row.get("as_of"),
        total,
        succeeded,
        refused,
        waiting: total - succeeded - refused,
        rate: row.get("rate"),
        seconds_left: row.get("seconds_left"),
        actor: row.get("actor"),
        reason: row.get("reason"),
        created_at: time(row, "created_at"),
        ended_at: time_opt(row, "ended_at"),
    })
}

fn item(row: &Row) -> Item {
    Item {
        dead_letter: row.get("dead_letter_id"),
        handler: row.get("handler"),
        key: row.get("key"),
        state: row.get("state"),
        result: row.get("result"),
        acted_at: time_opt(row, "acted_at"),
        standing: row.get("standing"),
    }
}
