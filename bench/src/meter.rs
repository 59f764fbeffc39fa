//! What a run costs: processor time of the worker's tree and of Postgres's, and write-ahead log. It never
//! knows what the run does.

use std::time::Duration;

use crate::database::Database;
use crate::procfs::cpu_of_tree;

/// Readings at the start.
#[derive(Debug)]
pub(crate) struct Meter {
    worker: u32,
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
    /// Reads the clocks of the trees under these two processes.
    pub(crate) async fn start(worker: u32, postgres: u32, database: &Database) -> anyhow::Result<Self> {
        Ok(Self { worker, postgres, before: read(worker, postgres, database).await? })
    }

    pub(crate) async fn stop(self, database: &Database) -> anyhow::Result<Usage> {
        let after = read(self.worker, self.postgres, database).await?;
        Ok(Usage {
            began: self.before.clock,
            worker: after.worker.saturating_sub(self.before.worker),
            postgres: after.postgres.saturating_sub(self.before.postgres),
            wal: after.wal - self.before.wal,
        })
    }
}

async fn read(worker: u32, postgres: u32, database: &Database) -> anyhow::Result<Reading> {
    let wal = database.wal().await?;
    let (worker, postgres) = (cpu_of_tree(worker)?, cpu_of_tree(postgres)?);
    Ok(Reading { clock: database.clock().await?, worker, postgres, wal })
}
