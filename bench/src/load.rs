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
            let batch: Vec<Value> =
                (from..events.min(from + BATCH)).map(|n| event(workload, &body(prefix, n, faults))).collect();
            let answer = connection.post(PATH, MANY, &serde_json::to_vec(&batch)?).await?;
            accepted_all(answer.status, &answer.body, batch.len())?;
            from += CONNECTIONS * BATCH;
        }
        anyhow::Ok(())
    });
    try_join_all(senders).await.map(|_: Vec<()>| ())
}

/// Sends events of one and the same group.
pub(crate) async fn hot(
    door: SocketAddr,
    workload: Workload,
    prefix: &str,
    events: u64,
) -> anyhow::Result<()> {
    let mut connection = Connection::open(door).await?;
    let mut from = 0;
    while from < events {
        let hot = |n| Body { group: "hot".to_owned(), ..body(prefix, n, Faults::None) };
        let batch: Vec<Value> = (from..events.min(from + BATCH)).map(|n| event(workload, &hot(n))).collect();
        let answer = connection.post(PATH, MANY, &serde_json::to_vec(&batch)?).await?;
        accepted_all(answer.status, &answer.body, batch.len())?;
        from += BATCH;
    }
    Ok(())
}

/// A whole request with one event.
pub(crate) fn single(workload: Workload, prefix: &str, n: u64) -> anyhow::Result<Vec<u8>> {
    Ok(request(PATH, ONE, &serde_json::to_vec(&event(workload, &body(prefix, n, Faults::None)))?))
}

/// A whole request with one event, in which only the event's number changes: building each anew would take the
/// processor from the host.
#[derive(Debug)]
pub(crate) struct Template {
    request: Vec<u8>,
    /// Where the number is.
    places: Vec<usize>,
}

impl Template {
    pub(crate) fn new(workload: Workload, prefix: &str) -> anyhow::Result<Self> {
        let request = single(workload, prefix, 0)?;
        let key = body(prefix, 0, Faults::None).key.into_bytes();
        let digits = prefix.len() + 1;
        let found = request.windows(key.len()).enumerate().filter(|(_, window)| *window == key.as_slice());
        let places: Vec<usize> = found.map(|(place, _)| place + digits).collect();
        anyhow::ensure!(places.len() == 2, "an event carries its key twice, not {} times", places.len());
        Ok(Self { request, places })
    }

    /// The request for the `n`-th event. They all name the same order, so it is for a
    /// paused handler only.
    pub(crate) fn request(&mut self, n: u64) -> &[u8] {
        let digits = format!("{n:07}");
        for place in &self.places {
            self.request[*place..place + digits.len()].copy_from_slice(digits.as_bytes());
        }
        &self.request
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_changes_the_number_and_nothing_else() {
        let mut template = Template::new(Workload::Blind, "e").unwrap();
        let first = template.request(0).to_vec();
        let other = String::from_utf8(template.request(1_234_567).to_vec()).unwrap();
        assert_eq!(other.matches("e-1234567").count(), 2);
        assert_eq!(other.replace("e-1234567", "e-0000000").into_bytes(), first);
    }
}
