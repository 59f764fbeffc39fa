//! What one host knows of all: who is there and what each has counted, the recent past in columns,
//! the last gauges, the alerts that fire, the latest actions. It takes what was heard and says what
//! is new. Pure; knows nothing of where it was heard.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::de::DeserializeOwned;
use wonce_api::action::Action;
use wonce_api::live::gauges::Books;
use wonce_api::live::{
    Alert, AlertState, Gauges, HostSeen, HostState, HostTick, Message, Op, SILENT_AFTER_SECONDS, coalesce,
};
use wonce_core::alert::{AlertRule, words};
use wonce_core::operation::OperationState;

use crate::store::host_boot::SEEN_RECENTLY;
use crate::store::tick::{Heard, HostRow, SampleRow};

/// A column of history covers so long.
const COLUMN_MS: u64 = 5_000;
/// Columns that stay: five minutes.
const COLUMNS: usize = 60;
/// The latest actions that a snapshot shows.
const SHOWN_ACTIONS: usize = 20;
/// Actions whose ids are remembered, because they may be committed out of order.
const REMEMBERED_ACTIONS: usize = 200;
/// How far before the last action is read again.
const ACTIONS_OVERLAP: i64 = 20;

mod recent;

/// See the module.
#[derive(Debug)]
pub(super) struct Fleet {
    own: String,
    boots: BTreeMap<String, Boot>,
    gauges: Option<Gauges>,
    alerts: BTreeMap<String, Alert>,
    actions: VecDeque<Action>,
    action_ids: BTreeSet<i64>,
    /// As they were told last, the oldest first.
    ops: Vec<Op>,
}

#[derive(Debug, Default)]
struct Boot {
    seen: Option<HostSeen>,
    /// Of the last tick.
    seq: u64,
    totals: Option<HostTick>,
    /// Ticks of the column that is not over.
    open: Vec<HostTick>,
    columns: VecDeque<HostTick>,
    /// What it had counted before the first column.
    before: Option<HostTick>,
}

impl Fleet {
    /// Of the host with this boot, which is there from the start.
    pub(super) fn new(own: HostSeen) -> Self {
        let name = own.boot.clone();
        let boot = Boot { seen: Some(own), ..Boot::default() };
        Self {
            boots: BTreeMap::from([(name.clone(), boot)]),
            own: name,
            gauges: None,
            alerts: BTreeMap::new(),
            actions: VecDeque::new(),
            action_ids: BTreeSet::new(),
            ops: Vec::new(),
        }
    }

    /// Actions with a greater id may be new.
    pub(super) fn known_actions(&self) -> i64 {
        self.action_ids.last().map_or(-1, |last| last - ACTIONS_OVERLAP)
    }

    pub(super) fn gauges(&self) -> Option<&Gauges> {
        self.gauges.as_ref()
    }

    /// How many hosts are in which state.
    pub(super) fn states(&self) -> BTreeMap<String, u32> {
        let mut states = BTreeMap::new();
        for seen in self.boots.values().filter_map(|boot| boot.seen.as_ref()) {
            *states.entry(seen.state.clone()).or_default() += 1;
        }
        states
    }

    /// Takes this host's tick and what was heard of the others, and gives the edges and the ticks
    /// of the next frame. Nothing is heard while the database is away; then the others fall silent.
    pub(super) fn take(
        &mut self,
        own: HostTick,
        heard: Option<Heard>,
        elapsed_seconds: f64,
    ) -> (Vec<Message>, Vec<HostTick>) {
        let mut edges = Vec::new();
        let mut fresh: BTreeMap<String, Vec<HostTick>> = BTreeMap::new();
        match heard {
            None => self.hear_nothing(elapsed_seconds, &mut edges),
            Some(heard) => {
                for row in heard.ticks {
                    if let Some(tick) = self.fresh(&row.boot, row.seq, &row.body) {
                        fresh.entry(row.boot).or_default().push(tick);
                    }
                }
                self.see_hosts(heard.hosts, &mut edges);
                self.see_samples(&heard.samples, &mut edges);
                self.see_actions(heard.actions, &mut edges);
                self.see_ops(heard.ops, &mut edges);
            }
        }
        // Of a boot that is gone nobody wants to know any more.
        fresh.retain(|boot, _| self.boots.get(boot).is_some_and(|boot| boot.seen.is_some()));
        fresh.insert(own.boot.clone(), vec![own]);
        let ticks = fresh.into_iter().filter_map(|(boot, ticks)| self.count(boot, ticks)).collect();
        (edges, ticks)
    }

