//! Runs the guest on the claimed delivery's transaction. Whatever happens in there comes back as
//! one `Outcome`, with the transaction in a known state.
//!
//! Knows nothing of what will be done about the outcome.

use async_trait::async_trait;
use wonce_core::effect::Effect;
use wonce_core::fault::{Fault, FaultClass};
use wonce_core::outcome::Outcome;
use wonce_core::sql::{DbError, ResultLimits, RowSet, SqlError, Value};
use wonce_wasm::{Call, DeliveryFacts, LogLine, Sandbox, Transaction, Usage};

use super::handler::Handler;
use crate::store::invocation::{Claimed, ClaimedDelivery, OpenTransaction};

/// A guest's run.
#[derive(Debug)]
pub struct Ran {
    pub claimed: Claimed,
    pub outcome: Outcome,
    pub log: Vec<LogLine>,
    pub log_dropped: u64,
    pub usage: Usage,
}

/// Runs the guest once.
pub async fn invoke(sandbox: &Sandbox, handler: &Handler, claimed: Claimed) -> Ran {
    let Claimed { delivery, transaction } = claimed;
    let call = call_for(handler, &delivery);
    let ended = sandbox.invoke(&handler.prepared, call, Lent(transaction)).await;
    let mut transaction = ended.transaction.0;
    transaction.quiesce().await;
    let outcome = match transaction.lost() {
        None => ended.outcome,
        // Whatever the guest made of it: its transaction is gone.
        Some(loss) => Outcome::Failed {
            fault: Fault::new(FaultClass::Host, "connection-lost", loss.reason()),
            after: None,
        },
    };
    Ran {
        claimed: Claimed { delivery, transaction },
        outcome,
        log: ended.log,
        log_dropped: ended.log_dropped,
        usage: ended.usage,
    }
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

/// The store's transaction as the sandbox knows it.
struct Lent(OpenTransaction);

#[async_trait]
impl Transaction for Lent {
    async fn execute(&mut self, statement: &str, params: Vec<Value>) -> Result<u64, SqlError> {
        self.0.execute(statement, params).await
    }

    async fn query(
        &mut self,
        statement: &str,
        params: Vec<Value>,
        limits: ResultLimits,
    ) -> Result<RowSet, SqlError> {
        self.0.query(statement, params, limits).await
    }

    async fn emit(&mut self, effect: Effect) -> Result<(), SqlError> {
        self.0.emit(effect).await
    }

    fn aborted_by(&self) -> Option<&DbError> {
        self.0.aborted_by()
    }
}
