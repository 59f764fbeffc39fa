//! How fast a backlog is worked off. For everyone the same: warm up, load the events, analyse, checkpoint, go; the
//! clock runs from just before the word to the last event's commit, both by the server's clock.

use anyhow::Context;
use futures_util::future::try_join_all;

use super::Bench;
use crate::ceiling::{self, Ceiling};
use crate::database::Database;
use crate::hand::{self, Hand};
use crate::host::{self, Host, Setup};
use crate::load;
use crate::meter::{Meter, Usage};
use crate::procfs::{self, Memory};
use crate::receiver::{Gate, Receiver};
use crate::record::Record;
use crate::reference::Kind;
use crate::workload::{Faults, Workload};

/// The backlog of a ceiling is so many times that of a drain.
const CEILING_EVENTS: u64 = 4;

/// What one drain said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drained {
    pub(crate) per_second: f64,
    /// Per event, in microseconds of processor time.
    pub(crate) worker_us: f64,
    pub(crate) postgres_us: f64,
    pub(crate) wal_bytes: f64,
    pub(crate) memory: Memory,
    /// Rows that died per event, those of the intake included.
    pub(crate) died: f64,
}

/// What wonce is asked to drain, and how.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) setup: Setup,
    pub(crate) faults: Faults,
    /// Hosts on the one database.
    pub(crate) hosts: usize,
    /// Whether effects are answered; none for handlers without effects.
    pub(crate) relay: Option<Gate>,
}

impl Job {
    pub(crate) fn new(setup: Setup) -> Self {
        Self { setup, faults: Faults::None, hosts: 1, relay: None }
    }
}

/// A hand-written consumer.
pub(crate) async fn by_hand(bench: &mut Bench, kind: Kind, workload: Workload) -> anyhow::Result<Drained> {
    bench.progress(&format!("{} drains {}", kind.name(), workload.name()));
    let size = bench.size;
    let database = bench.database().await?;
    let mut hand = Hand::start(kind, workload, &database).await?;
    hand::load(&database, "warm", size.warm_up).await?;
    hand.drain().await?;
    hand::load(&database, "event", size.events).await?;
    settle_storage(&database).await?;
    let meter = Meter::start(&[hand.pid()?], bench.cluster.pid(), &database).await?;
    hand.drain().await?;
    let usage = meter.stop(&database).await?;
    let memory = procfs::memory(hand.pid()?)?;
    hand.stop().await?;
    let all = size.events + size.warm_up;
    let ended = hand::finished(&database, workload, all).await?;
    let died = database.rows_died().await?;
    bench.cluster.drop(database).await?;
    Ok(Drained::of(size.events, all, usage, ended, memory, died))
}

/// wonce, with its handler for the workload.
pub(crate) async fn by_wonce(bench: &mut Bench, job: &Job) -> anyhow::Result<Drained> {
    bench.progress(&format!("wonce drains {}", job.setup.workload.name()));
    let size = bench.size;
    let workload = job.setup.workload;
    let database = bench.database().await?;
    let gate = job.relay.unwrap_or(Gate::Open);
    let receiver = Receiver::listen(gate).await?;
    let setup = Setup { receiver: Some((receiver.address(), gate)), ..job.setup.clone() };
    let mut hosts = vec![Host::start(&bench.programs, &setup, &database).await?];
    while hosts.len() < job.hosts {
        hosts.push(Host::start(&bench.programs, &setup, &database).await?);
    }
    let first = hosts.first().context("one was started")?;
    load::backlog(first.http, workload, "warm", size.warm_up, Faults::None).await?;
    first.drained(&database).await?;
    first.pause().await?;
    load::backlog(first.http, workload, "event", size.events, job.faults).await?;
    settle_storage(&database).await?;
    let pids = hosts.iter().map(Host::pid).collect::<anyhow::Result<Vec<_>>>()?;
    bench.progress("the backlog is stored; the clock runs");
    let meter = Meter::start(&pids, bench.cluster.pid(), &database).await?;
    first.resume().await?;
    first.drained(&database).await?;
    let usage = meter.stop(&database).await?;
    let memory = procfs::memory(first.pid()?)?;
    receiver.open();
    try_join_all(hosts.into_iter().map(Host::stop)).await?;
    host::books_hold(&bench.programs, &database).await?;
    let all = size.events + size.warm_up;
    let done = all - job.faults.permanent(size.events);
    let ended = host::finished(&database, workload, done).await?;
    let died = database.rows_died().await?;
    bench.cluster.drop(database).await?;
    Ok(Drained::of(size.events, all, usage, ended, memory, died))
}

/// pgbench; events a second. It has no warm-up, so it drains a larger backlog: preparing and planning its statements
/// must not make the ceiling lower than it is.
pub(crate) async fn by_pgbench(bench: &mut Bench, ceiling: Ceiling) -> anyhow::Result<f64> {
    bench.progress(&format!("pgbench drains: {}", ceiling.key()));
    let database = bench.database().await?;
    let events = bench.size.events * CEILING_EVENTS;
    hand::load(&database, "event", events).await?;
    settle_storage(&database).await?;
    let pgbench = bench.cluster.pgbench();
    let per_second = ceiling::run(ceiling, &pgbench, &database, events)
        .await
        .with_context(|| format!("measure {}", ceiling.key()))?;
    bench.cluster.drop(database).await?;
    Ok(per_second)
}

/// What loading left to do is done before the clock runs.
pub(crate) async fn settle_storage(database: &Database) -> anyhow::Result<()> {
    database.script("ANALYZE").await?;
    database.script("CHECKPOINT").await
}

impl Drained {
    fn of(events: u64, all: u64, usage: Usage, ended: f64, memory: Memory, died: f64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let (events, all) = (events as f64, all as f64);
        Self {
            per_second: events / (ended - usage.began),
            worker_us: usage.worker.as_secs_f64() * 1e6 / events,
            postgres_us: usage.postgres.as_secs_f64() * 1e6 / events,
            wal_bytes: usage.wal / events,
            memory,
            died: died / all,
        }
    }

    /// Everything of one contender under its name.
    pub(crate) fn put(&self, record: &mut Record, name: &str) {
        for (what, value) in [
            ("events_per_s", self.per_second),
            ("worker_us", self.worker_us),
            ("postgres_us", self.postgres_us),
            ("wal_bytes", self.wal_bytes),
            ("rss_mib", self.memory.now),
            ("rows_died", self.died),
        ] {
            record.put(format!("{name}.{what}"), value);
        }
    }
}
