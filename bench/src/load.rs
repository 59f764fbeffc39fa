//! Puts events into a host through its door: batches for a backlog, single events for rates. It never knows what
//! becomes of them.

use std::net::SocketAddr;

use anyhow::Context;
use futures_util::future::try_join_all;
use serde_json::{Value, json};

use crate::http::{Connection, request};
use crate::workload::{Body, Faults, Workload, body};

const PATH: &str = "/events/bench";
const ONE: &str = "application/cloudevents+json";
const MANY: &str = "application/cloudevents-batch+json";
/// Events a request, and connections, when a backlog is made.
const BATCH: u64 = 500;
const CONNECTIONS: u64 = 2;

/// Sends events `0..events` in batches; all of them are accepted when this returns.
pub(crate) async fn backlog(
    door: SocketAddr,
    workload: Workload,
    prefix: &str,
    events: u64,
    faults: Faults,
) -> anyhow::Result<()> {
    let senders = (0..CONNECTIONS).map(|sender| async move {
        let mut connection = Connection::open(door).await?;
        let mut from = sender * BATCH;
        while from < events {
            let batch: Vec<Value> = (from..events.min(from + BATCH))
                .map(|n| event(workload, &body(prefix, n, faults)))
                .collect();
            let answer = connection.post(PATH, MANY, &serde_json::to_vec(&batch)?).await?;
            accepted_all(answer.status, &answer.body, batch.len())?;
            from += CONNECTIONS * BATCH;
        }
        anyhow::Ok(())
    });
    try_join_all(senders).await.map(|_: Vec<()>| ())
}

/// A request with one event.
pub(crate) fn single(workload: Workload, prefix: &str, n: u64) -> anyhow::Result<Vec<u8>> {
    let text = serde_json::to_vec(&event(workload, &body(prefix, n, Faults::None)))?;
    Ok(request(PATH, ONE, &text))
}

fn event(workload: Workload, body: &Body) -> Value {
    let event_type = format!("bench.{}", workload.name());
    json!({ "specversion": "1.0", "id": body.key, "source": "/bench", "type": event_type, "data": body })
}

fn accepted_all(status: u16, said: &[u8], sent: usize) -> anyhow::Result<()> {
    let text = String::from_utf8_lossy(said);
    let accepted = text.matches("\"accepted\"").count();
    if status == 202 && accepted == sent {
        return Ok(());
    }
    let beginning: String = text.chars().take(300).collect();
    Err(anyhow::anyhow!("answered with {status}: {beginning}"))
        .with_context(|| format!("{accepted} of {sent} events were accepted"))
}
