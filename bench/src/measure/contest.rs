//! One round of the contest: ceilings, hand-written consumers and wonce drain the same backlog in turn.

use super::drain::{Drained, Job, by_hand, by_pgbench, by_wonce};
use super::{Bench, Extent};
use crate::ceiling::Ceiling;
use crate::host::{Batch, Setup};
use crate::receiver::Gate;
use crate::reference::Kind;
use crate::workload::Workload;

/// Blind updates.
pub(crate) async fn blind(bench: &mut Bench) -> anyhow::Result<()> {
    let batch = hand(bench, Kind::Batch, Workload::Blind).await?;
    if bench.size.extent > Extent::Quick {
        hand(bench, Kind::BatchSet, Workload::Blind).await?;
    }
    let wonce = by_wonce(bench, &Job::new(Setup::new(Workload::Blind))).await?;
    let record = &mut bench.record;
    wonce.put(record, "blind.wonce");
    record.put("cpu_us_per_event.host", wonce.worker_us);
    record.put("cpu_us_per_event.postgres", wonce.postgres_us);
    record.put("rss_mib", wonce.memory.now);
    record.put("rss_peak_mib", wonce.memory.peak);
    record.put("wal_bytes_per_event", wonce.wal_bytes);
    record.put("dead_tuples_per_event", wonce.died);
    record.ratio("drain.vs_hand_batch", wonce.per_second, batch.per_second);
    if bench.size.extent == Extent::Quick {
        return Ok(());
    }
    let one = hand(bench, Kind::One, Workload::Blind).await?;
    bench.record.ratio("drain.vs_hand_one", wonce.per_second, one.per_second);
    for ceiling in [Ceiling::One, Ceiling::OnePipelined, Ceiling::BatchPipelined] {
        let rate = by_pgbench(bench, ceiling).await?;
        bench.record.put(format!("{}.events_per_s", ceiling.key()), rate);
        match ceiling {
            Ceiling::BatchPipelined => bench.record.ratio("drain.vs_ceiling", wonce.per_second, rate),
            Ceiling::One | Ceiling::OnePipelined => {}
        }
    }
    Ok(())
}

/// wonce with one delivery a transaction against the consumer that does the same.
pub(crate) async fn single(bench: &mut Bench) -> anyhow::Result<()> {
    let one = hand(bench, Kind::One, Workload::Blind).await?;
    let setup = Setup { batch: Batch::One, ..Setup::new(Workload::Blind) };
    let wonce = by_wonce(bench, &Job::new(setup)).await?;
    wonce.put(&mut bench.record, "single.wonce");
    bench.record.ratio("single.vs_hand_one", wonce.per_second, one.per_second);
    Ok(())
}

/// Payments: an answer decides, and an effect is planned. The relay's work is none of the hand-written consumer's,
/// so it is held back in one run and free in the other.
pub(crate) async fn payment(bench: &mut Bench) -> anyhow::Result<()> {
    let one = hand(bench, Kind::One, Workload::Payment).await?;
    let batch = hand(bench, Kind::Batch, Workload::Payment).await?;
    hand(bench, Kind::BatchSet, Workload::Payment).await?;
    let held = Job { relay: Some(Gate::Held), ..Job::new(Setup::new(Workload::Payment)) };
    let wonce = by_wonce(bench, &held).await?;
    wonce.put(&mut bench.record, "payment.wonce");
    bench.record.ratio("payment.vs_hand_one", wonce.per_second, one.per_second);
    bench.record.ratio("payment.vs_hand_batch", wonce.per_second, batch.per_second);
    let free = Job { relay: Some(Gate::Open), ..held };
    let relaying = by_wonce(bench, &free).await?;
    relaying.put(&mut bench.record, "payment.wonce_relaying");
    bench.record.ratio("payment.relaying_vs_hand_batch", relaying.per_second, batch.per_second);
    Ok(())
}

async fn hand(bench: &mut Bench, kind: Kind, workload: Workload) -> anyhow::Result<Drained> {
    let drained = by_hand(bench, kind, workload).await?;
    let name = format!("{}.{}", workload.name(), kind.name().replace('-', "_"));
    drained.put(&mut bench.record, &name);
    Ok(drained)
}
