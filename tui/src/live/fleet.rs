//! The model: it takes what the stream said and gives what is drawn. Counters go in as differences
//! to what the same boot had counted before, gauges as they are. What was drawn stays when the
//! stream breaks off; a snapshot fills the gap.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::Timestamp;
use wonce_api::action::Action;
use wonce_api::live::{Alert, AlertState, Gauges, Hello, HostSeen, HostTick, Message, Op, Snapshot};

use super::timeline::{Heard, Millis, Named, Piece, Span, Timeline};
use super::{Distribution, Link, Moment, Window};
use boot::{Boot, News};
use series::Series;

mod boot;
mod draw;
mod judge;
mod series;
#[cfg(test)]
mod tests;

/// Handlers, sinks or sources that are followed; more are counted as skipped.
pub const MAX_NAMES: usize = 1_000;
/// What people did, as far as it is remembered.
const MAX_CHANGES: usize = 200;
/// Bulk operations that are remembered.
const MAX_OPS: usize = 50;
/// Buckets of all histograms together, eight bytes each. Above it the longest windows forget the
/// oldest of theirs.
pub const MAX_BUCKETS: usize = 4_000_000;
/// Frames between two looks at the memory.
const FRAMES_PER_TIDY: u64 = 15;

/// See the module.
#[derive(Debug, Default)]
pub struct Fleet {
    link: Link,
    now: Moment,
    /// When the last frame came in: what is drawn is of this moment.
    at: Millis,
    hello: Option<Hello>,
    /// What the answering host's clock said, and when.
    clock: Option<(Timestamp, Millis)>,
    boots: BTreeMap<String, Boot>,
    handlers: BTreeMap<String, Series>,
    sinks: BTreeMap<String, Timeline<Named>>,
    sources: BTreeMap<String, Timeline<Named>>,
    heard: Timeline<Heard>,
    gauges: Option<(Gauges, Millis)>,
    alerts: BTreeMap<String, Alert>,
    changes: VecDeque<Action>,
    ops: VecDeque<Op>,
    troubles: judge::Troubles,
    frames: u64,
    skipped: u64,
    /// Of boots that are gone.
    samples_lost: u64,
}

impl Fleet {
    /// Takes one message of the stream.
    pub fn apply(&mut self, moment: Moment, message: Message) {
        self.tick(moment);
        self.at = self.at.max(millis(moment));
        match message {
            Message::Hello(hello) => self.hello(hello),
            Message::Snapshot(snapshot) => self.snapshot(*snapshot),
            Message::Tick(tick) => self.frame(&tick.hosts),
            Message::Gauges(gauges) => self.see_gauges(gauges),
            Message::Host(seen) => self.see_host(seen),
            Message::Alert(alert) => self.see_alert(alert),
            Message::Change(action) => self.see_change(action),
            Message::Op(op) => self.see_op(op),
            // Log lines and goodbyes are not of the model.
            Message::Log(_) | Message::Bye(_) => {}
        }
    }

    /// Takes what became of the link.
    pub fn link(&mut self, moment: Moment, link: Link) {
        self.tick(moment);
        self.link = link;
    }

    /// An event that this version does not know, or a document that it cannot read, was left out.
    pub fn skip(&mut self, moment: Moment) {
        self.tick(moment);
        self.skipped += 1;
    }

    /// Time has passed: ages grow. About once a second.
    pub fn tick(&mut self, moment: Moment) {
        self.now = self.now.max(moment);
    }

    fn hello(&mut self, hello: Hello) {
        let is_other = self.hello.as_ref().is_some_and(|known| known.database != hello.database);
        if is_other {
            let (link, now, at) = (self.link.clone(), self.now, self.at);
            *self = Self { link, now, at, ..Self::default() };
        }
        self.clock = hello.now.parse().ok().map(|now| (now, self.at));
        self.hello = Some(hello);
    }

