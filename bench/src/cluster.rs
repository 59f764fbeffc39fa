//! The Postgres of one run: private, durable, the same for everyone who is measured. Each measured
//! run gets a database of its own, cloned from a template. It never knows who will use them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use tempfile::TempDir;
use wonce_embedded::{Embedded, Settings};

use crate::database::Database;

/// The template's name.
const TEMPLATE: &str = "bench_template";
const SCHEMA: &str = include_str!("schema.sql");

/// What differs from Postgres's defaults or matters to the figures; all of it is in the report.
/// Commits are durable. Commit timestamps say when an event was really committed.
const OPTIONS: &[(&str, &str)] = &[
    ("max_connections", "200"),
    ("shared_buffers", "512MB"),
    ("max_wal_size", "4GB"),
    ("track_commit_timestamp", "on"),
    ("checkpoint_timeout", "30min"),
];
const REPORTED: &[&str] = &[
    "server_version",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "shared_buffers",
    "max_wal_size",
    "checkpoint_timeout",
    "track_commit_timestamp",
    "autovacuum",
    "autovacuum_naptime",
    "max_connections",
];

/// A running server.
#[derive(Debug)]
pub(crate) struct Cluster {
    postgres: Embedded,
    bin: PathBuf,
    _folder: TempDir,
}

impl Cluster {
    /// Makes a cluster with the template in it.
    pub(crate) async fn start(bin: Option<&Path>) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("wonce-bench-").tempdir().context("make a folder")?;
        let mut settings = Settings::new(folder.path().join("postgres"));
        settings.bin_dir = bin.map(Path::to_owned);
        settings.options.extend(OPTIONS.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        let postgres = Embedded::start(settings).await.context("start a Postgres for the bench")?;
        let bin = folder_of(postgres.pid().unsigned_abs())?;
        let cluster = Self { postgres, bin, _folder: folder };
        cluster.postgres.ensure_database(TEMPLATE).await?;
        let template = Database::connect(TEMPLATE, &cluster.postgres.url(TEMPLATE)).await?;
        template.script(SCHEMA).await.context("prepare the template")?;
        template.script("VACUUM (ANALYZE, FREEZE) bench.orders").await?;
        Ok(cluster)
    }

    /// A fresh clone of the template, with everything on disk.
    pub(crate) async fn database(&self, name: &str) -> anyhow::Result<Database> {
        let server = self.server().await?;
        server.script(&format!("CREATE DATABASE {name} TEMPLATE {TEMPLATE}")).await?;
        server.script("CHECKPOINT").await?;
        Database::connect(name, &self.postgres.url(name)).await
    }

    /// Takes a database and the roles that wonce made for it away.
    pub(crate) async fn drop(&self, database: Database) -> anyhow::Result<()> {
        let roles = database.wonce_roles().await?;
        let name = database.name().to_owned();
        drop(database);
        let server = self.server().await?;
        server.script(&format!("DROP DATABASE {name} WITH (FORCE)")).await?;
        for role in roles {
            server.script(&format!("DROP ROLE IF EXISTS \"{role}\"")).await?;
        }
        Ok(())
    }

    /// The settings that matter, as the server tells them.
    pub(crate) async fn settings(&self) -> anyhow::Result<Vec<(String, String)>> {
        let server = self.server().await?;
        let mut settings = Vec::new();
        for name in REPORTED {
            settings.push(((*name).to_owned(), server.text(&format!("SHOW {name}")).await?));
        }
        Ok(settings)
    }

    /// The server's clock, for people.
    pub(crate) async fn now(&self) -> anyhow::Result<String> {
        self.server()
            .await?
            .text("SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
            .await
    }

    /// The postmaster.
    pub(crate) fn pid(&self) -> u32 {
        self.postgres.pid().unsigned_abs()
    }

    pub(crate) fn pgbench(&self) -> PathBuf {
        self.bin.join("pgbench")
    }

    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        self.postgres.stop().await.context("stop the bench's Postgres")
    }

    async fn server(&self) -> anyhow::Result<Database> {
        Database::connect("postgres", &self.postgres.url("postgres")).await
    }
}

/// The folder of the program that runs as this process.
fn folder_of(pid: u32) -> anyhow::Result<PathBuf> {
    let link = Path::new("/proc").join(pid.to_string()).join("exe");
    let program = std::fs::read_link(&link).with_context(|| format!("read \"{}\"", link.display()))?;
    let folder = program.parent().context("a program lies in a folder")?.to_owned();
    anyhow::ensure!(
        folder.join("pgbench").is_file(),
        "there is no pgbench in \"{}\"; install it (on Debian and Ubuntu: apt-get install postgresql) or name another \
         folder with --pg-bin",
        folder.display()
    );
    Ok(folder)
}
