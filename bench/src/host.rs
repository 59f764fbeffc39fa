//! wonce as its users run it: the real program as a child, with a handler for the workload. It speaks to it over
//! HTTP and reads its tables; it never knows its insides.

use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use crate::database::Database;
use crate::http::Connection;
use crate::programs::Programs;
use crate::workload::Workload;

mod setup;

pub(crate) use setup::{Batch, Order, Poll, Setup};

/// Compiling a handler takes a debug build seconds.
const START_LIMIT: Duration = Duration::from_secs(120);
const STOP_LIMIT: Duration = Duration::from_secs(60);
/// Far longer than any drain of a host that works.
const DRAIN_LIMIT: Duration = Duration::from_secs(600);
/// Between two looks at the inbox. No figure depends on it: ends are read from the database.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A running host. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Host {
    child: Child,
    handler: &'static str,
    pub(crate) http: SocketAddr,
    admin: SocketAddr,
    folder: TempDir,
}

impl Host {
    /// Starts the program on a database and waits until it takes events.
    pub(crate) async fn start(
        programs: &Programs,
        setup: &Setup,
        database: &Database,
    ) -> anyhow::Result<Self> {
        let folder =
            tempfile::Builder::new().prefix("wonce-bench-host-").tempdir().context("make a folder")?;
        let config = setup.write(folder.path(), programs, database)?;
        let mut command = wonce(programs);
        command.arg("run").arg("--config").arg(&config);
        command.stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().with_context(|| format!("start \"{}\"", programs.wonce.display()))?;
        let log = child.stderr.take().context("read the host's log")?;
        let file = tokio::fs::File::create(folder.path().join("log")).await.context("keep the host's log")?;
        let (http, admin) =
            timeout(START_LIMIT, doors(log, file)).await.context("wonce did not start in time")??;
        let handler = setup::handler(setup.workload);
        Ok(Self { child, handler, http, admin, folder })
    }

    pub(crate) fn pid(&self) -> anyhow::Result<u32> {
        self.child.id().context("the host has ended")
    }

    /// Lets deliveries be invoked.
    pub(crate) async fn resume(&self) -> anyhow::Result<()> {
        self.operator("resume").await
    }

    /// Accepts deliveries and invokes none.
    pub(crate) async fn pause(&self) -> anyhow::Result<()> {
        self.operator("pause").await
    }

    async fn operator(&self, verb: &str) -> anyhow::Result<()> {
        let path = format!("/v1/handlers/{}/{verb}", self.handler);
        let mut connection = Connection::open(self.admin).await?;
        let answer = connection.post(&path, "application/json", br#"{"actor":"bench"}"#).await?;
        let said = String::from_utf8_lossy(&answer.body);
        anyhow::ensure!(answer.status == 200, "{verb} was answered with {}: {said}", answer.status);
        Ok(())
    }

    /// Waits until nothing is pending.
    pub(crate) async fn drained(&self, database: &Database) -> anyhow::Result<()> {
        let deadline = Instant::now() + DRAIN_LIMIT;
        // From the newest: the oldest ones leave first, and a look over what they left would cost more and more.
        while !database.rows("SELECT id FROM wonce.inbox ORDER BY id DESC LIMIT 1", &[]).await?.is_empty() {
            anyhow::ensure!(
                Instant::now() < deadline,
                "the host did not drain its inbox in time; {}",
                self.last_words()
            );
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Asks the host to stop and waits for it.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        let pid = Pid::from_raw(self.pid()?.cast_signed()).context("a process has an id")?;
        kill_process(pid, Signal::TERM).context("ask the host to stop")?;
        let status =
            timeout(STOP_LIMIT, self.child.wait()).await.context("the host did not stop in time")??;
        anyhow::ensure!(status.success(), "the host ended with {status}; {}", self.last_words());
        Ok(())
    }

    fn last_words(&self) -> String {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        format!("its last words:\n{}", lines[lines.len().saturating_sub(10)..].join("\n"))
    }
}

/// Has the books of a database checked.
///
/// # Errors
/// When an event was lost or counted twice.
pub(crate) async fn books_hold(programs: &Programs, database: &Database) -> anyhow::Result<()> {
    let mut command = wonce(programs);
    command.args(["verify", "--database-url", database.url()]).stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.context("run wonce verify")?;
    let said = String::from_utf8_lossy(&output.stdout);
    anyhow::ensure!(output.status.success(), "the books do not hold: {said}");
    Ok(())
}

/// When the last of these events was committed, on the server's clock, after checking that every one had its
/// effects once.
///
/// # Errors
/// When anything is missing or there twice.
pub(crate) async fn finished(database: &Database, workload: Workload, events: u64) -> anyhow::Result<f64> {
    let row = database
        .row(
            "SELECT count(*), (SELECT sum(hits) FROM bench.orders)::bigint, (SELECT count(*) FROM wonce.outbox),
                    extract(epoch FROM max(pg_xact_commit_timestamp(xmin)))::float8
             FROM wonce.processed_events WHERE outcome = 'done'",
            &[],
        )
        .await?;
    let seen: [i64; 3] = [row.try_get(0)?, row.try_get(1)?, row.try_get(2)?];
    let events = i64::try_from(events)?;
    let effects = match workload {
        Workload::Blind => 0,
        Workload::Payment => events,
    };
    anyhow::ensure!(
        seen == [events, events, effects],
        "wonce left {} done, {} updates and {} effects for {events} events",
        seen[0],
        seen[1],
        seen[2]
    );
    Ok(row.try_get(3)?)
}

/// The program with nothing of ours in its environment: it refuses variables that look like its own and are not.
fn wonce(programs: &Programs) -> Command {
    let mut command = Command::new(&programs.wonce);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("WONCE_") || name == "DATABASE_URL" {
            command.env_remove(name);
        }
    }
    command
}

/// Reads the log until it says where the host listens; what comes later is kept by a task.
async fn doors(
    log: tokio::process::ChildStderr,
    mut file: tokio::fs::File,
) -> anyhow::Result<(SocketAddr, SocketAddr)> {
    use tokio::io::AsyncWriteExt;

    let mut lines = BufReader::new(log).lines();
    let mut said = Vec::new();
    while let Some(line) = lines.next_line().await.context("read the host's log")? {
        let entry: Value = serde_json::from_str(&line).unwrap_or_default();
        if entry["message"] == "wonce is running" {
            let address = |name: &str| entry[name].as_str().and_then(|text| text.parse().ok());
            let doors = (
                address("http").context("the door for events")?,
                address("admin").context("the admin door")?,
            );
            tokio::spawn(async move {
                while let Ok(Some(line)) = lines.next_line().await {
                    if file.write_all(format!("{line}\n").as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
            return Ok(doors);
        }
        said.push(line);
    }
    anyhow::bail!("wonce ended before it ran:\n{}", said.join("\n"))
}