    /// Everything is said anew. Columns that were drawn stay; what was missed goes between.
    fn snapshot(&mut self, snapshot: Snapshot) {
        self.clock = snapshot.now.parse().ok().map(|now| (now, self.at)).or(self.clock);
        let listed: BTreeSet<&str> = snapshot.hosts.iter().map(|host| host.seen.boot.as_str()).collect();
        let gone: Vec<String> =
            self.boots.keys().filter(|boot| !listed.contains(boot.as_str())).cloned().collect();
        gone.iter().for_each(|boot| self.forget(boot));
        for host in &snapshot.hosts {
            self.boots.entry(host.seen.boot.clone()).or_default().see(host.seen.clone(), self.at);
            let ages = Ages::of(&snapshot.now, host.seen.heard_seconds_ago, host.totals.as_ref(), self.at);
            let before = snapshot.before.iter().find(|tick| tick.boot == host.seen.boot);
            let history = snapshot.history.iter().filter(|tick| tick.boot == host.seen.boot);
            // Of a boot without a past nobody knows when it counted what it did.
            let before = before.or(host.totals.as_ref().filter(|_| history.clone().next().is_none()));
            self.catch_up(&host.seen.boot, before, history, &ages);
            if let Some(totals) = &host.totals {
                let end = ages.end(totals);
                let known = self.boots.get(&host.seen.boot).and_then(|boot| boot.until).unwrap_or(end);
                self.take(totals, Span { from: known.min(end - 1), to: end });
            }
        }
        self.alerts = snapshot.alerts.into_iter().map(|alert| (alert.id.clone(), alert)).collect();
        self.changes.clear();
        snapshot.changes.into_iter().for_each(|action| self.see_change(action));
        self.ops.clear();
        snapshot.ops.into_iter().for_each(|op| self.see_op(op));
        match snapshot.gauges {
            Some(gauges) => self.see_gauges(gauges),
            None => self.gauges = None,
        }
        self.judge();
    }

    /// What one boot counted until now, as far as it is not known yet.
    fn catch_up<'a>(
        &mut self,
        name: &str,
        before: Option<&HostTick>,
        history: impl Iterator<Item = &'a HostTick>,
        ages: &Ages,
    ) {
        let Some(boot) = self.boots.get_mut(name) else { return };
        match before {
            // A gap that is longer than the history.
            Some(tick) if boot.is_known() && !boot.has(tick) => {
                let to = ages.end(tick);
                let from = boot.until.unwrap_or(to).min(to - 1);
                self.take(tick, Span { from, to });
            }
            before if !boot.is_known() => boot.begin(before),
            Some(_) | None => {}
        }
        for tick in history {
            let span = Span::before(ages.end(tick), tick.covers_ms);
            self.heard.add(span, &Heard);
            self.take(tick, span);
        }
    }

    fn frame(&mut self, hosts: &[HostTick]) {
        for tick in hosts {
            let span = Span::before(self.at, tick.covers_ms);
            self.heard.add(span, &Heard);
            self.take(tick, span);
            if let Some(boot) = self.boots.get_mut(&tick.boot) {
                boot.see_cpu(self.at);
                if let Some(seen) = boot.seen.as_mut() {
                    seen.heard_seconds_ago = 0.0;
                }
                boot.seen_at = self.at;
            }
        }
        self.frames += 1;
        if self.frames.is_multiple_of(FRAMES_PER_TIDY) {
            self.tidy();
        }
        self.judge();
    }

    fn take(&mut self, tick: &HostTick, span: Span) {
        let boot = self.boots.entry(tick.boot.clone()).or_default();
        let Some(News { handlers, sinks, sources, unread }) = boot.take(tick, span) else { return };
        self.skipped += unread;
        for (name, done) in handlers {
            match place(&mut self.handlers, name) {
                Some(series) => series.done.add(span, &done),
                None => self.skipped += 1,
            }
        }
        add_named(&mut self.sinks, sinks, span, &mut self.skipped);
        add_named(&mut self.sources, sources, span, &mut self.skipped);
    }

    fn see_gauges(&mut self, gauges: Gauges) {
        let age = Millis::try_from(gauges.age_ms).unwrap_or(Millis::MAX);
        let at = self.at.saturating_sub(age);
        let is_new = self.gauges.as_ref().is_none_or(|(known, _)| known.at != gauges.at);
        for handler in &gauges.handlers {
            match place(&mut self.handlers, handler.handler.clone()) {
                Some(series) if is_new => series.see_depth(at, handler.depth.n),
                Some(_) => {}
                None => self.skipped += 1,
            }
        }
        self.gauges = Some((gauges, at));
    }

    fn see_host(&mut self, seen: HostSeen) {
        if seen.state == "gone" {
            self.forget(&seen.boot);
        } else {
            let at = self.at;
            self.boots.entry(seen.boot.clone()).or_default().see(seen, at);
        }
    }

    fn forget(&mut self, boot: &str) {
        if let Some(boot) = self.boots.remove(boot) {
            self.samples_lost += boot.samples_lost;
        }
    }

    fn see_alert(&mut self, alert: Alert) {
        match alert.state {
            AlertState::Firing => drop(self.alerts.insert(alert.id.clone(), alert)),
            AlertState::Resolved => drop(self.alerts.remove(&alert.id)),
        }
    }

    fn see_change(&mut self, action: Action) {
        if self.changes.iter().any(|known| known.id == action.id) {
            return;
        }
        self.changes.push_front(action);
        self.changes.truncate(MAX_CHANGES);
    }

    fn see_op(&mut self, op: Op) {
        match self.ops.iter_mut().find(|known| known.id == op.id) {
            Some(known) => *known = op,
            None => self.ops.push_front(op),
        }
        self.ops.truncate(MAX_OPS);
    }

    /// Forgets what no window reaches, and keeps the histograms within their limit.
    fn tidy(&mut self) {
        let now = self.at;
        self.handlers.values_mut().for_each(|series| series.pass(now));
        self.sinks.values_mut().chain(self.sources.values_mut()).for_each(|line| line.pass(now));
        self.boots.values_mut().for_each(|boot| boot.pass(now));
        self.heard.pass(now);
        self.shrink(MAX_BUCKETS);
    }

    fn shrink(&mut self, limit: usize) {
        for window in Window::ALL.into_iter().rev() {
            let size: usize =
                self.handlers.values().flat_map(|series| series.done.all()).map(series::Done::size).sum();
            if size <= limit {
                return;
            }
            for series in self.handlers.values_mut() {
                let columns: Vec<_> = series.done.columns_mut(window).collect();
                let half = columns.len() / 2;
                columns.into_iter().take(half).for_each(|column| column.times.clear());
            }
        }
    }

    /// What the answering host's clock shows at a moment.
    fn wall(&self, at: Millis) -> Option<Timestamp> {
        let (then, when) = self.clock?;
        then.checked_add(jiff::SignedDuration::from_millis(at - when)).ok()
    }
}

