//! A reader of a host's live stream, over HTTP as any console is: frames in, messages out, and what
//! they add up to. Knows nothing of what they should say.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use hdrhistogram::Histogram;
use reqwest::Response;
use wonce_api::live::histogram::empty;
use wonce_api::live::{
    Alert, AlertState, Cursor, Gauges, HostSeen, HostTick, LOGS_PATH, LogLine, Message, Op, PATH, Stage,
};

use crate::wait::bounded;

/// One stream and everything that came over it.
#[derive(Debug)]
pub struct Stream {
    response: Response,
    /// What came and is no whole frame yet.
    rest: String,
    /// Of the last frame that had one.
    pub cursor: Option<Cursor>,
    pub first: Vec<String>,
    /// By boot: each handler's last counters, and the state of the host.
    pub done: BTreeMap<String, BTreeMap<String, u64>>,
    pub hosts: BTreeMap<String, HostSeen>,
    pub gauges: Option<Gauges>,
    pub changes: Vec<String>,
    /// Those that fire, by id.
    pub alerts: BTreeMap<String, Alert>,
    /// Operations as they were told, in order.
    pub ops: Vec<Op>,
    /// Log lines in order.
    pub logs: Vec<LogLine>,
    /// Those alerts that were told as an edge, in order: id and state.
    pub alert_edges: Vec<(String, AlertState)>,
    /// By stage, over all hosts and handlers, since the beginning of this stream's history.
    pub samples: BTreeMap<Stage, Histogram<u64>>,
}

impl Stream {
    /// Opens one, behind a frame that was seen before or anew.
    pub async fn open(admin: SocketAddr, resume: Option<&Cursor>) -> Self {
        Self::of(format!("http://{admin}{PATH}"), resume).await
    }

    /// Opens the stream of log lines, of those that the query wants.
    pub async fn open_logs(admin: SocketAddr, query: &str) -> Self {
        Self::of(format!("http://{admin}{LOGS_PATH}?{query}"), None).await
    }

    async fn of(address: String, resume: Option<&Cursor>) -> Self {
        let client = wonce_host::sink::http::client().expect("a client");
        let mut request = client.get(address);
        if let Some(cursor) = resume {
            request = request.header("last-event-id", cursor.to_string());
        }
        let response = request.send().await.expect("an answer");
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            response,
            rest: String::new(),
            cursor: None,
            first: Vec::new(),
            done: BTreeMap::new(),
            hosts: BTreeMap::new(),
            gauges: None,
            changes: Vec::new(),
            alerts: BTreeMap::new(),
            alert_edges: Vec::new(),
            ops: Vec::new(),
            logs: Vec::new(),
            samples: BTreeMap::new(),
        }
    }

    /// Reads on until what was read satisfies `holds`.
    pub async fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let reading = async {
            while !holds(self) {
                let message = self.next().await;
                self.take(message);
            }
        };
        bounded(what, reading).await;
    }

    /// The state that a host is in.
    #[must_use]
    pub fn state(&self, boot: &str) -> &str {
        self.hosts.get(boot).map_or("unknown", |seen| seen.state.as_str())
    }

    /// Deliveries of a handler that all hosts say they have done.
    #[must_use]
    pub fn done(&self, handler: &str) -> u64 {
        self.done.values().filter_map(|handlers| handlers.get(handler)).sum()
    }

    /// How many samples of a stage have come.
    #[must_use]
    pub fn samples(&self, stage: Stage) -> u64 {
        self.samples.get(&stage).map_or(0, Histogram::len)
    }

    async fn next(&mut self) -> Message {
        loop {
            if let Some((frame, rest)) = self.rest.split_once("\n\n") {
                let (frame, rest) = (frame.to_owned(), rest.to_owned());
                self.rest = rest;
                if let Some(message) = self.read(&frame) {
                    return message;
                }
                continue;
            }
            let bytes = self.response.chunk().await.expect("the line holds").expect("the stream goes on");
            self.rest.push_str(std::str::from_utf8(&bytes).expect("UTF-8"));
        }
    }

    /// None for a comment.
    fn read(&mut self, frame: &str) -> Option<Message> {
        let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name));
        let event = field("event: ")?;
        if let Some(id) = field("id: ") {
            self.cursor = Some(id.parse().expect("a cursor"));
        }
        if self.first.len() < 2 {
            self.first.push(event.to_owned());
        }
        let message = Message::parse(event, field("data: ").expect("data")).expect("its document");
        Some(message.expect("an event of this protocol"))
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Snapshot(snapshot) => {
                self.done.clear();
                self.samples.clear();
                self.hosts.clear();
                for host in snapshot.hosts {
                    host.totals.iter().for_each(|totals| self.count(totals));
                    self.hosts.insert(host.seen.boot.clone(), host.seen);
                }
                snapshot.history.iter().for_each(|tick| self.sample(tick));
                self.gauges = snapshot.gauges;
                self.ops.extend(snapshot.ops);
                self.alerts = snapshot.alerts.into_iter().map(|alert| (alert.id.clone(), alert)).collect();
                self.changes.extend(snapshot.changes.into_iter().map(|change| change.verb));
            }
            Message::Tick(tick) => {
                for host in &tick.hosts {
                    self.count(host);
                    self.sample(host);
                }
            }
            Message::Gauges(gauges) => self.gauges = Some(gauges),
            Message::Host(seen) => {
                self.hosts.insert(seen.boot.clone(), seen);
            }
            Message::Change(change) => self.changes.push(change.verb),
            Message::Alert(alert) => {
                self.alert_edges.push((alert.id.clone(), alert.state));
                match alert.state {
                    AlertState::Firing => drop(self.alerts.insert(alert.id.clone(), alert)),
                    AlertState::Resolved => drop(self.alerts.remove(&alert.id)),
                }
            }
            Message::Op(op) => self.ops.push(op),
            Message::Log(batch) => self.logs.extend(batch.lines),
            Message::Hello(_) | Message::Bye(_) => {}
        }
    }

    fn count(&mut self, tick: &HostTick) {
        let known = self.done.entry(tick.boot.clone()).or_default();
        for handler in &tick.handlers {
            known.insert(handler.handler.clone(), handler.counters.done);
        }
    }

    fn sample(&mut self, tick: &HostTick) {
        for handler in &tick.handlers {
            for stage in Stage::ALL {
                if let Some(timing) = handler.timing(stage) {
                    let sum = self.samples.entry(stage).or_insert_with(empty);
                    timing.samples.add_to(sum).expect("a histogram");
                }
            }
        }
    }
}