    /// Everything that is known.
    pub(super) fn hosts(&self) -> Vec<HostState> {
        let mut hosts: Vec<HostState> = self
            .boots
            .values()
            .filter_map(|boot| Some(HostState { seen: boot.seen.clone()?, totals: boot.totals.clone() }))
            .collect();
        hosts.sort_by_key(|host| (host.seen.boot != self.own, host.seen.name.clone()));
        hosts
    }

    pub(super) fn history(&self) -> Vec<HostTick> {
        let known = self.boots.values().filter(|boot| boot.seen.is_some());
        let columns = known.flat_map(|boot| {
            let open = coalesce(boot.open.iter().cloned()).ok().flatten();
            boot.columns.iter().cloned().chain(open)
        });
        let mut history: Vec<HostTick> = columns.collect();
        history.sort_by(|a, b| a.at.cmp(&b.at));
        history
    }

    /// Operations that have not ended, the oldest first.
    pub(super) fn ops(&self) -> Vec<Op> {
        let has_ended = |op: &Op| OperationState::parse(&op.state).is_some_and(OperationState::has_ended);
        self.ops.iter().filter(|op| !has_ended(op)).cloned().collect()
    }

    /// What was counted before the history begins.
    pub(super) fn before(&self) -> Vec<HostTick> {
        let known = self.boots.values().filter(|boot| boot.seen.is_some());
        known.filter_map(|boot| boot.before.clone()).collect()
    }

    pub(super) fn alerts(&self) -> Vec<Alert> {
        self.alerts.values().cloned().collect()
    }

    pub(super) fn actions(&self) -> Vec<Action> {
        self.actions.iter().cloned().collect()
    }

    /// A tick of another host that was not read before.
    fn fresh(&mut self, boot: &str, seq: u64, body: &str) -> Option<HostTick> {
        let known = self.boots.entry(boot.to_owned()).or_default();
        if boot == self.own || seq <= known.seq {
            return None;
        }
        known.seq = seq;
        let tick: Option<HostTick> = parse("tick", body);
        tick.filter(|tick| tick.boot == boot)
    }

    /// Adds ticks to what their boot has counted, and puts them together.
    fn count(&mut self, boot: String, ticks: Vec<HostTick>) -> Option<HostTick> {
        let known = self.boots.entry(boot).or_default();
        let ticks = ticks.into_iter();
        ticks.clone().for_each(|tick| known.keep(tick));
        coalesce(ticks).unwrap_or_else(|error| {
            tracing::warn!(error = %error, "a host's ticks cannot be put together and are left out");
            None
        })
    }

    fn hear_nothing(&mut self, elapsed_seconds: f64, edges: &mut Vec<Message>) {
        for (name, boot) in &mut self.boots {
            let Some(seen) = boot.seen.as_mut().filter(|_| *name != self.own) else { continue };
            seen.heard_seconds_ago += elapsed_seconds;
            if seen.state == "alive" && seen.heard_seconds_ago > SILENT_AFTER_SECONDS {
                seen.state = "silent".to_owned();
                edges.push(Message::Host(seen.clone()));
            }
        }
    }

    fn see_hosts(&mut self, rows: Vec<HostRow>, edges: &mut Vec<Message>) {
        let listed: BTreeSet<String> = rows.iter().map(|row| row.boot.clone()).collect();
        for row in rows {
            let boot = self.boots.entry(row.boot.clone()).or_default();
            let now = seen(row, &self.own);
            if boot.seen.as_ref().is_none_or(|before| before.state != now.state) {
                edges.push(Message::Host(now.clone()));
            }
            boot.seen = Some(now);
        }
        let own = self.own.clone();
        self.boots.retain(|name, boot| {
            let stays = listed.contains(name) || *name == own;
            if let Some(seen) = boot.seen.take_if(|_| !stays) {
                edges.push(Message::Host(HostSeen { state: "gone".to_owned(), ..seen }));
            }
            stays
        });
    }

    fn see_samples(&mut self, samples: &BTreeMap<String, SampleRow>, edges: &mut Vec<Message>) {
        let books = samples.get("books").and_then(books);
        if let Some(row) = samples.get("gauges") {
            let is_known = self.gauges.as_ref().is_some_and(|known| {
                known.at == row.at && known.books.as_ref().map(|b| &b.at) == books.as_ref().map(|b| &b.at)
            });
            let gauges: Option<Gauges> = if is_known { None } else { parse("sample of gauges", &row.body) };
            if let Some(mut gauges) = gauges {
                gauges.at.clone_from(&row.at);
                gauges.by.clone_from(&row.boot);
                (gauges.age_ms, gauges.took_ms, gauges.books) = (row.age_ms, row.took_ms, books);
                edges.push(Message::Gauges(gauges.clone()));
                self.gauges = Some(gauges);
            }
        }
        if let Some(row) = samples.get("alerts")
            && let Some(firing) = parse("sample of alerts", &row.body)
        {
            self.see_alerts(firing, &row.at, edges);
        }
    }

