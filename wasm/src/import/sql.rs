//! `sql`: one statement at a time into the lent transaction, after the checks that need no
//! database. Knows nothing of Postgres beyond the words of the contract.

use wonce_core::sql::{ResultLimits, SqlError, SqlLimit};

use crate::bindings::wonce::handler::sql::{Error, Host, RowSet, Value};
use crate::convert;
use crate::state::State;
use crate::stop::Stop;

/// A guest that ignores `limit-exceeded(statements)` is ended at this multiple of the limit.
const FLOOD_FACTOR: u64 = 2;

impl Host for State {
    async fn execute(
        &mut self,
        statement: String,
        params: Vec<Value>,
    ) -> wasmtime::Result<Result<u64, Error>> {
        if let Err(error) = self.admit("sql.execute", &statement)? {
            return Ok(Err(convert::sql_error(error)));
        }
        let params = params.into_iter().map(convert::value_in).collect();
        let mut loan = self.lend();
        let result = loan.transaction().execute(&statement, params).await;
        loan.settled();
        Ok(result.map_err(|error| self.noted(error)))
    }

    async fn query(
        &mut self,
        statement: String,
        params: Vec<Value>,
    ) -> wasmtime::Result<Result<RowSet, Error>> {
        if let Err(error) = self.admit("sql.query", &statement)? {
            return Ok(Err(convert::sql_error(error)));
        }
        let params = params.into_iter().map(convert::value_in).collect();
        let limits =
            ResultLimits { rows: self.facts.limits.result_rows, bytes: self.facts.limits.result_bytes };
        let mut loan = self.lend();
        let result = loan.transaction().query(&statement, params, limits).await;
        loan.settled();
        Ok(result.map(convert::row_set).map_err(|error| self.noted(error)))
    }

    async fn queue(&mut self, statement: String, params: Vec<Value>) -> wasmtime::Result<Result<(), Error>> {
        if let Err(error) = self.admit("sql.queue", &statement)? {
            return Ok(Err(convert::sql_error(error)));
        }
        let params = params.into_iter().map(convert::value_in).collect();
        let mut loan = self.lend();
        let result = loan.transaction().queue(&statement, params).await;
        loan.settled();
        Ok(result.map_err(|error| self.noted(error)))
    }
}

impl State {
    /// Counts the statement and says whether it may be sent. The outer error ends the call.
    fn admit(&mut self, import: &'static str, statement: &str) -> Result<Result<(), SqlError>, Stop> {
        self.handling(import)?;
        self.meters.statements += 1;
        let limits = &self.facts.limits;
        if self.meters.statements > limits.statements.saturating_mul(FLOOD_FACTOR).max(1) {
            return Err(Stop::StatementFlood);
        }
        Ok(if let Some(lost) = &self.connection_lost {
            Err(SqlError::ConnectionLost(lost.clone()))
        } else if self.transaction().aborted_by().is_some() {
            Err(SqlError::Aborted)
        } else if self.meters.statements > limits.statements {
            Err(SqlError::LimitExceeded(SqlLimit::Statements))
        } else if statement.len() as u64 > limits.statement_bytes {
            Err(SqlError::LimitExceeded(SqlLimit::StatementBytes))
        } else {
            self.facts.statements.check(statement).map_err(|why| SqlError::Denied(why.to_string()))
        })
    }

    /// Remembers a lost connection, and gives the guest the error.
    fn noted(&mut self, error: SqlError) -> Error {
        if let SqlError::ConnectionLost(why) = &error {
            self.connection_lost = Some(why.clone());
        }
        convert::sql_error(error)
    }
}
