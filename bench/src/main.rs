//! `make bench`: wonce, hand-written consumers and pgbench do the same work in turn, in the same minutes, on one
//! private Postgres. The README beside this folder says how, and how to read the figures.
//!
//! - [`cluster`], [`database`]: the Postgres everyone is measured on
//! - [`workload`]: the work and its events
//! - [`ceiling`], [`reference`] and [`hand`], [`host`]: the contenders; [`load`] feeds, [`receiver`] receives
//! - [`measure`]: what is asked of them, with [`meter`] and [`procfs`]
//! - [`record`], [`stats`], [`catalog`], [`output`]: the figures

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;

mod catalog;
mod ceiling;
mod cluster;
mod database;
mod flags;
mod hand;
mod host;
mod http;
mod load;
mod measure;
mod meter;
mod output;
mod procfs;
mod programs;
mod receiver;
mod record;
mod reference;
mod stats;
mod workload;

use catalog::QUICK_LIMITS;
use cluster::Cluster;
use flags::{Command, Flags};
use measure::{Bench, Extent};
use output::report::{Machine, Report};
use output::{plot, table};
use programs::Programs;

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
    let size = flags.size();
    let out = flags.out();
    if let Some(Command::Reference(reference)) = flags.command {
        reference::run(reference).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let programs = Programs::find(flags.wonce, flags.components, flags.plugins)?;
    let cluster = Cluster::start(flags.pg_bin.as_deref()).await?;
    let mut bench = Bench::new(cluster, programs, size);
    bench.measure(&flags.only).await;
    say(&table::table(&bench.record));
    if let Some(out) = out {
        write(&bench, &out).await?;
    }
    let complaints = complaints(&bench);
    bench.cluster.stop().await?;
    complaints.iter().for_each(|complaint| complain(complaint));
    Ok(if complaints.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn write(bench: &Bench, out: &Path) -> anyhow::Result<()> {
    let failures = bench.failures.iter().map(|(failed, why)| (format!("{failed:?}"), why.clone()));
    let mut report = Report::new(&bench.record, bench.size, failures, Machine::here());
    report.postgres = bench.cluster.settings().await?.into_iter().collect();
    report.made_at = bench.cluster.now().await?;
    report.wonce = bench.programs.version().await?;
    let report_path = out.join("report.json");
    report.write(&report_path)?;
    say(&format!("written: {}", report_path.display()));
    if let Some(svg) = plot::svg(&bench.record) {
        let path: PathBuf = out.join("drain.svg");
        std::fs::write(&path, svg).with_context(|| format!("write \"{}\"", path.display()))?;
        say(&format!("written: {}", path.display()));
    }
    Ok(())
}

/// Why this run fails: what could not be measured, and in the quick one what is too slow.
fn complaints(bench: &Bench) -> Vec<String> {
    let broken =
        bench.failures.iter().map(|(failed, why)| format!("{failed:?} could not be measured: {why}"));
    let mut complaints: Vec<String> = broken.collect();
    if bench.size.extent == Extent::Quick {
        for (key, limit) in QUICK_LIMITS {
            let median = bench.record.summary(key).map(|summary| summary.median);
            if let Some(median) = median.filter(|median| !limit.is_met(*median)) {
                complaints.push(format!("too slow: {key} is {median:.2}, and the limit is {limit:?}"));
            }
        }
    }
    complaints
}

#[expect(clippy::print_stdout, reason = "the table is what was asked for")]
fn say(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "the one who started it hears of it here")]
fn complain(text: &str) {
    eprintln!("bench: {text}");
}
