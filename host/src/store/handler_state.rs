//! Pausing and resuming a handler. Claims look at the state, so it holds for the whole fleet
//! from the commit on; invocations that run already end as they would.

use tokio_postgres::types::Type;

use super::action::By;
use super::sql::Sql;
use super::{Error, Store, writing};

/// Whether a handler's deliveries are claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerState {
    Active,
    Paused,
}

impl HandlerState {
    /// The word in the table.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            HandlerState::Active => "active",
            HandlerState::Paused => "paused",
        }
    }

    fn verb(self) -> &'static str {
        match self {
            HandlerState::Active => "resume",
            HandlerState::Paused => "pause",
        }
    }
}

/// What a change of state came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateChange {
    Changed,
    /// It was so already; nothing was recorded.
    Unchanged,
    UnknownHandler,
    /// It was removed; only a deploy brings it back.
    Removed,
}

const SET: Sql = Sql {
    name: "pause or resume a handler",
    text: "SELECT wonce.set_handler_state($1, $2, $3, $4, $5) AS verdict",
    params: &[Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT],
};

pub(super) const STATEMENTS: &[&Sql] = &[&SET];

impl Store {
    /// Sets the state and records who did it, in one transaction.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn set_handler_state(
        &self,
        name: &str,
        state: HandlerState,
        by: &By,
    ) -> Result<StateChange, Error> {
        let mut client = self.client().await?;
        let tx = writing(&mut client, "begin to pause or resume a handler").await?;
        let row =
            SET.query_one(&tx, &[&name, &state.as_str(), &state.verb(), &by.actor(), &by.reason()]).await?;
        let verdict: String = row.get("verdict");
        tx.commit()
            .await
            .map_err(|source| Error::Statement { attempt: "commit the handler's state", source })?;
        match verdict.as_str() {
            "changed" => Ok(StateChange::Changed),
            "unchanged" => Ok(StateChange::Unchanged),
            "removed" => Ok(StateChange::Removed),
            "unknown" => Ok(StateChange::UnknownHandler),
            other => Err(super::unknown_verdict(SET.name, other)),
        }
    }
}
