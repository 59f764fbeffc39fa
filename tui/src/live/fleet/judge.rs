//! What is wrong, and since when. A trouble keeps its beginning for as long as it lasts; limits are
//! those of the alert rules where there are some, and the named ones below everywhere.

use std::collections::BTreeMap;
use std::time::Duration;

use wonce_api::live::HandlerGauges;

use super::{Fleet, Millis, millis};
use crate::live::{Counts, Link, Severity, Subject, Verdict, Window};

/// Failed runs of all runs of a minute, from which it is worth a look.
const ERRORS_WARNING: f64 = 0.01;
/// And from which the handler is broken.
const ERRORS_BAD: f64 = 0.2;
/// So many runs say something about a share.
const ENOUGH_RUNS: u64 = 20;
/// A delivery that has been due for so long is late.
const LATE: Duration = Duration::from_secs(60);
/// A change so shortly before a trouble may be its cause.
const CAUSE_BEFORE: Duration = Duration::from_secs(120);
/// By so much the clocks of a host and its database may differ for that.
const CAUSE_SLACK_MS: Millis = 2_000;
/// Frames come every second: a line without any for so long is not trusted.
const QUIET: Duration = Duration::from_secs(5);
/// A backlog that changes by less per second stands still.
const STILL: f64 = 0.5;

/// What is wrong with one subject.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trouble {
    pub(super) severity: Severity,
    pub(super) since: Millis,
    pub(super) text: String,
}

/// The worst of each subject.
pub(super) type Troubles = BTreeMap<Subject, Trouble>;

impl Fleet {
    /// Looks at everything again.
    pub(super) fn judge(&mut self) {
        let mut now: Vec<(Subject, Severity, Option<Millis>, String)> = Vec::new();
        self.judge_books(&mut now);
        self.judge_handlers(&mut now);
        self.judge_hosts(&mut now);
        self.judge_ways(&mut now);
        let mut troubles = Troubles::new();
        for (subject, severity, since, text) in now {
            let known = self.troubles.get(&subject).map(|trouble| trouble.since);
            let trouble = Trouble { severity, since: since.or(known).unwrap_or(self.at), text };
            match troubles.get(&subject) {
                Some(worse) if worse.severity >= trouble.severity => {}
                _ => drop(troubles.insert(subject, trouble)),
            }
        }
        self.troubles = troubles;
    }

    fn judge_books(&self, found: &mut Vec<(Subject, Severity, Option<Millis>, String)>) {
        let Some(books) = self.gauges.as_ref().and_then(|(gauges, _)| gauges.books.as_ref()) else { return };
        if !books.holds {
            let names: Vec<&str> =
                books.accounts.iter().filter(|a| !a.holds).map(|a| a.handler.as_str()).collect();
            let text = format!("the books of {} do not hold; ask `wonce verify`", names.join(", "));
            found.push((Subject::Books, Severity::Bad, None, text));
        }
    }

    fn judge_handlers(&self, found: &mut Vec<(Subject, Severity, Option<Millis>, String)>) {
        for alert in self.alerts.values() {
            let since = alert.since.parse().ok().and_then(|since| self.moment_of(since));
            found.push((Subject::Handler(alert.handler.clone()), Severity::Bad, since, alert.text.clone()));
        }
        for (name, series) in &self.handlers {
            let gauges = self.gauges_of(name);
            let minute: Counts =
                series.done.columns(Window::OneMinute, self.at).flatten().map(|done| done.counts).sum();
            let recent = series.done.recent(self.at).counts;
            if let Some((severity, text)) = handler_trouble(gauges, &minute, &recent) {
                found.push((Subject::Handler(name.clone()), severity, None, text));
            }
        }
    }

    fn judge_hosts(&self, found: &mut Vec<(Subject, Severity, Option<Millis>, String)>) {
        for boot in self.boots.values() {
            let Some(seen) = &boot.seen else { continue };
            let subject = || Subject::Host(seen.name.clone());
            if let Some(seconds) = boot.vitals.database_away_seconds.filter(|_| seen.state == "alive") {
                let away = Duration::try_from_secs_f64(seconds).unwrap_or_default();
                let text = format!("has not reached its database for {}", said(away));
                found.push((subject(), Severity::Bad, None, text));
            }
            if seen.state == "silent" {
                let text = "is silent; it may be dead".to_owned();
                found.push((subject(), Severity::Warning, None, text));
            }
        }
        let alive = self.boots.values().filter_map(|boot| boot.seen.as_ref()).filter(|s| s.state == "alive");
        if !self.boots.is_empty() && alive.count() == 0 {
            found.push((Subject::Fleet, Severity::Bad, None, "no host is alive".to_owned()));
        }
    }

