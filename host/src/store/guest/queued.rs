//! Statements of guests whose answers nobody waits for, and how they travel: neighbours whose
//! parameters have a literal go as one script of `EXECUTE`s, any other goes alone. That saves the
//! server a message, an answer and a flush for each, and the host the same.
//!
//! Knows nothing of when they are sent or of what a refusal leads to.

use std::sync::Arc;

use tokio_postgres::{Client, Statement};
use wonce_core::sql::SqlError;

use super::refused;
use crate::store::script::{Script, Stopped};
use crate::store::transaction::RunId;
use crate::store::value::encode::Encoded;
use crate::store::value::literal::{self, Written};

/// A script is cut here: the server holds all of it while it runs.
const MAX_SCRIPT_BYTES: usize = 64 * 1024;

/// A prepared statement, and how `EXECUTE` calls it on its connection.
#[derive(Debug, Clone)]
pub(in crate::store) struct Prepared {
    pub(in crate::store) statement: Statement,
    pub(in crate::store) name: Name,
}

/// What the server calls a prepared statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::store) enum Name {
    /// Nobody has asked yet.
    Unasked,
    Known(Arc<str>),
    /// It is not called by name: it answers with rows.
    None,
}

/// A statement whose answer nobody waits for yet.
#[derive(Debug)]
pub(in crate::store) struct Queued {
    pub(in crate::store) run: RunId,
    pub(in crate::store) prepared: Prepared,
    pub(in crate::store) params: Vec<Encoded>,
}

/// One request for some of what is queued.
#[derive(Debug)]
pub(in crate::store) enum Parcel<'a> {
    /// Several, by name; whose each is.
    Script(Script, Vec<RunId>),
    /// One, with bound parameters.
    Alone(&'a Queued),
}

/// A queued statement was refused.
#[derive(Debug)]
pub(in crate::store) struct Refused {
    pub(in crate::store) run: RunId,
    pub(in crate::store) error: SqlError,
}

impl Queued {
    /// Bytes of its parameters.
    pub(in crate::store) fn bytes(&self) -> usize {
        self.params.iter().map(Encoded::len).sum()
    }

    /// The statement as `EXECUTE` with literals, if all its parameters have one.
    fn call(&self) -> Option<String> {
        let Name::Known(name) = &self.prepared.name else { return None };
        let mut call = format!("EXECUTE {name}");
        for (index, (value, ty)) in self.params.iter().zip(self.prepared.statement.params()).enumerate() {
            call.push(if index == 0 { '(' } else { ',' });
            match literal::write(&mut call, value, ty) {
                Written::Literal => {}
                Written::Nothing => return None,
            }
        }
        if !self.params.is_empty() {
            call.push(')');
        }
        Some(call)
    }
}

/// What is queued as requests, in its order.
pub(in crate::store) fn pack(queued: &[Queued]) -> Vec<Parcel<'_>> {
    let mut parcels = Vec::new();
    for statement in queued {
        match (statement.call(), parcels.last_mut()) {
            (None, _) => parcels.push(Parcel::Alone(statement)),
            (Some(call), Some(Parcel::Script(script, runs))) if script.bytes() < MAX_SCRIPT_BYTES => {
                script.add(&call);
                runs.push(statement.run);
            }
            (Some(call), _) => {
                let mut script = Script::default();
                script.add(&call);
                parcels.push(Parcel::Script(script, vec![statement.run]));
            }
        }
    }
    parcels
}

impl Parcel<'_> {
    /// Sends it and waits for its answer.
    ///
    /// # Errors
    /// The first refused statement.
    pub(in crate::store) async fn run(&self, client: &Client) -> Result<(), Refused> {
        match self {
            Parcel::Script(script, runs) => script.run(client).await.map_err(|Stopped { step, error }| {
                let run = runs.get(step).or(runs.last()).copied().unwrap_or(RunId(0));
                Refused { run, error: refused(error) }
            }),
            Parcel::Alone(queued) => {
                match client.execute_raw(&queued.prepared.statement, &queued.params).await {
                    Ok(_) => Ok(()),
                    Err(error) => Err(Refused { run: queued.run, error: refused(error) }),
                }
            }
        }
    }
}
