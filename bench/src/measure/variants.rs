//! wonce against itself: with faults, in order, with a second host. Each variant and the plain run it is compared
//! with are of the same round.

use super::Bench;
use super::drain::{Job, by_wonce};
use crate::host::{Order, Setup};
use crate::workload::{Fail, Faults, Workload};

/// One event in a hundred asks for a retry, or ends dead.
pub(crate) async fn faults(bench: &mut Bench) -> anyhow::Result<()> {
    let clean = plain(bench).await?;
    for (key, fail) in
        [("faults.retry_1pct_vs_clean", Fail::Retry), ("faults.dead_1pct_vs_clean", Fail::Permanent)]
    {
        let job = Job { faults: Faults::OneInHundred(fail), ..Job::new(Setup::new(Workload::Blind)) };
        let faulty = by_wonce(bench, &job).await?;
        bench.record.ratio(key, faulty.per_second, clean);
    }
    Ok(())
}

/// 10,000 ordering keys.
pub(crate) async fn ordered(bench: &mut Bench) -> anyhow::Result<()> {
    let unordered = plain(bench).await?;
    let setup = Setup { order: Order::ByGroup, ..Setup::new(Workload::Blind) };
    let ordered = by_wonce(bench, &Job::new(setup)).await?;
    ordered.put(&mut bench.record, "ordered.wonce");
    bench.record.ratio("ordered.vs_unordered", ordered.per_second, unordered);
    Ok(())
}

/// Two hosts on one database and the same cores.
pub(crate) async fn two_hosts(bench: &mut Bench) -> anyhow::Result<()> {
    let one = plain(bench).await?;
    let two = by_wonce(bench, &Job { hosts: 2, ..Job::new(Setup::new(Workload::Blind)) }).await?;
    bench.record.ratio("hosts.two_vs_one", two.per_second, one);
    Ok(())
}

async fn plain(bench: &mut Bench) -> anyhow::Result<f64> {
    Ok(by_wonce(bench, &Job::new(Setup::new(Workload::Blind))).await?.per_second)
}
