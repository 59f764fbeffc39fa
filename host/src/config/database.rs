//! `[database]`: which Postgres, and how handlers are kept apart in it. Knows nothing of how
//! a connection is made.

use std::path::PathBuf;

use super::reader::Reader;
use super::report::Complaint;
use super::secret::Secret;

const DEFAULT_MAX_CONNECTIONS: u32 = 8;
const MAX_CONNECTIONS: u32 = 1_000;
/// Postgres cuts longer names.
const MAX_IDENTIFIER_BYTES: usize = 63;

/// Where the database is and how it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    pub server: Server,
    /// Size of the control pool: intake, admin, upkeep. Invocations have connections of their own.
    pub max_connections: u32,
    pub isolation: Isolation,
}

/// Whose Postgres it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Server {
    /// A private cluster that wonce starts and stops.
    Embedded(Embedded),
    External {
        url: Secret,
        /// For the invocation pool, past a pooler; `url` if none is given.
        direct_url: Option<Secret>,
    },
}

/// The private cluster, on a free loopback port. Its files are in `data_dir`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Embedded {
    /// Where `initdb` and `postgres` are; searched for if none is given.
    pub bin_dir: Option<PathBuf>,
    /// The account that runs the server when wonce runs as root.
    pub user: Option<String>,
}

/// How one handler's SQL is kept from another's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Each handler logs in as a role of its own.
    Role,
    /// All handlers share one role: unsafe, for databases where roles cannot be created.
    Shared,
}

pub(crate) fn read(table: &mut Reader<'_, '_>) -> Database {
    let url = table.parsed("url", database_url);
    let direct_url = table.parsed("direct_url", database_url);
    let max_connections = table.count("max_connections", 1..=MAX_CONNECTIONS, DEFAULT_MAX_CONNECTIONS);
    let choices = [("role", Isolation::Role), ("shared", Isolation::Shared)];
    let isolation = table.choice("isolation", &choices, Isolation::Role);
    let embedded = table.section("embedded", embedded);
    let server = match url {
        Some(url) => Server::External { url, direct_url },
        None => {
            if direct_url.is_some() && !table.given("url") {
                let remedy = "set database.url or DATABASE_URL too, or remove direct_url";
                table.complain(
                    "direct_url",
                    "it goes past the pooler of database.url, which is not set",
                    remedy,
                );
            }
            Server::Embedded(embedded)
        }
    };
    Database { server, max_connections, isolation }
}

fn embedded(table: &mut Reader<'_, '_>) -> Embedded {
    let bin_dir = table.file_path("bin_dir");
    if let Some(dir) = bin_dir.as_ref().filter(|dir| !dir.is_dir()) {
        let reason = format!("\"{}\" is not a directory", dir.display());
        table.complain(
            "bin_dir",
            reason,
            "name the directory that holds initdb and postgres, or remove the key",
        );
    }
    Embedded { bin_dir, user: table.text("user") }
}

/// A Postgres URL or key-value string. The complaint never repeats it: it may hold a password.
fn database_url(text: &str) -> Result<Secret, Complaint> {
    match text.parse::<tokio_postgres::Config>() {
        Ok(config) if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() => {
            Err(Complaint::new(
                "the connection string names no host",
                "write postgres://user:password@host:5432/database",
            ))
        }
        Ok(_) => Ok(Secret::new(text)),
        Err(error) => {
            let why =
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            Err(Complaint::new(
                format!("the connection string does not parse: {why}"),
                "write postgres://user:password@host:5432/database; sslmode is disable, prefer or require",
            ))
        }
    }
}

/// A lower-case SQL name that needs no quotes.
pub(crate) fn identifier(text: &str) -> Result<String, Complaint> {
    let mut bytes = text.bytes();
    let starts_well = bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_');
    let goes_on_well = bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if starts_well && goes_on_well && text.len() <= MAX_IDENTIFIER_BYTES {
        Ok(text.to_owned())
    } else {
        Err(Complaint::new(
            format!("\"{text}\" is not a plain SQL name"),
            format!("use lower-case ASCII letters, digits and '_', at most {MAX_IDENTIFIER_BYTES} bytes"),
        ))
    }
}
