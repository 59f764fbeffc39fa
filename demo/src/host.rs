//! The host as a user runs it: the real binary, its log in the data folder, its verbs as commands.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

/// The first start makes a cluster and compiles four handlers without a cache.
const START_LIMIT: Duration = Duration::from_secs(180);
const SETTLE_LIMIT: Duration = Duration::from_secs(180);
const STOP_LIMIT: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A running host.
#[derive(Debug)]
pub(crate) struct Host {
    child: Child,
    binary: PathBuf,
    events: String,
    operators: String,
}

/// What the demo waits for.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Status {
    pub(crate) pending: usize,
    pub(crate) retries: usize,
    pub(crate) effects_open: usize,
}

impl Host {
    /// Starts `wonce run` and waits until it says that it is running.
    pub(crate) async fn start(here: &Path, data: &Path, mailbox: &str) -> anyhow::Result<Self> {
        let binary = beside_me("wonce")?;
        let components = binary
            .ancestors()
            .nth(2)
            .context("find the target folder")?
            .join("plugins/wasm32-wasip2/release");
        let mut command = Command::new(&binary);
        command.args(["run", "--log-format", "json", "--config"]).arg(here.join("wonce.toml"));
        command.arg("--data-dir").arg(data).env("WONCE_SINKS_EMAIL_URL", mailbox).env_remove("DATABASE_URL");
        for handler in ["payments", "wallet", "shipments", "probe"] {
            let variable = format!("WONCE_HANDLERS_{}_COMPONENT", handler.to_uppercase());
            command.env(variable, components.join(format!("{handler}.wasm")));
        }
        // In a group of its own: Ctrl-C reaches the demo first, which stops the host in order.
        command.process_group(0).stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().with_context(|| format!("start {}", binary.display()))?;
        let log = child.stderr.take().context("read the host's log")?;
        let mut lines = BufReader::new(log).lines();
        let mut file = tokio::fs::File::create(data.join("wonce.log")).await?;
        let running = async {
            let mut last = String::new();
            while let Some(line) = lines.next_line().await? {
                file.write_all(format!("{line}\n").as_bytes()).await?;
                let entry: Value = serde_json::from_str(&line).unwrap_or_default();
                if entry["message"] == "wonce is running" {
                    return Ok((entry["http"].clone(), entry["admin"].clone()));
                }
                last = line;
            }
            anyhow::bail!("the host ended before it ran; its last word: {last}")
        };
        let (http, admin) =
            timeout(START_LIMIT, running).await.context("the host did not start in time")??;
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let _ = file.write_all(format!("{line}\n").as_bytes()).await;
            }
        });
        let url = |address: Value| format!("http://{}", address.as_str().unwrap_or_default());
        Ok(Self { child, binary, events: url(http), operators: url(admin) })
    }

    /// Sends events with `wonce send`, which shows its progress. Refused events are part of the story.
    pub(crate) async fn send(&self, data: &Path, name: &str, events: &[Value]) -> anyhow::Result<()> {
        let file = data.join(name);
        let lines: String = events.iter().map(|event| format!("{event}\n")).collect();
        std::fs::write(&file, lines)?;
        let mut command = Command::new(&self.binary);
        command.args(["send", "--url", &self.events, "--source", "demo", "--file"]).arg(&file);
        let log = std::fs::File::create(data.join(format!("{name}.answers")))?;
        command.stderr(log);
        let status = command.status().await.context("run wonce send")?;
        anyhow::ensure!(status.code().is_some_and(|code| code <= 1), "wonce send failed: {status}");
        Ok(())
    }

    /// Runs an operator's verb and shows what it says; whether it was satisfied.
    pub(crate) async fn verb(&self, words: &[&str]) -> anyhow::Result<bool> {
        let mut command = Command::new(&self.binary);
        let status = command.args(words).args(["--connect", &self.operators]).status().await?;
        Ok(status.success())
    }

    /// Waits, bounded, until the status is as wanted.
    pub(crate) async fn wait(&self, what: &str, wanted: impl Fn(Status) -> bool) -> anyhow::Result<()> {
        let deadline = Instant::now() + SETTLE_LIMIT;
        loop {
            let status = self.status().await?;
            if wanted(status) {
                return Ok(());
            }
            anyhow::ensure!(Instant::now() < deadline, "waited in vain until {what}; last seen: {status:?}");
            sleep(LOOK_EVERY).await;
        }
    }

    async fn status(&self) -> anyhow::Result<Status> {
        let mut command = Command::new(&self.binary);
        let out = command.args(["status", "--json", "--connect", &self.operators]).output().await?;
        let page: Value = serde_json::from_slice(&out.stdout).context("read the status")?;
        let sum = |rows: &Value, column: &str| {
            let numbers = rows.as_array().into_iter().flatten().filter_map(|row| row[column].as_u64());
            usize::try_from(numbers.sum::<u64>()).unwrap_or(usize::MAX)
        };
        let open = page["outbox"].as_array().into_iter().flatten();
        let open: Vec<Value> = open.filter(|row| row["state"] != "confirmed").cloned().collect();
        Ok(Status {
            pending: sum(&page["handlers"], "pending"),
            retries: sum(&page["handlers"], "scheduled_retries"),
            effects_open: sum(&Value::Array(open), "effects"),
        })
    }

    /// Asks the host to stop and waits for it.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        let pid = self.child.id().context("the host has ended by itself")?;
        let asked = Command::new("kill").args(["-TERM", &pid.to_string()]).status().await?;
        anyhow::ensure!(asked.success(), "could not ask the host to stop");
        let status =
            timeout(STOP_LIMIT, self.child.wait()).await.context("the host did not stop in time")??;
        anyhow::ensure!(status.success(), "the host ended with {status}");
        Ok(())
    }
}

/// A binary of the same build.
fn beside_me(name: &str) -> anyhow::Result<PathBuf> {
    let me = std::env::current_exe()?;
    let path = me.with_file_name(name);
    anyhow::ensure!(path.is_file(), "there is no \"{}\"; run `make build`", path.display());
    Ok(path)
}
