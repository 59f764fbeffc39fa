//! The handler's open transaction while its guests run: their statements, what they queued and the
//! effects they emitted but Postgres has not heard of yet, and the ways back to a savepoint.
//! Several runs share it one after the other; what one left unsent can be dropped without a trace.
//!
//! Knows nothing of wasm, of claims or of why a run is taken back.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::timeout;
use wonce_core::effect::Effect;
use wonce_core::name::Key;
use wonce_core::sql::{DbError, ResultLimits, RowSet, SqlError, SqlLimit, Value};

use super::Error;
use super::guest::queued::{Queued, Refused};
use super::guest::{self, Guard, Last, Reply};
use super::lease::{HandlerAccess, Lease};

/// No single bookkeeping step (claim, settle, commit) takes longer; then the connection counts as lost.
pub(super) const BOOKKEEPING_LIMIT: Duration = Duration::from_secs(15);
/// How long a cancelled guest statement may take to answer before its connection is given up.
const CANCEL_LIMIT: Duration = Duration::from_secs(5);

/// One run of a guest among those that share the transaction: its place in the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunId(pub usize);

/// How the connection was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// While a guest's statement was under way: the guest may have done it.
    UnderStatement(String),
    /// While no statement was under way: the server or the network did it.
    Between(String),
}

impl Loss {
    /// The driver's or the server's words.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::UnderStatement(reason) | Self::Between(reason) => reason,
        }
    }
}

/// Where a rollback leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Savepoint {
    /// Before the first statement of any guest: right after the claim.
    Batch,
    /// Before the run of a delivery that runs apart from its neighbours.
    Run,
}

impl Savepoint {
    pub(super) const fn set(self) -> &'static str {
        match self {
            Self::Batch => "SAVEPOINT wonce_batch",
            Self::Run => "SAVEPOINT wonce_run",
        }
    }

    pub(super) const fn roll_back(self) -> &'static str {
        match self {
            Self::Batch => "ROLLBACK TO SAVEPOINT wonce_batch",
            Self::Run => "ROLLBACK TO SAVEPOINT wonce_run",
        }
    }
}

/// What taking a run back asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenBack {
    /// Nothing of it had reached Postgres; it is as if it had never run.
    Entirely,
    /// Postgres has some of it: only a rollback undoes that.
    NeedsRollback,
}

/// An effect that waits for the settlement, and of which delivery it is.
#[derive(Debug)]
pub(super) struct PlannedEffect {
    run: RunId,
    pub(super) key: Key,
    pub(super) traceparent: Option<String>,
    pub(super) effect: Effect,
}

/// The error that aborted the transaction, and whose statement met it.
#[derive(Debug)]
struct Aborted {
    run: RunId,
    error: DbError,
}

/// The handler's open transaction, as the guest may use it.
pub struct OpenTransaction {
    pub(super) lease: Lease,
    pub(super) access: Arc<HandlerAccess>,
    run: RunId,
    /// Whether a statement of the current run reached Postgres.
    sent: bool,
    /// Whether the batch's savepoint is set: right before the first statement of a guest.
    pub(super) guarded: bool,
    pub(super) queued: Vec<Queued>,
    pub(super) effects: Vec<PlannedEffect>,
    /// Where the settlement starts from, when the last run is only to be rolled back.
    pub(super) first_roll_back: Option<Savepoint>,
    /// Statements whose answers are still to come: kept here, so that a caller that is
    /// dropped half-way loses nothing.
    in_flight: Option<BoxFuture<'static, guest::Landed>>,
    aborted: Option<Aborted>,
    lost: Option<Loss>,
}

impl std::fmt::Debug for OpenTransaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenTransaction")
            .field("handler", &self.access.id)
            .field("run", &self.run)
            .field("aborted", &self.aborted)
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}

/// What a guest may do.
impl OpenTransaction {
    /// Runs a guest's statement for its count of affected rows.
    ///
    /// # Errors
    /// As the contract's `sql.error`.
    pub async fn execute(&mut self, statement: &str, params: Vec<Value>) -> Result<u64, SqlError> {
        Ok(self.answer(Last::Execute(statement.to_owned(), params)).await?.count())
    }

    /// Runs a guest's statement for its rows.
    ///
    /// # Errors
    /// As the contract's `sql.error`.
    pub async fn query(
        &mut self,
        statement: &str,
        params: Vec<Value>,
        limits: ResultLimits,
    ) -> Result<RowSet, SqlError> {
        Ok(self.answer(Last::Query(statement.to_owned(), params, limits)).await?.rows())
    }