impl Boot {
    fn see(&mut self, seen: HostSeen, at: Millis) {
        self.seen = Some(seen);
        self.seen_at = at;
    }
}

/// When ticks of one host ended, by the console's clock: its own clock is compared with itself only.
struct Ages {
    /// Its clock when it was heard last; the answering host's when it never was.
    clock: Option<Timestamp>,
    heard_at: Millis,
}

impl Ages {
    fn of(now: &str, heard_seconds_ago: f64, totals: Option<&HostTick>, at: Millis) -> Self {
        let ago = std::time::Duration::try_from_secs_f64(heard_seconds_ago).unwrap_or_default();
        let ago = Millis::try_from(ago.as_millis()).unwrap_or(0);
        match totals {
            Some(totals) => Self { clock: totals.at.parse().ok(), heard_at: at - ago },
            None => Self { clock: now.parse().ok(), heard_at: at },
        }
    }

    fn end(&self, tick: &HostTick) -> Millis {
        let age =
            self.clock.zip(tick.at.parse::<Timestamp>().ok()).map(|(now, then)| now.duration_since(then));
        let age = age.map_or(0, |age| Millis::try_from(age.as_millis()).unwrap_or(0));
        self.heard_at - age.max(0)
    }
}

/// The series of a name, unless there are too many.
fn place<T: Default>(all: &mut BTreeMap<String, T>, name: String) -> Option<&mut T> {
    if all.len() >= MAX_NAMES && !all.contains_key(&name) {
        return None;
    }
    Some(all.entry(name).or_default())
}

fn add_named(
    all: &mut BTreeMap<String, Timeline<Named>>,
    news: Vec<(String, Named)>,
    span: Span,
    skipped: &mut u64,
) {
    for (name, more) in news {
        match place(all, name) {
            Some(line) if more.total() > 0 => line.add(span, &more),
            Some(_) => {}
            None => *skipped += 1,
        }
    }
}

pub(super) fn millis(moment: Moment) -> Millis {
    Millis::try_from(moment.millis()).unwrap_or(Millis::MAX)
}
