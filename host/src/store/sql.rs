//! A statement with a name and declared parameter types: sent unnamed in one round trip (so that
//! any pooler may carry it), listed in the catalog, and prepared by a test.

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{GenericClient, Row};

use super::Error;

/// One statement of the store.
#[derive(Debug)]
pub struct Sql {
    /// What it does, as error messages say it: "count pending deliveries".
    pub name: &'static str,
    pub text: &'static str,
    pub params: &'static [Type],
}

/// A parameter as tokio-postgres takes it.
pub(crate) type Param<'a> = &'a (dyn ToSql + Sync);

impl Sql {
    /// All rows.
    pub(crate) async fn query(
        &self,
        client: &impl GenericClient,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, Error> {
        client.query_typed(self.text, &self.typed(params)).await.map_err(|e| self.failed(e))
    }

    /// The only row, or none.
    pub(crate) async fn query_opt(
        &self,
        client: &impl GenericClient,
        params: &[Param<'_>],
    ) -> Result<Option<Row>, Error> {
        client.query_typed_opt(self.text, &self.typed(params)).await.map_err(|e| self.failed(e))
    }

    /// Exactly one row.
    pub(crate) async fn query_one(
        &self,
        client: &impl GenericClient,
        params: &[Param<'_>],
    ) -> Result<Row, Error> {
        client.query_typed_one(self.text, &self.typed(params)).await.map_err(|e| self.failed(e))
    }

    /// The count of affected rows.
    pub(crate) async fn execute(
        &self,
        client: &impl GenericClient,
        params: &[Param<'_>],
    ) -> Result<u64, Error> {
        client.execute_typed(self.text, &self.typed(params)).await.map_err(|e| self.failed(e))
    }

    fn typed<'a>(&self, params: &[Param<'a>]) -> Vec<(Param<'a>, Type)> {
        debug_assert_eq!(params.len(), self.params.len(), "parameters of \"{}\"", self.name);
        params.iter().copied().zip(self.params.iter().cloned()).collect()
    }

    fn failed(&self, source: tokio_postgres::Error) -> Error {
        Error::Statement { attempt: self.name, source }
    }
}

/// Every statement of the store, for the test that prepares them all.
#[must_use]
pub fn catalog() -> Vec<&'static Sql> {
    [
        super::migrate::STATEMENTS,
        super::deploy::STATEMENTS,
        super::host_boot::STATEMENTS,
        super::due::STATEMENTS,
        super::harden::STATEMENTS,
        super::intake::STATEMENTS,
        super::submitted::STATEMENTS,
        super::upkeep::STATEMENTS,
        super::lease::STATEMENTS,
        super::settle::BOOKKEEPING,
        super::outbox::STATEMENTS,
        super::gauges::STATEMENTS,
        super::sample::STATEMENTS,
        super::tick::STATEMENTS,
        super::alert::STATEMENTS,
        super::alert::notice::STATEMENTS,
        super::action::STATEMENTS,
        super::dead_letter::STATEMENTS,
        super::edit::STATEMENTS,
        super::operation::STATEMENTS,
        super::operation::progress::STATEMENTS,
        super::handler_state::STATEMENTS,
        super::verify::STATEMENTS,
        super::version::STATEMENTS,
        super::view::STATEMENTS,
        super::view::dead_letter::STATEMENTS,
        super::view::effect::STATEMENTS,
        super::view::event::STATEMENTS,
        super::view::group::STATEMENTS,
        super::view::handler::STATEMENTS,
        super::view::operation::STATEMENTS,
        super::view::plugin::STATEMENTS,
        super::view::status::STATEMENTS,
    ]
    .into_iter()
    .flatten()
    .copied()
    .collect()
}