    /// Sinks and sources.
    fn judge_ways(&self, found: &mut Vec<(Subject, Severity, Option<Millis>, String)>) {
        for sink in self.gauges.iter().flat_map(|(gauges, _)| &gauges.sinks) {
            let oldest = sink.oldest_planned_ms.map(Duration::from_millis).filter(|age| *age >= LATE);
            let text = match oldest {
                Some(age) => format!("{} effects wait, the oldest for {}", sink.planned.n, said(age)),
                None if sink.unknown.n > 0 => format!("{} effects in doubt wait for people", sink.unknown.n),
                None => continue,
            };
            found.push((Subject::Sink(sink.sink.clone()), Severity::Warning, None, text));
        }
        for (name, line) in &self.sources {
            let answers = line.sum(Window::OneMinute, self.at);
            let failed: u64 =
                answers.0.iter().filter(|(status, _)| status.starts_with('5')).map(|(_, n)| n).sum();
            if failed > 0 {
                let text = format!("{failed} requests of the last minute were not taken (5xx)");
                found.push((Subject::Source(name.clone()), Severity::Warning, None, text));
            }
        }
    }

    pub(super) fn gauges_of(&self, handler: &str) -> Option<&HandlerGauges> {
        self.gauges.as_ref()?.0.handlers.iter().find(|gauges| gauges.handler == handler)
    }

    /// The worst, as a sentence.
    pub(super) fn verdict(&self) -> Verdict {
        let others = self.troubles.len();
        match &self.link {
            Link::Live { .. } if self.quiet() < QUIET => {}
            Link::Live { at, .. } => {
                let text = format!("nothing was heard from {at} for {}", said(self.quiet()));
                return Verdict { severity: Severity::Unknown, text, others, ..Verdict::default() };
            }
            Link::Connecting { to, .. } => {
                let text =
                    if to.is_empty() { "connecting".to_owned() } else { format!("connecting to {to}") };
                return Verdict { severity: Severity::Unknown, text, others, ..Verdict::default() };
            }
            Link::Stale { since, reason, .. } => {
                let text = match &self.hello {
                    Some(_) => format!("what is shown is {} old: {reason}", said(self.now.since(*since))),
                    None => reason.clone(),
                };
                return Verdict { severity: Severity::Unknown, text, others, ..Verdict::default() };
            }
            Link::Refused { reason, .. } => {
                let text = reason.clone();
                return Verdict { severity: Severity::Bad, text, others, ..Verdict::default() };
            }
        }
        let rank = |(subject, trouble): &(&Subject, &Trouble)| (trouble.severity, self.impact(subject));
        let worst = self.troubles.iter().max_by(|a, b| {
            let ((a, a_impact), (b, b_impact)) = (rank(a), rank(b));
            a.cmp(&b).then(a_impact.total_cmp(&b_impact))
        });
        match worst {
            Some((subject, trouble)) => Verdict {
                severity: trouble.severity,
                subject: subject.clone(),
                text: self.sentence(subject, trouble),
                others: others - 1,
            },
            None if self.hello.is_none() => Verdict {
                severity: Severity::Unknown,
                text: "nothing was heard yet".to_owned(),
                ..Verdict::default()
            },
            None => Verdict { text: "all is well".to_owned(), ..Verdict::default() },
        }
    }

    /// For how long no frame has come in.
    fn quiet(&self) -> Duration {
        Duration::from_millis(millis(self.now).saturating_sub(self.at).unsigned_abs())
    }

    /// How much it matters, among equals: what fails and what piles up, per second.
    fn impact(&self, subject: &Subject) -> f64 {
        match subject {
            Subject::Books => f64::INFINITY,
            Subject::Fleet => f64::MAX,
            Subject::Handler(name) => self.handlers.get(name).map_or(0.0, |series| {
                let failed =
                    super::draw::rates(&series.done.recent(self.at).counts, self.rate_seconds()).failed;
                failed + series.slope().unwrap_or(0.0).max(0.0)
            }),
            Subject::Host(_) | Subject::Sink(_) | Subject::Source(_) => 0.0,
        }
    }

