//! `make bench`: wonce, hand-written consumers and pgbench do the same work in turn, in the same minutes, on one
//! private Postgres. The README beside this folder says how and how to read the figures.
//!
//! - [`cluster`], [`database`]: the Postgres everyone is measured on
//! - [`workload`]: the work and its events
//! - [`ceiling`], [`reference`] and [`hand`], [`host`]: the contenders
//! - [`measure`]: what is asked of them
//! - [`record`], [`stats`]: the figures

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod ceiling;
mod cluster;
mod database;
mod hand;
mod host;
mod http;
mod load;
mod measure;
mod meter;
mod procfs;
mod programs;
mod record;
mod reference;
mod stats;
mod workload;

use cluster::Cluster;
use measure::{Bench, Size, drain};
use programs::Programs;
use record::Record;
use reference::{Kind, Reference};
use workload::Workload;

/// Measures wonce against hand-written consumers and Postgres's own ceiling.
#[derive(Debug, Parser)]
#[command(name = "wonce-bench")]
struct Flags {
    #[command(subcommand)]
    command: Option<Command>,
    /// The host to measure [default: the one beside this program]
    #[arg(long)]
    wonce: Option<PathBuf>,
    /// The folder with the handlers' components
    #[arg(long)]
    components: Option<PathBuf>,
    /// The folder with the handlers' manifests
    #[arg(long)]
    plugins: Option<PathBuf>,
    /// The folder with postgres and pgbench [default: searched for]
    #[arg(long)]
    pg_bin: Option<PathBuf>,
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    #[arg(long, default_value_t = 40_000)]
    events: u64,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// A hand-written consumer; the bench starts it
    #[command(hide = true)]
    Reference(Reference),
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Flags::parse()).await {
        Ok(code) => code,
        Err(error) => {
            complain(&format!("the bench could not be run to its end: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

async fn run(flags: Flags) -> anyhow::Result<ExitCode> {
    if let Some(Command::Reference(reference)) = flags.command {
        reference::run(reference).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let programs = Programs::find(flags.wonce, flags.components, flags.plugins)?;
    let cluster = Cluster::start(flags.pg_bin.as_deref()).await?;
    let size = Size { rounds: flags.rounds, events: flags.events, warm_up: 1000 };
    let mut bench = Bench { cluster, programs, size, record: Record::default(), databases: 0, out: "bench".into() };
    for _ in 0..size.rounds {
        for ceiling in [ceiling::Ceiling::One, ceiling::Ceiling::OnePipelined, ceiling::Ceiling::BatchPipelined] {
            let rate = drain::by_pgbench(&mut bench, ceiling).await?;
            complain(&format!("{} {rate:.0}", ceiling.key()));
        }
        for workload in [Workload::Blind, Workload::Payment] {
            for kind in [Kind::HandOne, Kind::HandBatch, Kind::HandBatchSet] {
                let drained = drain::by_hand(&mut bench, kind, workload).await?;
                complain(&format!("{} {} {drained:.0?}", kind.name(), workload.name()));
            }
        }
        let drained = drain::by_wonce(&mut bench, &host::Setup::new(Workload::Blind)).await?;
        complain(&format!("wonce {drained:.0?}"));
    }
    bench.cluster.stop().await?;
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::print_stderr, reason = "the one who started it hears of it here")]
fn complain(text: &str) {
    eprintln!("{text}");
}
