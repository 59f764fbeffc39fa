//! What a run costs: processor time of the worker's tree and of Postgres's, and write-ahead log. It never
//! knows what the run does.

use std::time::Duration;

use crate::database::Database;
use crate::procfs::cpu_of_tree;
use crate::record::Record;

/// Readings at the start.
#[derive(Debug)]
pub(crate) struct Meter {
    workers: Vec<u32>,
    postgres: u32,
    before: Reading,
}

#[derive(Debug)]
struct Reading {
    clock: f64,
    worker: Duration,
    postgres: Duration,
    wal: f64,
}

/// What was used between start and stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// When it began, on the server's clock.
    pub(crate) began: f64,
    pub(crate) worker: Duration,
    pub(crate) postgres: Duration,
    pub(crate) wal: f64,
}

impl Meter {
    /// Reads the clocks of the trees under these processes.
    pub(crate) async fn start(workers: &[u32], postgres: u32, database: &Database) -> anyhow::Result<Self> {
        Ok(Self { workers: workers.to_vec(), postgres, before: read(workers, postgres, database).await? })
    }

    pub(crate) async fn stop(self, database: &Database) -> anyhow::Result<Usage> {
        let after = read(&self.workers, self.postgres, database).await?;
        Ok(Usage {
            began: self.before.clock,
            worker: after.worker.saturating_sub(self.before.worker),
            postgres: after.postgres.saturating_sub(self.before.postgres),
            wal: after.wal - self.before.wal,
        })
    }
}

impl Usage {
    /// Processor time of an event, in microseconds, under a contender's name.
    pub(crate) fn put(&self, record: &mut Record, name: &str, events: u64) {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let each = |time: Duration| time.as_secs_f64() * 1e6 / events as f64;
        record.put(format!("{name}.worker_us"), each(self.worker));
        record.put(format!("{name}.postgres_us"), each(self.postgres));
    }
}

async fn read(workers: &[u32], postgres: u32, database: &Database) -> anyhow::Result<Reading> {
    let wal = database.wal().await?;
    let worker = workers.iter().map(|worker| cpu_of_tree(*worker)).sum::<anyhow::Result<Duration>>()?;
    let postgres = cpu_of_tree(postgres)?;
    Ok(Reading { clock: database.clock().await?, worker, postgres, wal })
}
