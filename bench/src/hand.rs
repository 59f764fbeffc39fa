//! The parent's side of a hand-written consumer: its process, its queue, and whether it did all of its work.

use std::process::Stdio;

use anyhow::Context;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio_postgres::types::Json;

use crate::database::Database;
use crate::reference::{DONE, DRAIN, Kind, READY, SERVE};
use crate::workload::{Body, Faults, Workload, body};

/// A running consumer. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Hand {
    child: Child,
    orders: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Hand {
    /// Starts the process; it is connected and prepared when this returns.
    pub(crate) async fn start(kind: Kind, workload: Workload, database: &Database) -> anyhow::Result<Self> {
        let me = std::env::current_exe().context("find the bench's own program")?;
        let mut command = Command::new(me);
        command.args(["reference", kind.name(), "--workload", workload.name(), "--url", database.url()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().context("start a hand-written consumer")?;
        let orders = child.stdin.take().context("speak to the consumer")?;
        let answers = BufReader::new(child.stdout.take().context("listen to the consumer")?).lines();
        let mut hand = Self { child, orders, answers };
        hand.hears(READY).await?;
        Ok(hand)
    }

    pub(crate) fn pid(&self) -> anyhow::Result<u32> {
        self.child.id().context("the consumer has ended")
    }

    /// Lets it work until its queue is empty.
    pub(crate) async fn drain(&mut self) -> anyhow::Result<()> {
        self.say(DRAIN).await?;
        self.hears(DONE).await
    }

    /// Lets it work on what comes.
    pub(crate) async fn serve(&mut self) -> anyhow::Result<()> {
        self.say(SERVE).await?;
        self.hears(READY).await
    }

    /// Ends it in order.
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        let Self { mut child, orders, answers } = self;
        drop(orders);
        let status = child.wait().await.context("wait for the consumer")?;
        drop(answers);
        anyhow::ensure!(status.success(), "a hand-written consumer ended with {status}");
        Ok(())
    }

    async fn say(&mut self, word: &str) -> anyhow::Result<()> {
        self.orders.write_all(format!("{word}\n").as_bytes()).await.context("speak to the consumer")
    }

    async fn hears(&mut self, word: &str) -> anyhow::Result<()> {
        let line = self.answers.next_line().await.context("listen to the consumer")?;
        anyhow::ensure!(line.as_deref() == Some(word), "the consumer said {line:?} instead of \"{word}\"");
        Ok(())
    }
}

/// Puts events into the queue, many a statement.
pub(crate) async fn load(database: &Database, prefix: &str, events: u64) -> anyhow::Result<()> {
    const CHUNK: u64 = 5000;
    let mut next = 0;
    while next < events {
        let end = events.min(next + CHUNK);
        let bodies: Vec<Json<Body>> = (next..end).map(|n| Json(body(prefix, n, Faults::None))).collect();
        let ids: Vec<&str> = bodies.iter().map(|Json(body)| body.key.as_str()).collect();
        let sql = "INSERT INTO hand.queue (event_id, body) SELECT * FROM unnest($1::text[], $2::jsonb[])";
        database.rows(sql, &[&ids, &bodies]).await?;
        next = end;
    }
    Ok(())
}

/// When the last of these events was committed, on the server's clock, after checking that every one had its
/// effects once.
///
/// # Errors
/// When anything is missing or there twice.
pub(crate) async fn finished(database: &Database, workload: Workload, events: u64) -> anyhow::Result<f64> {
    let row = database
        .row(
            "SELECT (SELECT count(*) FROM hand.queue), count(*), (SELECT sum(hits) FROM bench.orders)::bigint,
                    (SELECT count(*) FROM hand.outbox),
                    extract(epoch FROM max(pg_xact_commit_timestamp(xmin)))::float8
             FROM hand.processed",
            &[],
        )
        .await?;
    let seen: [i64; 4] = [row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?];
    let events = i64::try_from(events)?;
    let effects = match workload {
        Workload::Blind => 0,
        Workload::Payment => events,
    };
    anyhow::ensure!(
        seen == [0, events, events, effects],
        "a hand-written consumer left {} in its queue, {} dedup rows, {} updates and {} effects for {events} events",
        seen[0],
        seen[1],
        seen[2],
        seen[3]
    );
    Ok(row.try_get(4)?)
}
