//! Runs the guest on the claimed deliveries' transaction. Whatever happens in there comes back as
//! one `Outcome`, with the transaction in a known state.
//!
//! Knows nothing of what will be done about the outcome, or of the neighbours in the batch.

use async_trait::async_trait;
use wonce_core::effect::Effect;
use wonce_core::fault::{Fault, FaultClass};
use wonce_core::name::Key;
use wonce_core::outcome::Outcome;
use wonce_core::sql::{DbError, ResultLimits, RowSet, SqlError, Value};
use wonce_wasm::{Call, DeliveryFacts, LogLine, Sandbox, Transaction, Usage};

use super::handler::Handler;
use crate::store::claim::ClaimedDelivery;
use crate::store::transaction::{OpenTransaction, RunId};

/// A guest's run, as it ended.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) outcome: Outcome,
    pub(super) run: LastRun,
}

/// What the last run of the guest left for its record.
#[derive(Debug, Default)]
pub(super) struct LastRun {
    pub(super) usage: Usage,
    pub(super) log: Vec<LogLine>,
    pub(super) log_dropped: u64,
}

/// Runs the guest once.
pub(super) async fn invoke(
    sandbox: &Sandbox,
    handler: &Handler,
    claimed: &ClaimedDelivery,
    run: RunId,
    mut transaction: OpenTransaction,
) -> (Ran, OpenTransaction) {
    transaction.begin_run(run);
    let lent = Lent {
        transaction,
        key: claimed.delivery.key.clone(),
        traceparent: claimed.event.traceparent.clone(),
    };
    let ended = sandbox.invoke(&handler.prepared, call_for(handler, claimed), lent).await;
    let mut transaction = ended.transaction.transaction;
    transaction.quiesce().await;
    let outcome = match transaction.lost() {
        None => ended.outcome,
        // Whatever the guest made of it: its transaction is gone.
        Some(loss) => Outcome::Failed {
            fault: Fault::new(FaultClass::Host, "connection-lost", loss.reason()),
            after: None,
        },
    };
    let run = LastRun { usage: ended.usage, log: ended.log, log_dropped: ended.log_dropped };
    (Ran { outcome, run }, transaction)
}

fn call_for(handler: &Handler, claimed: &ClaimedDelivery) -> Call {
    let delivery = &claimed.delivery;
    Call {
        handler: handler.name.clone(),
        event: claimed.event.clone(),
        delivery: DeliveryFacts {
            key: delivery.key.clone(),
            ordering_key: delivery.ordering_key.clone(),
            attempt: delivery.attempt,
            max_attempts: handler.policy.max_attempts,
            round: delivery.round,
            received: claimed.accepted_at,
        },
        now: claimed.started_at,
        settings: handler.settings.clone(),
        emits: handler.emits.clone(),
        limits: handler.limits.clone(),
    }
}

/// The store's transaction as the sandbox knows it, for one delivery.
struct Lent {
    transaction: OpenTransaction,
    key: Key,
    traceparent: Option<String>,
}

#[async_trait]
impl Transaction for Lent {
    async fn execute(&mut self, statement: &str, params: Vec<Value>) -> Result<u64, SqlError> {
        self.transaction.execute(statement, params).await
    }

    async fn query(
        &mut self,
        statement: &str,
        params: Vec<Value>,
        limits: ResultLimits,
    ) -> Result<RowSet, SqlError> {
        self.transaction.query(statement, params, limits).await
    }

    async fn queue(&mut self, statement: &str, params: Vec<Value>) -> Result<(), SqlError> {
        self.transaction.queue(statement, params).await
    }

    async fn emit(&mut self, effect: Effect) -> Result<(), SqlError> {
        self.transaction.emit(self.key.clone(), self.traceparent.clone(), effect)
    }

    fn aborted_by(&self) -> Option<&DbError> {
        self.transaction.aborted_by()
    }
}
