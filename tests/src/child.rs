//! The real binary as a child process, so that it can be killed like one: what it is started with
//! ([`setup`]), its database ([`database`]), what may stand before that ([`pooler`]), who sends it
//! events ([`sender`]), who receives its effects ([`receiver`]) and its telemetry ([`otlp`]), and its console ([`terminal`]).
//! Knows nothing of the host's insides but its log lines and tables.

use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};

use crate::target;
use crate::wait::{bounded, until};

pub mod database;
pub mod otlp;
pub mod plugin;
pub mod pooler;
pub mod receiver;
pub mod sender;
pub mod setup;
pub mod stream;
pub mod terminal;

use setup::Setup;

/// What a host says when it takes events.
const RUNNING: &str = "wonce is running";

/// The exit status of a verb that could not do its work.
pub const FAILED: i32 = 2;

/// Where a host makes itself die: the n-th pass of a point of `wonce_host::crash::POINTS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CrashAt {
    pub point: &'static str,
    pub pass: u64,
}

/// A host process. Dropping it kills it.
#[derive(Debug)]
pub struct Host {
    process: Child,
    log: Log,
}

/// Where a host listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doors {
    pub http: SocketAddr,
    pub admin: SocketAddr,
}

/// The lines that a host has written, JSON or not.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Host {
    /// Starts the process and returns at once.
    #[must_use]
    pub fn launch(setup: &Setup, crash: Option<CrashAt>) -> Self {
        Self::launch_with(setup, crash, &[])
    }

    /// The same with more words on the command line.
    #[must_use]
    pub fn launch_with(setup: &Setup, crash: Option<CrashAt>, words: &[&str]) -> Self {
        let mut command = wonce();
        command.arg("run").arg("--config").arg(setup.file()).args(words);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        if let Some(CrashAt { point, pass }) = crash {
            command.env("WONCE_CRASH_AT", format!("{point}:{pass}"));
        }
        let mut process = command.spawn().expect("the binary starts");
        let log = Log::default();
        let stderr = process.stderr.take().expect("it is piped");
        tokio::spawn(log.clone().read(stderr));
        Self { process, log }
    }

    /// Starts a host and waits until it takes events.
    pub async fn start(setup: &Setup) -> (Self, Doors) {
        let mut host = Self::launch(setup, None);
        let doors = host.ready().await;
        let doors =
            doors.unwrap_or_else(|ended| panic!("ended with {ended} on its start:\n{}", host.log.text()));
        (host, doors)
    }

    /// Waits until it takes events.
    ///
    /// # Errors
    /// How it ended, if it did so before its line could be read.
    pub async fn ready(&mut self) -> Result<Doors, ExitStatus> {
        let mut answer = None;
        until("a host starts or ends", async || {
            answer = match (self.log.doors(), self.ended()) {
                (Some(doors), _) => Some(Ok(doors)),
                (None, Some(status)) => Some(Err(status)),
                (None, None) => None,
            };
            answer.is_some()
        })
        .await;
        answer.expect("waited for it")
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().expect("a child of ours")
    }

    /// Waits for its end.
    pub async fn end(&mut self) -> ExitStatus {
        bounded("a host ends", self.process.wait()).await.expect("a child of ours")
    }

    /// Waits for its end and its last line.
    pub async fn last_words(&mut self) -> (ExitStatus, String) {
        let status = self.end().await;
        until("the log is read to its end", async || Arc::strong_count(&self.log.0) == 1).await;
        (status, self.log.text())
    }

    /// Waits until a line holds this text.
    pub async fn says(&self, text: &str) {
        until(&format!("a host says \"{text}\""), async || self.log.text().contains(text)).await;
    }

    /// The memory that it holds just now.
    ///
    /// # Panics
    /// When it has ended.
    #[must_use]
    pub fn resident_kib(&self) -> u64 {
        let id = self.process.id().expect("it runs");
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a process has memory");
        line.trim().trim_end_matches(" kB").parse().expect("a number of KiB")
    }

    #[must_use]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// SIGTERM.
    pub fn ask_to_stop(&self) {
        self.signal(Signal::TERM);
    }

    /// SIGKILL, and its end.
    pub async fn kill(&mut self) {
        self.signal(Signal::KILL);
        assert!(was_killed(self.end().await), "{}", self.log.text());
    }

    /// Stops it in order.
    pub async fn stop(mut self) {
        self.ask_to_stop();
        let (status, log) = self.last_words().await;
        assert!(status.success(), "a stop in order ended with {status}:\n{log}");
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.process.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            kill_process(pid, signal).expect("a child of ours");
        }
    }
}

/// Whether a process ended by SIGKILL.
#[must_use]
pub fn was_killed(status: ExitStatus) -> bool {
    status.signal() == Some(Signal::KILL.as_raw())
}

/// Runs another verb of the binary to its end.
pub async fn verb(words: &[&str]) -> Output {
    let run = wonce().args(words).stdin(Stdio::null()).kill_on_drop(true).output();
    bounded("a verb ends", run).await.expect("the binary starts")
}

/// The binary that `WONCE_TEST_PROGRAM` names, or the one beside this test's own, with nothing of ours in its environment: the host refuses
/// variables that look like its own and are not.
fn wonce() -> Command {
    let program = std::env::var_os("WONCE_TEST_PROGRAM").map(PathBuf::from);
    let mut command = Command::new(program.unwrap_or_else(|| target::program("wonce")));
    for (name, _) in std::env::vars_os() {
        if ["WONCE_", "OTEL_"].iter().any(|ours| name.to_string_lossy().starts_with(ours))
            || name == "DATABASE_URL"
        {
            command.env_remove(name);
        }
    }
    command
}

impl Log {
    /// Everything so far.
    #[must_use]
    pub fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    fn doors(&self) -> Option<Doors> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = lines.iter().find(|line| line.contains(RUNNING))?;
        let line: Value = serde_json::from_str(line).expect("a JSON line");
        let address = |name: &str| line[name].as_str().and_then(|text| text.parse().ok());
        Some(Doors {
            http: address("http").expect("an address"),
            admin: address("admin").expect("an address"),
        })
    }

    async fn read(self, stderr: ChildStderr) {
        let mut lines = BufReader::new(stderr).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    }
}
