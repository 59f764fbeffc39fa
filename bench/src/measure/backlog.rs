//! What waits must not slow what moves: a backlog of a million against one of ten thousand, and one hot ordering
//! key against many cold ones.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::Bench;
use super::drain::settle_storage;
use crate::database::Database;
use crate::host::{Host, Order, Setup, books_hold};
use crate::load;
use crate::procfs;
use crate::workload::{Faults, Workload};

const SMALL: u64 = 10_000;
const LARGE: u64 = 1_000_000;
/// Events whose time is taken, on top of the small backlog, which therefore stays small to their end.
const COUNTED: u64 = 20_000;
const HOT: u64 = 100_000;
const LIMIT: Duration = Duration::from_secs(900);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The time that the first events of a backlog take, in proportion; and the memory.
pub(crate) async fn depth(bench: &mut Bench) -> anyhow::Result<()> {
    let (small, small_mib) = first_of(bench, SMALL).await?;
    let (large, large_mib) = first_of(bench, LARGE).await?;
    bench.record.ratio("backlog.claim_ratio", small, large);
    bench.record.ratio("backlog.memory_ratio", large_mib, small_mib);
    Ok(())
}

/// Events a second of the first ones, with `rest` events behind them; and the host's MiB.
async fn first_of(bench: &mut Bench, rest: u64) -> anyhow::Result<(f64, f64)> {
    bench.progress(&format!("wonce works in front of {rest} waiting events"));
    let database = bench.database().await?;
    let host = Host::start(&bench.programs, &Setup::new(Workload::Blind), &database).await?;
    load::backlog(host.http, Workload::Blind, "warm", bench.size.warm_up, Faults::None).await?;
    host.drained(&database).await?;
    host.pause().await?;
    submit(&database, rest + COUNTED).await?;
    until_equal(&database, "SELECT count(*) FROM wonce.submitted", 0).await?;
    settle_storage(&database).await?;
    let began = database.clock().await?;
    host.resume().await?;
    let settled = i64::try_from(bench.size.warm_up + COUNTED)?;
    until_at_least(&database, "SELECT count(*) FROM wonce.processed_events", settled).await?;
    host.pause().await?;
    let memory = procfs::memory(host.pid()?)?;
    let sql = "SELECT extract(epoch FROM pg_xact_commit_timestamp(xmin))::float8 FROM wonce.processed_events
               ORDER BY 1 OFFSET $1 LIMIT 1";
    let ended: f64 = database.row(sql, &[&(settled - 1)]).await?.try_get(0)?;
    host.stop().await?;
    books_hold(&bench.programs, &database).await?;
    bench.cluster.drop(database).await?;
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let rate = COUNTED as f64 / (ended - began);
    Ok((rate, memory.now))
}

/// Enqueues from SQL, as a business's transaction does; a host moves them to the inbox.
async fn submit(database: &Database, events: u64) -> anyhow::Result<()> {
    const CHUNK: u64 = 50_000;
    let mut next = 0;
    while next < events {
        let end = events.min(next + CHUNK);
        database
            .script(&format!(
                "SELECT count(wonce.enqueue_json('bench.blind', json_build_object(
                     'key', 'event-' || n, 'id', n * 61813 % 100000 + 1, 'amount', 1200, 'group', 'customer-' || n % 10000,
                     'note', 'two coffees, one cake, to be collected at the corner shop before noon'), 'event-' || n))
                 FROM generate_series({next}::bigint, {end} - 1) AS n"
            ))
            .await?;
        next = end;
    }
    Ok(())
}

/// The rate of 10,000 cold keys with and without a hot one beside them that has 100,000 events waiting.
pub(crate) async fn hot_key(bench: &mut Bench) -> anyhow::Result<()> {
    let without = cold_keys(bench, 0).await?;
    let with = cold_keys(bench, HOT).await?;
    bench.record.ratio("hot_key.others_vs_without", with, without);
    Ok(())
}

async fn cold_keys(bench: &mut Bench, hot: u64) -> anyhow::Result<f64> {
    bench.progress(&format!("wonce works on cold keys beside {hot} events of a hot one"));
    let database = bench.database().await?;
    let setup = Setup { order: Order::ByGroup, ..Setup::new(Workload::Blind) };
    let host = Host::start(&bench.programs, &setup, &database).await?;
    load::backlog(host.http, Workload::Blind, "warm", bench.size.warm_up, Faults::None).await?;
    host.drained(&database).await?;
    host.pause().await?;
    load::hot(host.http, Workload::Blind, "hot", hot).await?;
    load::backlog(host.http, Workload::Blind, "event", COUNTED, Faults::None).await?;
    settle_storage(&database).await?;
    let began = database.clock().await?;
    host.resume().await?;
    let cold = "SELECT count(*) FROM wonce.processed_events WHERE event_id LIKE 'event-%'";
    until_at_least(&database, cold, i64::try_from(COUNTED)?).await?;
    let sql = "SELECT extract(epoch FROM max(pg_xact_commit_timestamp(xmin)))::float8
               FROM wonce.processed_events WHERE event_id LIKE 'event-%'";
    let ended = database.float(sql).await?;
    host.pause().await?;
    host.stop().await?;
    books_hold(&bench.programs, &database).await?;
    bench.cluster.drop(database).await?;
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let rate = COUNTED as f64 / (ended - began);
    Ok(rate)
}

async fn until_equal(database: &Database, sql: &str, wanted: i64) -> anyhow::Result<()> {
    until(database, sql, |number| number == wanted).await
}

async fn until_at_least(database: &Database, sql: &str, wanted: i64) -> anyhow::Result<()> {
    until(database, sql, |number| number >= wanted).await
}

async fn until(database: &Database, sql: &str, holds: impl Fn(i64) -> bool) -> anyhow::Result<()> {
    let deadline = Instant::now() + LIMIT;
    while !holds(database.number(sql).await?) {
        anyhow::ensure!(Instant::now() < deadline, "waited in vain for \"{sql}\"");
        sleep(LOOK_EVERY).await;
    }
    Ok(())
}
