//! One running server: whether it still runs, and how it is stopped. It never starts one.
//!
//! The server is not tied to the life of its parent (`PR_SET_PDEATHSIG` fires when the *thread* that spawned it
//! ends, and async runtimes end threads). A killed wonce leaves the server running, and the next one adopts it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::pidfile::{self, Running};

/// How long an orderly (fast) shutdown may take: it waits for a checkpoint.
const FAST_STOP_LIMIT: Duration = Duration::from_secs(30);
/// How long a server may take to end after it was told to drop everything.
const QUICK_STOP_LIMIT: Duration = Duration::from_secs(10);
/// How often an exit is looked for while somebody waits for it.
const POLL: Duration = Duration::from_millis(20);
/// The same, while nobody expects it.
const WATCH: Duration = Duration::from_millis(250);

/// Why a server did not stop in order.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be signalled.
    #[error("cannot stop the database server (process {pid}); end it with `kill -INT {pid}` as its user")]
    Signal {
        /// Its process id.
        pid: i32,
        /// What the system said.
        source: rustix::io::Errno,
    },
    /// It did not end at all.
    #[error(
        "the database server (process {pid}) is still there {} s after it was told to quit; look for a stuck \
         disk, then end it with `kill -QUIT {pid}`", QUICK_STOP_LIMIT.as_secs()
    )]
    StillThere {
        /// Its process id.
        pid: i32,
    },
    /// It ended, but not in order; the next start recovers what was committed.
    #[error("the database server (process {pid}) ended badly: {exit}; see its log \"{}\"", log.display())]
    EndedBadly {
        /// Its process id.
        pid: i32,
        /// How it ended.
        exit: Exit,
        /// Its log.
        log: PathBuf,
    },
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It was our child, so we know.
    Status(ExitStatus),
    /// It was adopted; only its parent learns the status.
    Unseen,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => status.fmt(f),
            Self::Unseen => f.write_str("exit status unknown, because the server was adopted"),
        }
    }
}

/// A server that this process owns. Dropping it asks the server to shut down and does not wait.
#[derive(Debug)]
pub(crate) struct Server {
    running: Running,
    data: PathBuf,
    hold: Hold,
    at_drop: AtDrop,
}

#[derive(Debug)]
enum Hold {
    Child(Child),
    Adopted,
    Ended(Exit),
}

#[derive(Debug, Clone, Copy)]
enum AtDrop {
    Stop,
    Leave,
}

impl Server {
    pub(crate) fn started(child: Child, port: u16, data: PathBuf) -> Self {
        let running = Running { pid: Pid::from_child(&child), port };
        Self { running, data, hold: Hold::Child(child), at_drop: AtDrop::Stop }
    }

    pub(crate) fn adopted(running: Running, data: PathBuf) -> Self {
        Self { running, data, hold: Hold::Adopted, at_drop: AtDrop::Stop }
    }

    pub(crate) fn pid(&self) -> Pid {
        self.running.pid
    }

    pub(crate) fn port(&self) -> u16 {
        self.running.port
    }

    /// How it ended, if it did.
    pub(crate) fn exit(&mut self) -> Option<Exit> {
        let exit = match &mut self.hold {
            Hold::Child(child) => child.try_wait().ok().flatten().map(Exit::Status),
            Hold::Adopted => (!pidfile::is_server(self.running.pid, &self.data)).then_some(Exit::Unseen),
            Hold::Ended(exit) => Some(*exit),
        };
        if let Some(exit) = exit {
            self.hold = Hold::Ended(exit);
        }
        exit
    }

    /// Waits until it ends by itself.
    pub(crate) async fn ended(&mut self) -> Exit {
        loop {
            match self.exit() {
                Some(exit) => return exit,
                None => tokio::time::sleep(WATCH).await,
            }
        }
    }

    /// Lets it run on when this value is dropped.
    pub(crate) fn leave_running(mut self) {
        self.at_drop = AtDrop::Leave;
    }

    /// Shuts it down: open transactions are rolled back, then a checkpoint. When that takes too long, it is told
    /// to drop everything. An end in any other way than an orderly one is an error.
    pub(crate) async fn stop(mut self) -> Result<(), Error> {
        let pid = self.running.pid.as_raw_pid();
        let exit = match self.end_with(Signal::INT, FAST_STOP_LIMIT).await {
            Err(Error::StillThere { .. }) => {
                tracing::warn!(pid, "the database server does not shut down in time; it is told to quit");
                self.end_with(Signal::QUIT, QUICK_STOP_LIMIT).await?
            }
            ended => ended?,
        };
        match exit {
            Exit::Status(status) if !status.success() => {
                Err(Error::EndedBadly { pid, exit, log: self.data.with_file_name("postgres.log") })
            }
            Exit::Status(_) | Exit::Unseen => {
                tracing::info!(pid, %exit, "the database server stopped");
                Ok(())
            }
        }
    }

    /// Makes it drop everything at once, without a checkpoint.
    pub(crate) async fn quit(&mut self) -> Result<Exit, Error> {
        self.end_with(Signal::QUIT, QUICK_STOP_LIMIT).await
    }

    /// Kills it as a crash would.
    pub(crate) async fn kill(&mut self) -> Result<Exit, Error> {
        self.end_with(Signal::KILL, QUICK_STOP_LIMIT).await
    }

    async fn end_with(&mut self, signal: Signal, limit: Duration) -> Result<Exit, Error> {
        let deadline = Instant::now() + limit;
        self.signal(signal)?;
        loop {
            match self.exit() {
                Some(exit) => return Ok(exit),
                None if Instant::now() > deadline => {
                    return Err(Error::StillThere { pid: self.running.pid.as_raw_pid() });
                }
                None => tokio::time::sleep(POLL).await,
            }
        }
    }

    /// Signals it unless it has ended; then its process id may be somebody else's by now.
    fn signal(&mut self, signal: Signal) -> Result<(), Error> {
        if self.exit().is_some() {
            return Ok(());
        }
        match kill_process(self.running.pid, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(source) => Err(Error::Signal { pid: self.running.pid.as_raw_pid(), source }),
        }
    }
}

/// Waits until a server that somebody else owns has ended.
pub(crate) async fn ended(pid: Pid, data: &Path) -> Exit {
    while pidfile::is_server(pid, data) {
        tokio::time::sleep(WATCH).await;
    }
    Exit::Unseen
}

impl Drop for Server {
    fn drop(&mut self) {
        match self.at_drop {
            AtDrop::Leave => {}
            AtDrop::Stop => {
                if let Err(error) = self.signal(Signal::INT) {
                    tracing::warn!(%error, "the database server was left running");
                }
            }
        }
    }
}