    fn sentence(&self, subject: &Subject, trouble: &Trouble) -> String {
        let mut text = match subject {
            Subject::Fleet | Subject::Books => trouble.text.clone(),
            Subject::Handler(name) => format!("{name}: {}", trouble.text),
            Subject::Host(name) => format!("host {name} {}", trouble.text),
            Subject::Sink(name) => format!("sink {name}: {}", trouble.text),
            Subject::Source(name) => format!("source {name}: {}", trouble.text),
        };
        if let Some(since) = self.wall(trouble.since) {
            text.push_str(&format!(" since {}Z", since.strftime("%H:%M:%S")));
        }
        if let Subject::Handler(name) = subject {
            if let Some(cause) = self.cause(name, trouble.since) {
                text.push_str(&format!(", {cause}"));
            }
            if let Some(way) = self.backlog(name) {
                text.push_str(&format!(" · {way}"));
            }
        }
        text
    }

    /// What somebody did with the handler just before.
    fn cause(&self, handler: &str, since: Millis) -> Option<String> {
        let target = format!("handler/{handler}");
        let change = self.changes.iter().filter(|change| change.target == target).find_map(|change| {
            let at = self.moment_of(change.at.parse().ok()?)?;
            let after = since - at;
            let longest = Millis::try_from(CAUSE_BEFORE.as_millis()).unwrap_or(Millis::MAX);
            (-CAUSE_SLACK_MS..=longest).contains(&after).then_some((change, after.max(0)))
        })?;
        let after = said(Duration::from_millis(change.1.unsigned_abs()));
        let version =
            self.gauges_of(handler).filter(|_| change.0.verb == "deploy").map(|g| g.version.as_str());
        let of = version.filter(|v| !v.is_empty()).map_or_else(String::new, |v| format!(" of {v}"));
        Some(format!("{after} after {}{of} by {}", change.0.verb, change.0.actor))
    }

    fn backlog(&self, handler: &str) -> Option<String> {
        let slope = self.handlers.get(handler)?.slope()?;
        let depth = self.gauges_of(handler)?.depth.n;
        way(depth, slope)
    }

    /// The console's moment of a time by the answering host's clock.
    pub(super) fn moment_of(&self, time: jiff::Timestamp) -> Option<Millis> {
        let (then, when) = self.clock?;
        Millis::try_from(time.duration_since(then).as_millis()).ok().map(|ms| when + ms)
    }
}

fn handler_trouble(
    gauges: Option<&HandlerGauges>,
    minute: &Counts,
    recent: &Counts,
) -> Option<(Severity, String)> {
    let is_paused = gauges.is_some_and(|gauges| gauges.state == "paused");
    let late = gauges.and_then(|gauges| gauges.oldest_due_ms).map(Duration::from_millis);
    let late = late.filter(|late| *late >= LATE);
    let share = minute.error_share().filter(|_| minute.runs() >= ENOUGH_RUNS).unwrap_or(0.0);
    let errors = || format!("errors {:.1}%", share * 100.0);
    match late {
        Some(late) if is_paused => {
            Some((Severity::Warning, format!("paused, the oldest due for {}", said(late))))
        }
        Some(late) if recent.runs() == 0 => {
            Some((Severity::Bad, format!("nothing runs, the oldest due for {}", said(late))))
        }
        _ if share >= ERRORS_BAD => Some((Severity::Bad, errors())),
        Some(late) => Some((Severity::Warning, format!("behind, the oldest due for {}", said(late)))),
        None if share >= ERRORS_WARNING => Some((Severity::Warning, errors())),
        None if minute.dead > 0 => {
            Some((Severity::Warning, format!("{} new dead letters in a minute", minute.dead)))
        }
        None => None,
    }
}

/// Whether a backlog grows or drains, in a few words.
#[expect(clippy::cast_precision_loss, reason = "a time for people")]
fn way(depth: u64, slope: f64) -> Option<String> {
    if depth > 0 && slope >= STILL {
        return Some(format!("backlog grows by {slope:.0}/s"));
    }
    if depth == 0 || slope > -STILL {
        return None;
    }
    let left = Duration::try_from_secs_f64(depth as f64 / -slope).ok()?;
    Some(format!("backlog drains, empty in {}", said(left)))
}

/// `850ms`, `4s`, `2m 41s`, `3h 5m`.
fn said(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 if time.subsec_millis() > 0 => format!("{}ms", time.subsec_millis()),
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m {}s", seconds / 60, seconds % 60),
        _ => format!("{}h {}m", seconds / 3_600, seconds / 60 % 60),
    }
}
