//! What people did: who asks for a verb, and the append-only record of it.

use tokio_postgres::Transaction;
use tokio_postgres::types::Type;
use wonce_api::action::Action;

use super::Error;
use super::sql::Sql;
use super::view::time;

/// The longest name of an actor, in bytes.
pub const MAX_ACTOR_BYTES: usize = 200;
/// The longest reason, in bytes.
pub const MAX_REASON_BYTES: usize = 2000;

/// Who asks and why. The name is as given: it documents, it does not prove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    actor: String,
    reason: String,
}

/// Why a text cannot stand in the record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRecordable {
    #[error("the actor is empty: say who asks")]
    NoActor,
    #[error("the {what} has {bytes} bytes, and at most {limit} are allowed: shorten it")]
    TooLong { what: &'static str, bytes: usize, limit: usize },
    #[error("the {what} holds control characters: write it as plain text")]
    Control { what: &'static str },
}

impl By {
    /// Checks both texts; the reason may be empty.
    ///
    /// # Errors
    /// When one is too long or holds control characters, or the actor is empty.
    pub fn new(actor: &str, reason: &str) -> Result<Self, NotRecordable> {
        if actor.trim().is_empty() {
            return Err(NotRecordable::NoActor);
        }
        check("actor", actor, MAX_ACTOR_BYTES)?;
        check("reason", reason, MAX_REASON_BYTES)?;
        Ok(Self { actor: actor.to_owned(), reason: reason.to_owned() })
    }

    #[must_use]
    pub fn actor(&self) -> &str {
        &self.actor
    }

    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

fn check(what: &'static str, text: &str, limit: usize) -> Result<(), NotRecordable> {
    if text.len() > limit {
        return Err(NotRecordable::TooLong { what, bytes: text.len(), limit });
    }
    if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err(NotRecordable::Control { what });
    }
    Ok(())
}

/// How the record names a handler.
pub(super) fn handler_target(name: &str) -> String {
    format!("handler/{name}")
}

/// How the record names a dead letter.
pub(super) fn dead_letter_target(id: i64) -> String {
    format!("dead-letter/{id}")
}

const OF_TARGETS: Sql = Sql {
    name: "list actions",
    text: "
        SELECT id, at, actor, verb, target, reason FROM wonce.action
        WHERE target = ANY ($1) ORDER BY id DESC LIMIT $2",
    params: &[Type::TEXT_ARRAY, Type::INT8],
};

pub(super) const STATEMENTS: &[&Sql] = &[&OF_TARGETS];

/// The latest actions on these targets, latest first.
pub(super) async fn of_targets(
    tx: &Transaction<'_>,
    targets: &[String],
    limit: i64,
) -> Result<Vec<Action>, Error> {
    let rows = OF_TARGETS.query(tx, &[&targets, &limit]).await?;
    Ok(rows
        .iter()
        .map(|row| Action {
            id: row.get("id"),
            at: time(row, "at"),
            actor: row.get("actor"),
            verb: row.get("verb"),
            target: row.get("target"),
            reason: row.get("reason"),
        })
        .collect())
}
