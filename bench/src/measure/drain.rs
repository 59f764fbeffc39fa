//! How fast a backlog is worked off. For everyone the same: warm up, load the events, analyse, checkpoint, go; the
//! clock runs from just before the word to the last event's commit, both by the server's clock.

use anyhow::Context;

use super::Bench;
use crate::ceiling::{self, Ceiling};
use crate::hand::{self, Hand};
use crate::host::{self, Host, Setup};
use crate::load;
use crate::meter::{Meter, Usage};
use crate::procfs::{self, Memory};
use crate::reference::Kind;
use crate::workload::{Faults, Workload};

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

/// A hand-written consumer.
pub(crate) async fn by_hand(bench: &mut Bench, kind: Kind, workload: Workload) -> anyhow::Result<Drained> {
    let size = bench.size;
    let database = bench.database().await?;
    let mut hand = Hand::start(kind, workload, &database).await?;
    hand::load(&database, "warm", size.warm_up).await?;
    hand.drain().await?;
    hand::load(&database, "event", size.events).await?;
    settle_storage(&database).await?;
    let meter = Meter::start(hand.pid()?, bench.cluster.pid(), &database).await?;
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
pub(crate) async fn by_wonce(bench: &mut Bench, setup: &Setup) -> anyhow::Result<Drained> {
    let size = bench.size;
    let database = bench.database().await?;
    let host = Host::start(&bench.programs, setup, &database).await?;
    load::backlog(host.http, setup.workload, "warm", size.warm_up, Faults::None).await?;
    host.drained(&database).await?;
    host.pause().await?;
    load::backlog(host.http, setup.workload, "event", size.events, Faults::None).await?;
    settle_storage(&database).await?;
    let meter = Meter::start(host.pid()?, bench.cluster.pid(), &database).await?;
    host.resume().await?;
    host.drained(&database).await?;
    let usage = meter.stop(&database).await?;
    let memory = procfs::memory(host.pid()?)?;
    host.stop(&database).await?;
    let all = size.events + size.warm_up;
    let ended = host::finished(&database, setup.workload, all).await?;
    let died = database.rows_died().await?;
    bench.cluster.drop(database).await?;
    Ok(Drained::of(size.events, all, usage, ended, memory, died))
}

/// pgbench; events a second.
pub(crate) async fn by_pgbench(bench: &mut Bench, ceiling: Ceiling) -> anyhow::Result<f64> {
    let database = bench.database().await?;
    hand::load(&database, "event", bench.size.events).await?;
    settle_storage(&database).await?;
    let pgbench = bench.cluster.pgbench();
    let per_second = ceiling::run(ceiling, &pgbench, &database, bench.size.events)
        .await
        .with_context(|| format!("measure {}", ceiling.key()))?;
    bench.cluster.drop(database).await?;
    Ok(per_second)
}

/// What loading left to do is done before the clock runs.
async fn settle_storage(database: &crate::database::Database) -> anyhow::Result<()> {
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
}
