//! A lent transaction without its type, so that the imports are compiled once and not for
//! every transaction. Knows nothing of what the transaction is.

use std::any::Any;

use async_trait::async_trait;
use wonce_core::effect::Effect;
use wonce_core::sql::{DbError, ResultLimits, RowSet, SqlError, Value};

use crate::transaction::Transaction;

/// A transaction that can be given back as what it was.
pub(crate) trait Lent: Transaction {
    fn into_any(self: Box<Self>) -> Box<dyn Any + Send>;
}

impl<T: Transaction> Lent for T {
    fn into_any(self: Box<Self>) -> Box<dyn Any + Send> {
        self
    }
}

/// Gives the transaction back.
pub(crate) fn give_back<T: Transaction>(lent: Box<dyn Lent>) -> T {
    let any = lent.into_any().downcast::<T>();
    *any.expect("the type that went in with the call comes out of the same call")
}

/// Stands in while a component is tried out; no import lets the guest come this far.
#[derive(Debug)]
pub(crate) struct NoTransaction;

const NONE: &str = "there is no transaction while a component is being set up";

#[async_trait]
impl Transaction for NoTransaction {
    async fn execute(&mut self, _: &str, _: Vec<Value>) -> Result<u64, SqlError> {
        Err(SqlError::Denied(NONE.to_owned()))
    }

    async fn query(&mut self, _: &str, _: Vec<Value>, _: ResultLimits) -> Result<RowSet, SqlError> {
        Err(SqlError::Denied(NONE.to_owned()))
    }

    async fn queue(&mut self, _: &str, _: Vec<Value>) -> Result<(), SqlError> {
        Err(SqlError::Denied(NONE.to_owned()))
    }

    async fn emit(&mut self, _: Effect) -> Result<(), SqlError> {
        Err(SqlError::Denied(NONE.to_owned()))
    }

    fn aborted_by(&self) -> Option<&DbError> {
        None
    }
}
