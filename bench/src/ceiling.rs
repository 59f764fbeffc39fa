//! What Postgres itself can do: pgbench with the statements of the others, without any program of ours in
//! between. It never knows what the others reached.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;

use anyhow::Context;
use tokio::process::Command;

use crate::database::Database;
use crate::workload::ORDERS;

/// Connections of pgbench, and its threads on the same cores as everyone.
const CLIENTS: u64 = 8;
const THREADS: u64 = 2;
/// Events a transaction of the batch ceiling.
const BATCH: u64 = 50;

/// How the statements travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ceiling {
    /// One event a transaction, a round trip a statement.
    One,
    /// One event a transaction, all statements in one trip.
    OnePipelined,
    /// Fifty events a transaction, all statements in one trip.
    BatchPipelined,
}

impl Ceiling {
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::One => "ceiling.one",
            Self::OnePipelined => "ceiling.one_pipelined",
            Self::BatchPipelined => "ceiling.batch_pipelined",
        }
    }

    fn events_per_transaction(self) -> u64 {
        match self {
            Self::One | Self::OnePipelined => 1,
            Self::BatchPipelined => BATCH,
        }
    }

    /// The script of one transaction. Claim, dedup row and completion are one statement; each client updates
    /// orders of its own range in ascending order, so that no two of them wait for each other.
    fn script(self) -> String {
        let events = self.events_per_transaction();
        let range = ORDERS / CLIENTS;
        let step = range / events;
        let mut script = String::new();
        for n in 0..events {
            // Ascending random orders: one from each slice of the client's range.
            let (from, to) = (n * step + 1, (n + 1) * step);
            let _ = writeln!(script, "\\set id{n} :client_id * {range} + random({from}, {to})");
        }
        let pipelined = match self {
            Self::One => false,
            Self::OnePipelined | Self::BatchPipelined => true,
        };
        script.push_str(if pipelined { "\\startpipeline\n" } else { "" });
        script.push_str("BEGIN;\n");
        let _ = writeln!(script, "{}", claim_and_dedup(events));
        for n in 0..events {
            let _ = writeln!(
                script,
                "UPDATE bench.orders SET status = 'seen', hits = hits + 1 WHERE id = :id{n};"
            );
        }
        script.push_str("COMMIT;\n");
        script.push_str(if pipelined { "\\endpipeline\n" } else { "" });
        script
    }
}

fn claim_and_dedup(events: u64) -> String {
    format!(
        "WITH claimed AS (DELETE FROM hand.queue WHERE id = ANY (ARRAY(SELECT id FROM hand.queue ORDER BY id LIMIT {events} FOR \
         UPDATE SKIP LOCKED)) RETURNING event_id, body, accepted_at) INSERT INTO hand.processed (event_id, accepted_at) \
         SELECT event_id, accepted_at FROM claimed ORDER BY event_id ON CONFLICT DO NOTHING;"
    )
}

/// Drains `events` (rounded down to whole transactions of every client) that lie in the queue; events a second.
///
/// # Errors
/// When pgbench fails, or the dedup rows are not as many as it should have written.
pub(crate) async fn run(
    ceiling: Ceiling,
    pgbench: &Path,
    database: &Database,
    events: u64,
) -> anyhow::Result<f64> {
    let transactions = events / (CLIENTS * ceiling.events_per_transaction());
    anyhow::ensure!(transactions > 0, "{events} events are too few for a ceiling");
    let mut script = tempfile::Builder::new().suffix(".sql").tempfile().context("write pgbench's script")?;
    std::io::Write::write_all(&mut script, ceiling.script().as_bytes()).context("write pgbench's script")?;
    let mut command = Command::new(pgbench);
    command.args(["-n", "-M", "prepared", "-f"]).arg(script.path());
    command.args(["-c", &CLIENTS.to_string(), "-j", &THREADS.to_string(), "-t", &transactions.to_string()]);
    command.arg(database.url()).stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.with_context(|| format!("run \"{}\"", pgbench.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "pgbench ended with {}: {complaint}", output.status);
    let tps = parse_tps(&said).with_context(|| format!("pgbench said no tps: {said}{complaint}"))?;
    let dedup = database.number("SELECT count(*) FROM hand.processed").await?;
    let expected = i64::try_from(transactions * CLIENTS * ceiling.events_per_transaction())?;
    anyhow::ensure!(dedup == expected, "pgbench wrote {dedup} dedup rows instead of {expected}");
    let events = u32::try_from(ceiling.events_per_transaction())?;
    Ok(tps * f64::from(events))
}

/// Transactions a second without the time that connecting took.
fn parse_tps(said: &str) -> Option<f64> {
    let line = said.lines().find_map(|line| line.strip_prefix("tps = "))?;
    line.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_read_from_what_pgbench_prints() {
        let said = "latency average = 0.9 ms\ninitial connection time = 9.000 ms\ntps = 8199.5 (without initial connection time)\n";
        assert_eq!(parse_tps(said), Some(8199.5));
        assert_eq!(parse_tps("pgbench: error"), None);
    }

    #[test]
    fn a_batch_updates_fifty_orders_of_the_clients_own_range_in_ascending_order() {
        let script = Ceiling::BatchPipelined.script();
        assert_eq!(script.matches("UPDATE bench.orders").count(), 50);
        assert!(script.starts_with("\\set id0 :client_id * 12500 + random(1, 250)\n"), "{script}");
        assert!(script.contains("\\set id49 :client_id * 12500 + random(12251, 12500)\n"), "{script}");
        assert!(script.ends_with("COMMIT;\n\\endpipeline\n"), "{script}");
    }

    #[test]
    fn only_the_pipelined_ones_are_pipelined() {
        assert!(!Ceiling::One.script().contains("pipeline"));
        assert!(Ceiling::OnePipelined.script().contains("\\startpipeline\nBEGIN;"));
    }
}