    /// Keeps a guest's statement until the next that is waited for, or the settlement: it costs no
    /// trip of its own.
    ///
    /// # Errors
    /// When the statement cannot be prepared or the parameters do not fit it; what Postgres says
    /// when it runs comes later.
    pub async fn queue(&mut self, statement: &str, params: Vec<Value>) -> Result<(), SqlError> {
        self.require_open()?;
        let connection = Arc::clone(self.lease.connection());
        let prepared = match connection.known_to_queue(statement) {
            Some(prepared) => prepared,
            None => {
                self.answer(Last::Prepare(statement.to_owned())).await?;
                connection.known_to_queue(statement).ok_or(SqlError::Aborted)?
            }
        };
        let params = guest::fit(params, &prepared.statement)?;
        self.queued.push(Queued { run: self.run, prepared, params });
        Ok(())
    }

    /// Keeps an effect until the settlement.
    ///
    /// # Errors
    /// When the transaction is aborted or lost.
    pub fn emit(&mut self, key: Key, traceparent: Option<String>, effect: Effect) -> Result<(), SqlError> {
        self.require_open()?;
        self.effects.push(PlannedEffect { run: self.run, key, traceparent, effect });
        Ok(())
    }

    /// The error that aborted the transaction, if one did.
    #[must_use]
    pub fn aborted_by(&self) -> Option<&DbError> {
        self.aborted.as_ref().map(|aborted| &aborted.error)
    }
}

/// What the host does with it.
impl OpenTransaction {
    pub(super) fn new(lease: Lease, access: Arc<HandlerAccess>) -> Self {
        Self {
            lease,
            access,
            run: RunId(0),
            sent: false,
            guarded: false,
            queued: Vec::new(),
            effects: Vec::new(),
            first_roll_back: None,
            in_flight: None,
            aborted: None,
            lost: None,
        }
    }

    /// What comes now is this run's.
    pub fn begin_run(&mut self, run: RunId) {
        self.run = run;
        self.sent = false;
    }

    /// Whose statement aborted the transaction, if it is aborted. A queued statement may have
    /// failed under a later run.
    #[must_use]
    pub fn aborted_run(&self) -> Option<RunId> {
        self.aborted.as_ref().map(|aborted| aborted.run)
    }

    /// How the connection was lost, if it was.
    #[must_use]
    pub fn lost(&self) -> Option<&Loss> {
        self.lost.as_ref()
    }

