//! One step of whatever operation is due: the operation's row is locked by the transaction that
//! does the item, so that no other host does it too, and any other goes on when this one dies.

use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};
use wonce_core::event::Event;
use wonce_core::name::{HandlerName, Key};
use wonce_core::operation::ItemState;

use crate::store::action::By;
use crate::store::dead_letter::{note_parked, read_parked};
use crate::store::intake::Recipient;
use crate::store::sql::Sql;
use crate::store::{Error, Store, unknown_verdict, writing};

const ADVANCE: Sql = Sql {
    name: "do the next item of an operation",
    text: "
        SELECT a.wait_us, a.operation_id, a.dead_letter_id, a.item_state, a.item_result,
               h.id AS handler_id, h.name AS handler_name, a.actor, a.reason
        FROM wonce.advance_operation() AS a LEFT JOIN wonce.handler h ON h.id = a.handler_id",
    params: &[],
};
const NOTE: Sql = Sql {
    name: "note an item of an operation",
    text: "SELECT wonce.note_item($1, $2, $3, $4)",
    params: &[Type::INT8, Type::INT8, Type::TEXT, Type::TEXT],
};

pub(in crate::store) const STATEMENTS: &[&Sql] = &[&ADVANCE, &NOTE];

/// The longest result of an item that is kept, in characters.
const MAX_RESULT_CHARS: usize = 500;

/// What one look at the operations came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// No operation runs.
    Nothing,
    /// The next item is due in so long.
    Later(Duration),
    /// An item was done or refused.
    Item(ItemDone),
    /// The intake could not take a parked event; its item still waits.
    NotNow { reason: String },
}

/// One item that was done or refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemDone {
    pub operation: i64,
    pub dead_letter: i64,
    pub state: ItemState,
    /// What the verb answered.
    pub result: String,
    /// Whose dead letter it is; `None` for a parked event.
    pub handler: Option<Recipient>,
}

/// Why a parked event was not routed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRouted {
    /// The rules have no place for it.
    Still(String),
    /// The intake cannot say now.
    Unavailable(String),
}

impl Store {
    /// Does the next due item of any operation that no other host is at. A parked event goes
    /// through `route`, which commits its deliveries; if this transaction is lost afterwards,
    /// the next try finds them as duplicates.
    ///
    /// # Errors
    /// When the database cannot answer; the item still waits then.
    pub async fn advance_operation<F, R>(&self, route: F) -> Result<Step, Error>
    where
        F: FnOnce(Event) -> R + Send,
        R: Future<Output = Result<Vec<(HandlerName, Key)>, NotRouted>> + Send,
    {
        let mut client = self.client().await?;
        let tx = writing(&mut client, "begin an item of an operation").await?;
        let row = ADVANCE.query_one(&tx, &[]).await?;
        let Some(operation) = row.get::<_, Option<i64>>("operation_id") else {
            let wait = row.get::<_, Option<i64>>("wait_us").map(|us| u64::try_from(us).unwrap_or(0));
            return Ok(wait.map_or(Step::Nothing, |us| Step::Later(Duration::from_micros(us))));
        };
        let mut item = item(&row, operation)?;
        if item.state == ItemState::Waiting {
            let noted = match self.route(&tx, &row, item.dead_letter, route).await? {
                Ok(result) => (ItemState::Succeeded, result),
                Err(NotRouted::Still(reason)) => (ItemState::Refused, reason),
                Err(NotRouted::Unavailable(reason)) => return Ok(Step::NotNow { reason }),
            };
            (item.state, item.result) = noted;
            item.result = item.result.chars().take(MAX_RESULT_CHARS).collect();
            let state = item.state.as_str();
            NOTE.query_one(&tx, &[&operation, &item.dead_letter, &state, &item.result]).await?;
        }
        tx.commit().await.map_err(|source| Error::Statement { attempt: "commit an item", source })?;
        Ok(Step::Item(item))
    }

    async fn route<F, R>(
        &self,
        tx: &Transaction<'_>,
        row: &Row,
        id: i64,
        route: F,
    ) -> Result<Result<String, NotRouted>, Error>
    where
        F: FnOnce(Event) -> R + Send,
        R: Future<Output = Result<Vec<(HandlerName, Key)>, NotRouted>> + Send,
    {
        let still = |reason: &str| Ok(Err(NotRouted::Still(reason.to_owned())));
        let by = by(row)?;
        let Some(event) = read_parked(tx, id).await? else {
            return still("was_replayed");
        };
        let deliveries = match route(event).await {
            Ok(deliveries) => deliveries,
            Err(not_routed) => return Ok(Err(not_routed)),
        };
        match note_parked(tx, id, &deliveries, &by).await? {
            Ok(()) => Ok(Ok("accepted".to_owned())),
            Err(_) => still("was_replayed"),
        }
    }
}

/// Who began the operation and why. The database adds the operation's id, which a very long reason
/// leaves no room for.
fn by(row: &Row) -> Result<By, Error> {
    let (actor, reason): (&str, &str) = (row.get("actor"), row.get("reason"));
    let short = format!("operation {}", row.get::<_, i64>("operation_id"));
    By::new(actor, reason).or_else(|_| By::new(actor, &short)).map_err(|e| Error::Refused {
        attempt: "act for the person who began an operation".to_owned(),
        reason: e.to_string(),
    })
}

fn item(row: &Row, operation: i64) -> Result<ItemDone, Error> {
    let word: String = row.get("item_state");
    let state = ItemState::parse(&word).ok_or_else(|| unknown_verdict(ADVANCE.name, &word))?;
    let handler = row.get::<_, Option<i64>>("handler_id").map(|id| recipient(row, id)).transpose()?;
    Ok(ItemDone {
        operation,
        dead_letter: row.get::<_, Option<i64>>("dead_letter_id").unwrap_or(0),
        state,
        result: row.get("item_result"),
        handler,
    })
}

fn recipient(row: &Row, id: i64) -> Result<Recipient, Error> {
    let name = HandlerName::parse(row.get::<_, String>("handler_name")).map_err(|e| Error::Refused {
        attempt: "read the handler of an operation's item".to_owned(),
        reason: e.to_string(),
    })?;
    Ok(Recipient { id, name })
}
