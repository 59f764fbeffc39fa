//! How long an event takes when there is little to do: 100 a second, open loop. From the moment the accepted row
//! took from the server's clock to the time of the commit that handled it, as Postgres recorded it: the same for
//! wonce and for the hand-written consumer, and free of observers.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::Bench;
use super::drain::settle_storage;
use crate::database::{Database, connect};
use crate::hand::Hand;
use crate::host::{Host, Poll, Setup, books_hold};
use crate::http::Connection;
use crate::load;
use crate::meter::Meter;
use crate::reference::Kind;
use crate::stats::percentile;
use crate::workload::{Faults, Workload, body};

const PER_SECOND: u32 = 100;
/// Events before the counted ones: two seconds.
const WARM_UP: u64 = 200;
/// Connections that take turns, so that a slow answer does not hold the next event back.
const SENDERS: u32 = 8;

/// Milliseconds.
#[derive(Debug, Clone, Copy)]
struct Latency {
    p50: f64,
    p95: f64,
    p99: f64,
}

/// Both contenders in turn.
pub(crate) async fn both(bench: &mut Bench) -> anyhow::Result<()> {
    let hand = by_hand(bench).await?;
    let wonce = by_wonce(bench).await?;
    for (name, latency) in [("hand", hand), ("wonce", wonce)] {
        bench.record.put(format!("latency.{name}.p50_ms"), latency.p50);
        bench.record.put(format!("latency.{name}.p95_ms"), latency.p95);
        bench.record.put(format!("latency.{name}.p99_ms"), latency.p99);
    }
    bench.record.ratio("latency.p50_vs_hand", wonce.p50, hand.p50);
    bench.record.ratio("latency.p99_vs_hand", wonce.p99, hand.p99);
    Ok(())
}

async fn by_hand(bench: &mut Bench) -> anyhow::Result<Latency> {
    bench.progress("hand-one serves 100 events a second");
    let database = bench.database().await?;
    let mut hand = Hand::start(Kind::One, Workload::Blind, &database).await?;
    hand.serve().await?;
    settle_storage(&database).await?;
    let events = WARM_UP + bench.size.latency_events;
    let meter = Meter::start(&[hand.pid()?], bench.cluster.pid(), &database).await?;
    let senders = (0..SENDERS).map(|sender| {
        let url = database.url().to_owned();
        async move {
            let client = connect(&url).await?;
            let insert = client.prepare("INSERT INTO hand.queue (event_id, body) VALUES ($1, $2)").await?;
            let mut pace = Pace::of(sender, events);
            while let Some(n) = pace.next().await {
                let body = body("event", n, Faults::None);
                client.execute(&insert, &[&body.key.clone(), &tokio_postgres::types::Json(body)]).await?;
            }
            anyhow::Ok(())
        }
    });
    futures_util::future::try_join_all(senders).await?;
    until_none(&database, "hand.queue").await?;
    let usage = meter.stop(&database).await?;
    usage.put(&mut bench.record, "latency.hand", events);
    hand.stop().await?;
    let latency = read(&database, "hand.processed").await?;
    bench.cluster.drop(database).await?;
    Ok(latency)
}

async fn by_wonce(bench: &mut Bench) -> anyhow::Result<Latency> {
    bench.progress("wonce serves 100 events a second");
    let database = bench.database().await?;
    let setup = Setup { poll: Poll::AsItComes, ..Setup::new(Workload::Blind) };
    let host = Host::start(&bench.programs, &setup, &database).await?;
    settle_storage(&database).await?;
    let events = WARM_UP + bench.size.latency_events;
    let meter = Meter::start(&[host.pid()?], bench.cluster.pid(), &database).await?;
    let door = host.http;
    let senders = (0..SENDERS).map(|sender| async move {
        let mut connection = Connection::open(door).await?;
        let mut pace = Pace::of(sender, events);
        while let Some(n) = pace.next().await {
            let answer = connection.exchange(&load::single(Workload::Blind, "event", n)?).await?;
            anyhow::ensure!(answer.status == 202, "an event was answered with {}", answer.status);
        }
        anyhow::Ok(())
    });
    futures_util::future::try_join_all(senders).await?;
    until_none(&database, "wonce.inbox").await?;
    let usage = meter.stop(&database).await?;
    usage.put(&mut bench.record, "latency.wonce", events);
    host.stop().await?;
    books_hold(&bench.programs, &database).await?;
    let latency = read(&database, "wonce.processed_events").await?;
    bench.cluster.drop(database).await?;
    Ok(latency)
}

async fn until_none(database: &Database, table: &str) -> anyhow::Result<()> {
    let deadline = Instant::now() + Duration::from_secs(60);
    while database.holds(&format!("SELECT EXISTS (SELECT FROM {table})")).await? {
        anyhow::ensure!(Instant::now() < deadline, "events of the low rate stay in {table}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// The latencies of all but the first events.
async fn read(database: &Database, table: &str) -> anyhow::Result<Latency> {
    let warm = body("event", WARM_UP, Faults::None).key;
    let sql = format!(
        "SELECT extract(epoch FROM pg_xact_commit_timestamp(xmin) - accepted_at)::float8 * 1000
         FROM {table} WHERE event_id >= $1"
    );
    let rows = database.rows(&sql, &[&warm]).await?;
    let values = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<f64>, _>>()?;
    let at = |share| percentile(&values, share).ok_or_else(|| anyhow::anyhow!("no event was handled"));
    Ok(Latency { p50: at(0.5)?, p95: at(0.95)?, p99: at(0.99)? })
}

/// When each event of one sender is due, whatever became of those before.
#[derive(Debug)]
struct Pace {
    begun: Instant,
    next: u64,
    step: u64,
    events: u64,
}

impl Pace {
    fn of(sender: u32, events: u64) -> Self {
        Self { begun: Instant::now(), next: sender.into(), step: SENDERS.into(), events }
    }

    /// Waits until the next event is due; none when all were sent.
    async fn next(&mut self) -> Option<u64> {
        let n = self.next;
        if n >= self.events {
            return None;
        }
        self.next += self.step;
        let due = Duration::from_secs(1) / PER_SECOND * u32::try_from(n).ok()?;
        sleep_until(self.begun + due).await;
        Some(n)
    }
}
