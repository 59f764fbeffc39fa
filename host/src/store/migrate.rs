//! Brings the schema to this build's version: every file of `migrations/` once, in order, all in
//! one transaction under a transaction-level lock, so that several hosts may start at once and a
//! transaction-mode pooler may stand in between (which a session lock would not survive).

use sha2::{Digest, Sha256};
use tokio_postgres::Transaction;
use tokio_postgres::types::Type;

use super::sql::Sql;
use super::{Error, Store, begin};

macro_rules! migrations {
    ($($number:literal $name:literal),* $(,)?) => {
        &[$(Migration {
            number: $number,
            name: $name,
            sql: include_str!(concat!("../../../migrations/", $name, ".sql")),
        }),*]
    };
}

/// What this build brings, in order.
const MIGRATIONS: &[Migration] = migrations![
    1 "0001_handler",
    2 "0002_inbox",
    3 "0003_ledger",
    4 "0004_outbox",
    5 "0005_fleet",
    6 "0006_intake",
    7 "0007_delivery",
    8 "0008_operator",
    9 "0009_batch",
    10 "0010_claim",
    11 "0011_accept",
    12 "0012_lanes",
    13 "0013_operation",
    14 "0014_tick",
    15 "0015_alert",
    16 "0016_restore",
    17 "0017_edit",
    18 "0018_version",
];

/// The lock that hosts starting at once queue for: an arbitrary number that only wonce uses.
pub const MIGRATION_LOCK: i64 = 0x0077_6f6e_6365;

struct Migration {
    number: i32,
    name: &'static str,
    sql: &'static str,
}

/// Why the schema cannot be brought to this build's version.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error(
        "the database has migration {number} (\"{name}\"), which this wonce does not know: it was written by a newer version; run that version or newer against it"
    )]
    Newer { number: i32, name: String },
    #[error(
        "migration {number} (\"{name}\") was applied with other contents than this wonce has: the file was changed after it shipped, or another build's database is in use"
    )]
    Changed { number: i32, name: String },
    #[error("migration \"{name}\" failed: {reason}")]
    Failed { name: &'static str, reason: String },
}

pub(super) const SERVER_VERSION: Sql = Sql {
    name: "read the server's version",
    text: "SELECT current_setting('server_version_num')::integer, current_setting('server_version')",
    params: &[],
};
const LOCK: Sql = Sql {
    name: "take the migration lock",
    text: "SELECT pg_advisory_xact_lock($1)::text",
    params: &[Type::INT8],
};
const APPLIED: Sql = Sql {
    name: "list applied migrations",
    text: "SELECT number, name, checksum FROM wonce.migration ORDER BY number",
    params: &[],
};
const RECORD: Sql = Sql {
    name: "record a migration",
    text: "INSERT INTO wonce.migration (number, name, checksum, applied_by) VALUES ($1, $2, $3, $4)",
    params: &[Type::INT4, Type::TEXT, Type::BYTEA, Type::TEXT],
};
/// The runner's own table; everything else is in the files.
const BOOTSTRAP: &str = "
    SET LOCAL client_min_messages = warning;
    CREATE SCHEMA IF NOT EXISTS wonce;
    CREATE TABLE IF NOT EXISTS wonce.migration (
        number     integer     PRIMARY KEY,
        name       text        NOT NULL,
        checksum   bytea       NOT NULL,
        applied_by text        NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )";

pub(super) const STATEMENTS: &[&Sql] = &[&SERVER_VERSION, &LOCK, &APPLIED, &RECORD];

impl Store {
    /// Applies what is missing and returns how many files that were.
    ///
    /// # Errors
    /// When the database is newer than this build, a shipped file was changed, or a file fails.
    pub async fn migrate(&self) -> Result<usize, Error> {
        let mut client = self.client().await?;
        let tx = begin(&mut client, "begin the migrations").await?;
        LOCK.query_one(&tx, &[&MIGRATION_LOCK]).await?;
        run(&tx, "bootstrap", BOOTSTRAP).await?;
        let applied = check_applied(&tx).await?;
        let missing = &MIGRATIONS[applied..];
        for migration in missing {
            run(&tx, migration.name, migration.sql).await?;
            RECORD
                .execute(
                    &tx,
                    &[
                        &migration.number,
                        &migration.name,
                        &checksum(migration.sql),
                        &env!("CARGO_PKG_VERSION"),
                    ],
                )
                .await?;
        }
        tx.commit().await.map_err(|source| Error::Statement { attempt: "commit the migrations", source })?;
        Ok(missing.len())
    }
}

/// How many of this build's migrations the database has; it must have no others.
async fn check_applied(tx: &Transaction<'_>) -> Result<usize, Error> {
    let rows = APPLIED.query(tx, &[]).await?;
    for (index, row) in rows.iter().enumerate() {
        let (number, name, applied): (i32, String, Vec<u8>) = (row.get(0), row.get(1), row.get(2));
        match MIGRATIONS.get(index) {
            Some(known) if known.number == number => {
                if checksum(known.sql) != applied {
                    return Err(Problem::Changed { number, name }.into());
                }
            }
            Some(_) | None => return Err(Problem::Newer { number, name }.into()),
        }
    }
    Ok(rows.len())
}

async fn run(tx: &Transaction<'_>, name: &'static str, sql: &str) -> Result<(), Error> {
    tx.batch_execute(sql)
        .await
        .map_err(|e| Error::Migration(Problem::Failed { name, reason: super::error::root_cause(&e) }))
}

fn checksum(sql: &str) -> Vec<u8> {
    Sha256::digest(sql.as_bytes()).to_vec()
}