    /// Bytes that wait here for the settlement.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        let queued: usize = self.queued.iter().map(Queued::bytes).sum();
        queued + self.effects.iter().map(|planned| planned.effect.data.len()).sum::<usize>()
    }

    /// Settles what a dropped caller left in flight: cancels it and waits, bounded, for its answer.
    pub async fn quiesce(&mut self) {
        let Some(pending) = self.in_flight.take() else { return };
        let connection = Arc::clone(self.lease.connection());
        let ended = timeout(CANCEL_LIMIT, async {
            connection.cancel().await;
            pending.await
        })
        .await;
        match ended {
            Ok(landed) => drop(self.note(landed)),
            Err(_) => {
                self.lost = Some(Loss::UnderStatement("a cancelled statement gave no answer".to_owned()));
            }
        }
    }

    /// Drops what the current run left unsent.
    pub fn take_back(&mut self) -> TakenBack {
        let run = self.run;
        self.queued.retain(|queued| queued.run != run);
        self.effects.retain(|planned| planned.run != run);
        if self.sent { TakenBack::NeedsRollback } else { TakenBack::Entirely }
    }

    /// Lets the settlement begin with a rollback, which saves a trip.
    pub fn roll_back_when_settled(&mut self, savepoint: Savepoint) {
        self.first_roll_back = Some(savepoint);
    }

    /// Sends what is queued and waits for it; after `limit` it is cancelled. A failure shows in
    /// [`aborted_run`](Self::aborted_run) or [`lost`](Self::lost).
    pub async fn flush(&mut self, limit: Duration) {
        if self.queued.is_empty() {
            return;
        }
        match timeout(limit, self.answer(Last::Nothing)).await {
            Ok(answer) => drop(answer),
            Err(_) => self.quiesce().await,
        }
    }

    /// Sets a savepoint behind everything that was queued.
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn set(&mut self, savepoint: Savepoint) -> Result<(), Error> {
        self.control("set a savepoint", savepoint.set()).await
    }

    /// Rolls back to the savepoint, which stays. What is queued must be what came before it.
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn roll_back_to(&mut self, savepoint: Savepoint) -> Result<(), Error> {
        match savepoint {
            // No statement of any guest was sent.
            Savepoint::Batch if !self.guarded => return Ok(()),
            Savepoint::Batch | Savepoint::Run => {}
        }
        self.control("roll back to the savepoint", savepoint.roll_back()).await?;
        self.aborted = None;
        Ok(())
    }

    /// Looks whether deferred constraints would hold if this were the commit, and defers them
    /// again. A failure shows in [`aborted_by`](Self::aborted_by).
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn check_constraints(&mut self) -> Result<(), Error> {
        const CHECK: &str = "SAVEPOINT wonce_check; SET CONSTRAINTS ALL IMMEDIATE; \
                             ROLLBACK TO SAVEPOINT wonce_check";
        let checked = timeout(BOOKKEEPING_LIMIT, self.lease.connection().client.batch_execute(CHECK)).await;
        match checked.map(|checked| checked.map_err(guest::refused)) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(SqlError::Database(error))) => {
                self.aborted = Some(Aborted { run: self.run, error });
                Ok(())
            }
            Ok(Err(_)) | Err(_) => {
                let reason = "the check of the constraints was not answered".to_owned();
                Err(Error::Unreachable { reason })
            }
        }
    }

    /// Drops everything that is unsent.
    pub fn forget_unsent(&mut self) {
        self.queued.clear();
        self.effects.clear();
    }

    /// Ends the transaction with nothing written; the deliveries stay as they were.
    pub async fn release(self) {
        if self.lost.is_none() && self.in_flight.is_none() {
            roll_back(self.lease).await;
        }
    }

    async fn control(&mut self, attempt: &'static str, statement: &str) -> Result<(), Error> {
        match timeout(BOOKKEEPING_LIMIT, self.lease.connection().client.batch_execute(statement)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(source)) => Err(Error::Statement { attempt, source }),
            Err(_) => Err(Error::Unreachable { reason: format!("{attempt}: no answer") }),
        }
    }

    fn require_open(&mut self) -> Result<(), SqlError> {
        if self.aborted.is_some() {
            return Err(SqlError::Aborted);
        }
        // What closed before this statement was sent was not closed by it.
        if self.lost.is_none() && self.lease.connection().client.is_closed() {
            self.lost = Some(Loss::Between("the connection closed between two statements".to_owned()));
        }
        match &self.lost {
            None => Ok(()),
            Some(loss) => Err(SqlError::ConnectionLost(loss.reason().to_owned())),
        }
    }

    async fn answer(&mut self, last: Last) -> Result<Reply, SqlError> {
        self.require_open()?;
        let queued = match last {
            Last::Prepare(_) => Vec::new(),
            Last::Nothing | Last::Execute(..) | Last::Query(..) => std::mem::take(&mut self.queued),
        };
        let run = self.run;
        self.sent |= !matches!(last, Last::Nothing) || queued.iter().any(|queued| queued.run == run);
        let guard = match self.guarded {
            true => Guard::IsSet,
            false => Guard::Set,
        };
        self.guarded = true;
        let work = guest::fly(Arc::clone(self.lease.connection()), guard, queued, last);
        let landed = self.in_flight.insert(Box::pin(work)).await;
        self.in_flight = None;
        self.note(landed)
    }

    /// Remembers what the answers did to the transaction, and tells the current run its own.
    fn note(&mut self, landed: guest::Landed) -> Result<Reply, SqlError> {
        let (run, result) = match landed.refused {
            Some(Refused { run, error }) => (run, Err(error)),
            None => (self.run, landed.reply),
        };
        match &result {
            Ok(_) | Err(SqlError::Aborted | SqlError::Parameter(..) | SqlError::Denied(_)) => {}
            Err(SqlError::Database(error)) => {
                self.lease.connection().forget_guest_statements();
                self.aborted = Some(Aborted { run, error: error.clone() });
            }
            // Reading was cut off by a cancel, which aborts the transaction.
            Err(SqlError::LimitExceeded(limit)) => {
                let error = DbError {
                    sqlstate: "57014".to_owned(),
                    message: format!("the result was cut off: {}", limit_text(*limit)),
                    ..DbError::default()
                };
                self.aborted = Some(Aborted { run, error });
            }
            Err(SqlError::ConnectionLost(reason)) => self.lost = Some(Loss::UnderStatement(reason.clone())),
        }
        match result {
            // Not this run's error: it only hears that nothing goes any more.
            Err(SqlError::Database(_)) if run != self.run => Err(SqlError::Aborted),
            result => result,
        }
    }
}

/// Ends a transaction in which nothing happened and keeps the connection, if that works.
pub(super) async fn roll_back(lease: Lease) {
    let ended = timeout(BOOKKEEPING_LIMIT, lease.connection().client.batch_execute("ROLLBACK")).await;
    if matches!(ended, Ok(Ok(()))) {
        lease.give_back();
    }
}

fn limit_text(limit: SqlLimit) -> &'static str {
    match limit {
        SqlLimit::Rows => "it has more rows than limits.result_rows allows",
        SqlLimit::ResultBytes => "it has more bytes than limits.result_bytes allows",
        SqlLimit::Statements => "limits.statements",
        SqlLimit::StatementBytes => "limits.statement_bytes",
        SqlLimit::Time => "limits.deadline",
    }
}
