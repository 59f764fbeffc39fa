//! The consumers that a team would write by hand, as good as an expert makes them in a day: the classic
//! inbox pattern on Postgres. They run in a process of their own (`wonce-bench reference …`), so that their
//! processor time is counted like a host's. They do the same work as wonce with the same statements on the
//! business's table; they have no retries, no dead letters and no isolation between handlers.
//!
//! - [`inbox`]: the statements all of them share
//! - [`one`]: one event a transaction
//! - [`batch`]: fifty events a transaction
//! - [`serve`]: the worker loops

mod batch;
mod inbox;
mod one;
mod serve;

use std::io::Write;

use anyhow::Context;
use clap::{Args, ValueEnum};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::workload::Workload;
use serve::Crew;

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// One transaction an event, 16 tasks.
    #[value(name = "hand-one")]
    One,
    /// Fifty events a transaction, each with its own dedup statement, 4 tasks.
    #[value(name = "hand-batch")]
    Batch,
    /// Fifty events a transaction with one dedup statement for all, 4 tasks.
    #[value(name = "hand-batch-set")]
    BatchSet,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::One => "hand-one",
            Self::Batch => "hand-batch",
            Self::BatchSet => "hand-batch-set",
        }
    }

    fn tasks(self) -> usize {
        match self {
            Self::One => 16,
            Self::Batch | Self::BatchSet => 4,
        }
    }
}

/// The flags of the child process.
#[derive(Debug, Args)]
pub(crate) struct Reference {
    #[arg(value_enum)]
    kind: Kind,
    #[arg(long)]
    url: String,
    #[arg(long, value_enum)]
    workload: Workload,
}

/// Lines that the child understands, and what it says when it has done so.
pub(crate) const DRAIN: &str = "drain";
pub(crate) const SERVE: &str = "serve";
pub(crate) const READY: &str = "ready";
pub(crate) const DONE: &str = "done";

/// Connects and does what the lines on standard input say, until they end.
pub(crate) async fn run(flags: Reference) -> anyhow::Result<()> {
    let crew = Crew::hire(flags.kind, flags.kind.tasks(), flags.workload, &flags.url).await?;
    say(READY)?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await.context("read what to do")? {
        match line.as_str() {
            DRAIN => {
                crew.drain().await?;
                say(DONE)?;
            }
            SERVE => {
                say(READY)?;
                tokio::select! {
                    ended = crew.serve(&flags.url) => ended?,
                    _ = lines.next_line() => {}
                }
                say(DONE)?;
            }
            other => anyhow::bail!("there is no \"{other}\"; say {DRAIN} or {SERVE}"),
        }
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the parent reads it")]
fn say(word: &str) -> anyhow::Result<()> {
    println!("{word}");
    std::io::stdout().flush().context("tell the parent")
}
