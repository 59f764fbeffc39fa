//! How many events a second are accepted durably over HTTP, one event a request, by 64 keep-alive connections whose
//! load generator runs on the same cores; and how long an answer takes at half that rate. The handler is paused, so
//! that intake is measured and nothing else.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::try_join_all;
use tokio::time::{Instant, sleep_until};

use super::Bench;
use super::drain::settle_storage;
use crate::host::{Host, Poll, Setup, books_hold};
use crate::http::Connection;
use crate::load::Template;
use crate::stats::percentile;
use crate::workload::Workload;

const CONNECTIONS: u32 = 64;
const WARM_UP: Duration = Duration::from_secs(1);
const COUNTED: Duration = Duration::from_secs(5);
/// Numbers of one connection's events: more than it can send.
const RANGE: u64 = 100_000;

/// Both figures.
pub(crate) async fn http(bench: &mut Bench) -> anyhow::Result<()> {
    bench.progress("wonce accepts over HTTP");
    let database = bench.database().await?;
    let setup = Setup { poll: Poll::AsItComes, ..Setup::new(Workload::Blind) };
    let host = Host::start(&bench.programs, &setup, &database).await?;
    host.pause().await?;
    settle_storage(&database).await?;
    at_full_rate(host.http, "warm", WARM_UP).await?;
    let begun = Instant::now();
    let full = at_full_rate(host.http, "full", COUNTED).await?;
    let per_second = f64::from(full) / begun.elapsed().as_secs_f64();
    database.script("CHECKPOINT").await?;
    let waits = at_rate(host.http, "half", per_second / 2.0, COUNTED).await?;
    let kept = database.number("SELECT count(*) FROM wonce.inbox WHERE event_id LIKE 'full-%'").await?;
    anyhow::ensure!(kept == i64::from(full), "{full} events were accepted and {kept} are kept");
    let p99 =
        percentile(&waits, 0.99).ok_or_else(|| anyhow::anyhow!("nothing was answered at half the rate"))?;
    bench.record.put("intake.accepts_per_s", per_second);
    bench.record.put("intake.p99_ms_at_half", p99);
    host.stop().await?;
    books_hold(&bench.programs, &database).await?;
    bench.cluster.drop(database).await
}

/// Everyone sends the next event as soon as the last was answered; how many were accepted.
async fn at_full_rate(door: SocketAddr, prefix: &str, time: Duration) -> anyhow::Result<u32> {
    let end = Instant::now() + time;
    let senders = (0..CONNECTIONS).map(|sender| {
        let prefix = prefix.to_owned();
        tokio::spawn(async move {
            let mut connection = Connection::open(door).await?;
            let mut template = Template::new(Workload::Blind, &prefix)?;
            let mut accepted = 0;
            while Instant::now() < end {
                send(&mut connection, template.request(u64::from(sender) * RANGE + u64::from(accepted)))
                    .await?;
                accepted += 1;
            }
            anyhow::Ok(accepted)
        })
    });
    let counts = try_join_all(senders).await?;
    counts.into_iter().sum()
}

/// Everyone sends at fixed times; the milliseconds from when each event was due to its answer.
async fn at_rate(door: SocketAddr, prefix: &str, rate: f64, time: Duration) -> anyhow::Result<Vec<f64>> {
    let begun = Instant::now();
    let gap = Duration::from_secs_f64(f64::from(CONNECTIONS) / rate);
    let senders = (0..CONNECTIONS).map(|sender| {
        let prefix = prefix.to_owned();
        tokio::spawn(async move {
            let mut connection = Connection::open(door).await?;
            let mut template = Template::new(Workload::Blind, &prefix)?;
            let mut due = begun + gap * sender / CONNECTIONS;
            let mut waits = Vec::new();
            while due < begun + time {
                sleep_until(due).await;
                let n = u64::from(sender) * RANGE + u64::try_from(waits.len())?;
                send(&mut connection, template.request(n)).await?;
                waits.push(due.elapsed().as_secs_f64() * 1000.0);
                due += gap;
            }
            anyhow::Ok(waits)
        })
    });
    let waits = try_join_all(senders).await?;
    Ok(waits.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat())
}

async fn send(connection: &mut Connection, request: &[u8]) -> anyhow::Result<()> {
    let answer = connection.exchange(request).await?;
    let said = String::from_utf8_lossy(&answer.body);
    anyhow::ensure!(answer.status == 202, "an event was answered with {}: {said}", answer.status);
    Ok(())
}