    /// The sample lists what fires; what is no longer in it is resolved.
    fn see_alerts(&mut self, firing: Vec<Alert>, at: &str, edges: &mut Vec<Message>) {
        let firing: BTreeMap<String, Alert> =
            firing.into_iter().map(|alert| (alert.id.clone(), alert)).collect();
        let before = std::mem::replace(&mut self.alerts, firing);
        let began = self.alerts.iter().filter(|(id, _)| !before.contains_key(*id));
        edges.extend(began.map(|(_, alert)| Message::Alert(alert.clone())));
        let ended = before.iter().filter(|(id, _)| !self.alerts.contains_key(*id));
        edges.extend(ended.map(|(_, alert)| Message::Alert(resolved(alert, at))));
    }

    /// One frame a second tells of each that moved on, so this is its pace too.
    fn see_ops(&mut self, ops: Vec<Op>, edges: &mut Vec<Message>) {
        let news = ops.iter().filter(|op| !self.ops.contains(op));
        edges.extend(news.map(|op| Message::Op(op.clone())));
        self.ops = ops;
    }

    fn see_actions(&mut self, actions: Vec<Action>, edges: &mut Vec<Message>) {
        for action in actions {
            if self.action_ids.insert(action.id) {
                edges.push(Message::Change(action.clone()));
                self.actions.push_back(action);
            }
        }
        while self.actions.len() > SHOWN_ACTIONS {
            self.actions.pop_front();
        }
        while self.action_ids.len() > REMEMBERED_ACTIONS {
            self.action_ids.pop_first();
        }
    }
}

impl Boot {
    fn keep(&mut self, tick: HostTick) {
        let counters = tick.clone().without_samples();
        // Of a boot that was counting before it was heard nobody knows when it counted that.
        if self.totals.is_none() && tick.seq > 1 {
            self.before = Some(counters.clone());
        }
        self.totals = together(self.totals.take(), counters);
        self.open.push(tick);
        let covered: u64 = self.open.iter().map(|tick| tick.covers_ms).sum();
        if covered >= COLUMN_MS {
            let column = coalesce(self.open.drain(..)).ok().flatten();
            self.columns.extend(column);
            while self.columns.len() > COLUMNS {
                let over = self.columns.pop_front().map(HostTick::without_samples);
                self.before = over.and_then(|over| together(self.before.take(), over));
            }
        }
    }
}

/// Counters of one boot; without samples there is nothing that cannot be read.
fn together(known: Option<HostTick>, later: HostTick) -> Option<HostTick> {
    coalesce(known.into_iter().chain([later])).ok().flatten()
}

fn seen(row: HostRow, own: &str) -> HostSeen {
    let limit = if row.ticks { SILENT_AFTER_SECONDS } else { SEEN_RECENTLY.as_secs_f64() };
    let is_own = row.boot == own;
    let state = match (row.stopped, is_own || row.silence_seconds <= limit) {
        (true, _) => "stopped",
        (false, true) => "alive",
        (false, false) => "silent",
    };
    HostSeen {
        boot: row.boot,
        name: row.name,
        version: row.version,
        state: state.to_owned(),
        started_at: row.started_at,
        heard_seconds_ago: if is_own { 0.0 } else { row.silence_seconds.max(0.0) },
    }
}

fn resolved(alert: &Alert, at: &str) -> Alert {
    let rule = alert.rule.parse::<AlertRule>();
    let text = rule.map_or_else(|_| alert.text.clone(), |rule| words::resolved(&alert.handler, rule));
    Alert { state: AlertState::Resolved, since: at.to_owned(), text, ..alert.clone() }
}

fn books(row: &SampleRow) -> Option<Books> {
    let accounts: Vec<wonce_api::verify::Account> = parse("sample of the books", &row.body)?;
    let holds = accounts.iter().all(|account| account.holds);
    Some(Books { at: row.at.clone(), took_ms: row.took_ms, holds, accounts })
}

/// What another host wrote; a host of another version may write what this one cannot read.
fn parse<T: DeserializeOwned>(what: &str, body: &str) -> Option<T> {
    serde_json::from_str(body)
        .inspect_err(|error| tracing::debug!(what, error = %error, "what another host wrote cannot be read"))
        .ok()
}

#[cfg(test)]
mod tests;
