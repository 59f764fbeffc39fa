//! Why the database did not do what was asked, and whether asking again may help.

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "\"{url}\" is not a Postgres URL: {reason}; write it as postgres://user:password@host:5432/database"
    )]
    Url { url: String, reason: String },
    #[error(
        "cannot reach the database: {reason}; check that it runs and that database.url (or DATABASE_URL) is right"
    )]
    Unreachable { reason: String },
    #[error(
        "all control connections were busy for {seconds} s; raise database.max_connections or lower the load"
    )]
    Busy { seconds: u64 },
    #[error(
        "a handler's login {wanted} became {found} on the way: a pooler with a fixed user changes it, and a handler \
         would have that user's rights; no handler runs until database.direct_url leads past the pooler"
    )]
    ForeignLogin { wanted: String, found: String },
    #[error("the database is Postgres {found}; wonce needs 15 or newer")]
    UnsupportedVersion { found: String },
    #[error("cannot {attempt}")]
    Statement {
        attempt: &'static str,
        #[source]
        source: tokio_postgres::Error,
    },
    #[error("{0}")]
    Migration(#[from] super::migrate::Problem),
    #[error("cannot {attempt}: {reason}")]
    Refused { attempt: String, reason: String },
}

impl Error {
    pub(super) fn no_connection(error: PoolError) -> Self {
        match error {
            PoolError::Timeout(_) => Error::Busy { seconds: super::CONTROL_WAIT.as_secs() },
            PoolError::Backend(source) => Error::Unreachable { reason: root_cause(&source) },
            PoolError::Closed | PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_) => {
                Error::Unreachable { reason: error.to_string() }
            }
        }
    }

    /// The SQLSTATE, when Postgres itself refused.
    #[must_use]
    pub fn sqlstate(&self) -> Option<&SqlState> {
        match self {
            Error::Statement { source, .. } => source.code(),
            Error::Url { .. }
            | Error::Unreachable { .. }
            | Error::Busy { .. }
            | Error::ForeignLogin { .. }
            | Error::UnsupportedVersion { .. }
            | Error::Migration(_)
            | Error::Refused { .. } => None,
        }
    }

    /// Whether the database was out of reach, rather than in disagreement.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Error::Unreachable { .. } | Error::Busy { .. } => true,
            Error::Statement { source, .. } => match source.code() {
                None => true,
                Some(code) => {
                    wonce_core::sqlstate::class_of(code.code()) == wonce_core::fault::FaultClass::Host
                }
            },
            Error::Url { .. }
            | Error::ForeignLogin { .. }
            | Error::UnsupportedVersion { .. }
            | Error::Migration(_)
            | Error::Refused { .. } => false,
        }
    }

    /// Whether other transactions were in the way: the same again may go through.
    #[must_use]
    pub fn is_contention(&self) -> bool {
        self.sqlstate().is_some_and(|code| {
            wonce_core::sqlstate::class_of(code.code()) == wonce_core::fault::FaultClass::Contention
        })
    }

    /// The whole chain in one line.
    #[must_use]
    pub fn explained(&self) -> String {
        match self {
            Error::Statement { source, .. } => format!("{self}: {}", root_cause(source)),
            other => other.to_string(),
        }
    }
}

/// The innermost cause: the driver's own text only says "db error".
pub(super) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
