//! What the sandbox needs of the transaction that an invocation runs in. The host lends one
//! for a call and gets it back, whatever became of the guest. There is no begin, commit or
//! rollback here: a guest cannot even ask.

use async_trait::async_trait;
use wonce_core::effect::Effect;
use wonce_core::sql::{DbError, ResultLimits, RowSet, SqlError, Value};

/// One open transaction, seen from the guest's side.
///
/// Every method must be safe to drop half-way (the deadline does that): the implementation
/// keeps what is in flight and settles it before its next use.
#[async_trait]
pub trait Transaction: Send + 'static {
    /// Runs one statement, the count of affected rows.
    async fn execute(&mut self, statement: &str, params: Vec<Value>) -> Result<u64, SqlError>;

    /// Runs one statement and reads its rows up to the limits.
    async fn query(
        &mut self,
        statement: &str,
        params: Vec<Value>,
        limits: ResultLimits,
    ) -> Result<RowSet, SqlError>;

    /// Takes one statement whose answer nobody waits for. Queued statements run in the order of the
    /// calls and before any that is executed or queried after them.
    ///
    /// # Errors
    /// Only what is known without running it, such as a parameter that does not fit. What Postgres
    /// says when it runs is the error of the next call that is waited for, and shows in
    /// [`aborted_by`](Self::aborted_by) then, or it is the settlement's.
    async fn queue(&mut self, statement: &str, params: Vec<Value>) -> Result<(), SqlError>;

    /// Appends one effect to the outbox.
    async fn emit(&mut self, effect: Effect) -> Result<(), SqlError>;

    /// The error that aborted the transaction, if one did.
    fn aborted_by(&self) -> Option<&DbError>;
}
