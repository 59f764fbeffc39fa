//! The model as the values that are drawn. Sums come first, percentiles and shares last.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use wonce_api::live::gauges::Books;
use wonce_api::live::{Count, Method, SinkGauges, Stage};

use super::boot::Boot;
use super::judge::Trouble;
use super::series::{Done, Series, counts};
use super::{Fleet, Millis, millis};
use crate::live::timeline::{Named, Timeline, elapsed_seconds};
use crate::live::{
    BooksLine, ClassRow, Counts, Distribution, HandlerDetail, HandlerRow, HandlerState, Health, HeatColumn,
    HostRow, HostShare, HostState, Moment, Overview, Quantiles, Rates, Severity, SinkRow, SourceRow,
    StageRow, Subject, Totals, Window,
};

type Points = Vec<Option<f64>>;

impl Fleet {
    /// The fleet through a window.
    #[must_use]
    pub fn overview(&self, window: Window) -> Overview {
        let handlers = self.rows(window);
        let gauges = self.gauges.as_ref();
        Overview {
            window,
            known: self.known(window),
            link: self.link.clone(),
            age: self.age(self.at),
            now: self.wall(millis(self.now)).map_or_else(String::new, |now| now.to_string()),
            hello: self.hello.clone(),
            verdict: self.verdict(),
            totals: self.totals(window, &handlers),
            books: gauges.and_then(|(gauges, _)| gauges.books.as_ref()).map(|books| self.books(books)),
            gauges_age: gauges.map(|(_, at)| self.age(*at)),
            handlers,
            hosts: self.hosts(window),
            sinks: self.sinks(window),
            sources: self.sources(window),
            alerts: {
                let mut alerts: Vec<_> = self.alerts.values().cloned().collect();
                alerts.sort_by(|a, b| a.since.cmp(&b.since));
                alerts
            },
            changes: self.changes.iter().cloned().collect(),
            ops: self.ops.iter().cloned().collect(),
            parked: gauges.map(|(gauges, _)| gauges.parked),
            submitted: gauges.map(|(gauges, _)| gauges.submitted),
        }
    }

    /// One handler through a window; none when nobody has ever said its name.
    #[must_use]
    pub fn handler(&self, name: &str, window: Window) -> Option<HandlerDetail> {
        let series = self.handlers.get(name)?;
        let all = series.done.sum(window, self.at);
        let target = format!("handler/{name}");
        Some(HandlerDetail {
            window,
            known: self.known(window),
            row: self.row(name, series, window),
            stages: all.times.keys().map(|stage| self.stage(series, *stage, &all, window)).collect(),
            faults: self.classes(series, window, |done| &done.faults),
            dead: self.classes(series, window, |done| &done.dead),
            hosts: self.shares(name),
            since_boot: self.boots.values().filter_map(|boot| boot.handlers.get(name)).map(counts).sum(),
            alerts: self.alerts.values().filter(|alert| alert.handler == name).cloned().collect(),
            changes: self.changes.iter().filter(|change| change.target == target).cloned().collect(),
        })
    }

    /// The hosts alone, as in [`Overview::hosts`].
    #[must_use]
    pub fn hosts(&self, window: Window) -> Vec<HostRow> {
        let mut rows: Vec<HostRow> =
            self.boots.iter().filter_map(|(name, boot)| self.host(name, boot, window)).collect();
        rows.sort_by(|a, b| (!a.is_answering, &a.name, &a.boot).cmp(&(!b.is_answering, &b.name, &b.boot)));
        rows
    }

    fn rows(&self, window: Window) -> Vec<HandlerRow> {
        let rows = self.handlers.iter().map(|(name, series)| self.row(name, series, window));
        let mut rows: Vec<HandlerRow> = rows.collect();
        let impact = |row: &HandlerRow| row.rates.failed + row.slope.unwrap_or(0.0).max(0.0);
        rows.sort_by(|a, b| {
            let worse = b.health.cmp(&a.health).then(impact(b).total_cmp(&impact(a)));
            worse.then(b.rates.done.total_cmp(&a.rates.done)).then(a.name.cmp(&b.name))
        });
        rows
    }

    fn row(&self, name: &str, series: &Series, window: Window) -> HandlerRow {
        let gauges = self.gauges_of(name);
        let sum = series.done.sum(window, self.at);
        let quantiles =
            |stage| sum.times.get(&stage).map_or_else(Quantiles::default, Distribution::quantiles);
        let state = match gauges.map(|gauges| gauges.state.as_str()) {
            Some("active") => HandlerState::Active,
            Some("paused") => HandlerState::Paused,
            Some(_) | None => HandlerState::Unknown,
        };
        let (health, why) = self.health(&Subject::Handler(name.to_owned()));
        let health = match (health, state) {
            (Health::Fine, HandlerState::Paused) => Health::Paused,
            (health, _) => health,
        };
        let text = |of: fn(&wonce_api::live::HandlerGauges) -> &String| {
            gauges.map_or_else(String::new, |gauges| of(gauges).clone())
        };
        HandlerRow {
            name: name.to_owned(),
            health,
            why,
            state,
            version: text(|gauges| &gauges.version),
            digest: text(|gauges| &gauges.digest),
            ordering: text(|gauges| &gauges.ordering),
            rates: rates(&series.done.recent(self.at).counts, self.rate_seconds()),
            counts: sum.counts,
            depth: gauges.map(|gauges| gauges.depth),
            due: gauges.map(|gauges| gauges.due),
            scheduled_retries: gauges.map(|gauges| gauges.scheduled_retries),
            slope: series.slope(),
            oldest_due: gauges.and_then(|gauges| gauges.oldest_due_ms).map(Duration::from_millis),
            dead_letters: gauges.map(|gauges| gauges.dead),
            oldest_dead: gauges.and_then(|gauges| gauges.oldest_dead_ms).map(Duration::from_millis),
            wait: quantiles(Stage::Wait),
            run: quantiles(Stage::Guest),
            end_to_end: quantiles(Stage::EndToEnd),
            done_series: self.series(window, &series.done, |done| done.counts.done + done.counts.ignored),
            failed_series: self.series(window, &series.done, |done| done.counts.failed),
            depth_series: self.levels(window, series),
        }
    }

    fn totals(&self, window: Window, rows: &[HandlerRow]) -> Totals {
        let mut columns: Vec<Option<Done>> =
            self.heard(window).map(|heard| heard.then(Done::default)).collect();
        for series in self.handlers.values() {
            let of_this = series.done.columns(window, self.at);
            for (sum, column) in columns.iter_mut().zip(of_this) {
                let Some(column) = column else { continue };
                let sum = sum.get_or_insert_default();
                sum.counts += column.counts;
                for stage in [Stage::Wait, Stage::Guest, Stage::EndToEnd] {
                    let Some(samples) = column.times.get(&stage) else { continue };
                    sum.times.entry(stage).or_default().add(samples);
                }
            }
        }
        let quantiles = |stage: Stage| {
            Distribution::sum(columns.iter().flatten().filter_map(|done| done.times.get(&stage))).quantiles()
        };
        let per_second = |of: fn(&Counts) -> u64| -> Points {
            columns
                .iter()
                .zip(elapsed_seconds(window, self.at))
                .map(|(done, seconds)| done.as_ref().map(|done| rate(of(&done.counts), seconds)))
                .collect()
        };
        let p99 = |done: &Option<Done>| {
            let samples = done.as_ref()?.times.get(&Stage::Guest)?;
            Some(Duration::from_micros(samples.quantiles().p99).as_secs_f64() * 1_000.0)
        };
        let recent: Counts = self.handlers.values().map(|series| series.done.recent(self.at).counts).sum();
        let boots: Vec<&Boot> = self.boots.values().collect();
        let is = |boot: &&&Boot, state: &str| boot.seen.as_ref().is_some_and(|seen| seen.state == state);
        let slopes: Vec<f64> = rows.iter().filter_map(|row| row.slope).collect();
        Totals {
            hosts_alive: boots.iter().filter(|boot| is(boot, "alive")).count(),
            hosts: boots.iter().filter(|boot| is(boot, "alive") || is(boot, "silent")).count(),
            rates: rates(&recent, self.rate_seconds()),
            counts: columns.iter().flatten().map(|done| done.counts).sum(),
            depth: sum_of(rows.iter().filter_map(|row| row.depth)),
            slope: (!slopes.is_empty()).then(|| slopes.iter().sum()),
            oldest_due: rows.iter().filter_map(|row| row.oldest_due).max(),
            dead_letters: sum_of(rows.iter().filter_map(|row| row.dead_letters)),
            scheduled_retries: sum_of(rows.iter().filter_map(|row| row.scheduled_retries)),
            wait: quantiles(Stage::Wait),
            run: quantiles(Stage::Guest),
            end_to_end: quantiles(Stage::EndToEnd),
            accepted_series: per_second(|counts| counts.accepted),
            done_series: per_second(|counts| counts.done + counts.ignored),
            failed_series: per_second(|counts| counts.failed),
            depth_series: sum_points(rows.iter().map(|row| &row.depth_series)),
            p99_series: columns.iter().map(p99).collect(),
            samples_lost: self.samples_lost + boots.iter().map(|boot| boot.samples_lost).sum::<u64>(),
            skipped: self.skipped,
        }
    }

    fn stage(&self, series: &Series, stage: Stage, all: &Done, window: Window) -> StageRow {
        let columns = series.done.columns(window, self.at).zip(self.heard(window));
        let column = |(done, heard): (Option<&Done>, bool)| {
            let samples = done.and_then(|done| done.times.get(&stage)).cloned();
            let quantiles = samples.as_ref().map_or_else(Quantiles::default, Distribution::quantiles);
            (heard || samples.is_some())
                .then(|| HeatColumn { samples: samples.unwrap_or_default(), quantiles })
        };
        StageRow {
            stage,
            quantiles: all.times.get(&stage).map_or_else(Quantiles::default, Distribution::quantiles),
            columns: columns.map(column).collect(),
            over: all.over.get(&stage).copied().unwrap_or(0),
        }
    }

    fn classes(&self, series: &Series, window: Window, of: fn(&Done) -> &Named) -> Vec<ClassRow> {
        let columns = || series.done.columns(window, self.at).flatten();
        let names: BTreeSet<&String> = columns().flat_map(|done| of(done).0.keys()).collect();
        let row = |name: &String| {
            let recent = of(&series.done.recent(self.at)).of(name);
            ClassRow {
                name: name.clone(),
                count: columns().map(|done| of(done).of(name)).sum(),
                per_second: rate(recent, self.rate_seconds()),
                series: self.series(window, &series.done, |done| of(done).of(name)),
            }
        };
        let mut rows: Vec<ClassRow> = names.into_iter().map(row).collect();
        rows.sort_by(|a, b| b.count.cmp(&a.count).then(a.name.cmp(&b.name)));
        rows
    }

    fn shares(&self, handler: &str) -> Vec<HostShare> {
        let share = |(name, boot): (&String, &Boot)| {
            let since_boot = counts(boot.handlers.get(handler)?);
            let recent = boot.handler_flow.get(handler).map(|flow| flow.recent(self.at)).unwrap_or_default();
            let host = boot.seen.as_ref().map_or_else(|| name.clone(), |seen| seen.name.clone());
            let rates = rates(&recent, self.rate_seconds());
            Some(HostShare { host, boot: name.clone(), rates, since_boot })
        };
        let mut shares: Vec<HostShare> = self.boots.iter().filter_map(share).collect();
        shares.sort_by(|a, b| b.since_boot.runs().cmp(&a.since_boot.runs()).then(a.host.cmp(&b.host)));
        shares
    }

    fn host(&self, name: &str, boot: &Boot, window: Window) -> Option<HostRow> {
        let seen = boot.seen.as_ref()?;
        let state = match seen.state.as_str() {
            "alive" => HostState::Alive,
            "stopped" => HostState::Stopped,
            _ => HostState::Silent,
        };
        let (health, why) = self.health(&Subject::Host(seen.name.clone()));
        let health = match (state, health) {
            (HostState::Stopped, _) => Health::Unknown,
            (HostState::Alive | HostState::Silent, health) => health,
        };
        let ago = Duration::try_from_secs_f64(seen.heard_seconds_ago).unwrap_or_default();
        Some(HostRow {
            name: seen.name.clone(),
            boot: name.to_owned(),
            version: seen.version.clone(),
            state,
            health,
            why,
            is_answering: self.hello.as_ref().is_some_and(|hello| hello.boot == name),
            started_at: seen.started_at.clone(),
            heard: ago + self.age(boot.seen_at),
            permits_in_use: boot.vitals.permits_in_use,
            permits: boot.vitals.permits,
            processors: boot.processors(),
            memory_bytes: boot.vitals.memory_bytes,
            readers: boot.vitals.subscribers,
            log_lines_dropped: boot.vitals.log_lines_dropped,
            database_away: boot
                .vitals
                .database_away_seconds
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            rates: rates(&boot.flow.recent(self.at), self.rate_seconds()),
            counts: boot.flow.sum(window, self.at),
            ticks_missed: boot.ticks_missed,
        })
    }

    fn sinks(&self, window: Window) -> Vec<SinkRow> {
        let gauges: BTreeMap<&str, &SinkGauges> = self
            .gauges
            .iter()
            .flat_map(|(gauges, _)| &gauges.sinks)
            .map(|sink| (sink.sink.as_str(), sink))
            .collect();
        let names: BTreeSet<&str> =
            self.sinks.keys().map(String::as_str).chain(gauges.keys().copied()).collect();
        let row = |name: &str| {
            let (health, why) = self.health(&Subject::Sink(name.to_owned()));
            let (line, gauges) = (self.sinks.get(name), gauges.get(name));
            let confirmed = line.map_or(0, |line| line.recent(self.at).of("confirmed"));
            SinkRow {
                name: name.to_owned(),
                health,
                why,
                planned: gauges.map(|sink| sink.planned),
                sending: gauges.map(|sink| sink.sending),
                refused: gauges.map(|sink| sink.refused),
                unknown: gauges.map(|sink| sink.unknown),
                oldest_planned: gauges.and_then(|sink| sink.oldest_planned_ms).map(Duration::from_millis),
                confirmed_per_second: rate(confirmed, self.rate_seconds()),
                entered: line.map(|line| line.sum(window, self.at).0).unwrap_or_default(),
            }
        };
        names.into_iter().map(row).collect()
    }

    fn sources(&self, window: Window) -> Vec<SourceRow> {
        let row = |(name, line): (&String, &Timeline<Named>)| {
            let (health, why) = self.health(&Subject::Source(name.clone()));
            SourceRow {
                name: name.clone(),
                health,
                why,
                answers_per_second: rate(line.recent(self.at).total(), self.rate_seconds()),
                answers: line.sum(window, self.at).0,
            }
        };
        self.sources.iter().map(row).collect()
    }

    fn books(&self, books: &Books) -> BooksLine {
        let counted = books.at.parse().ok().and_then(|at| self.moment_of(at));
        let sum = |of: fn(&wonce_api::verify::Account) -> i64| books.accounts.iter().map(of).sum();
        BooksLine {
            holds: books.holds,
            at: books.at.clone(),
            age: counted.map(|at| self.age(at)),
            accepted: sum(|account| account.accepted),
            pending: sum(|account| account.pending),
            done: sum(|account| account.done),
            ignored: sum(|account| account.ignored),
            dead: sum(|account| account.dead),
            discarded: sum(|account| account.discarded),
            duplicates_late: sum(|account| account.duplicate_late),
            expired: sum(|account| account.expired),
            differ: books
                .accounts
                .iter()
                .filter(|account| !account.holds)
                .map(|account| (account.handler.clone(), account.difference))
                .collect(),
        }
    }

    fn health(&self, subject: &Subject) -> (Health, String) {
        match self.troubles.get(subject) {
            None => (Health::Fine, String::new()),
            Some(Trouble { severity, text, .. }) => {
                let health = match severity {
                    Severity::Fine => Health::Fine,
                    Severity::Unknown => Health::Unknown,
                    Severity::Warning => Health::Warning,
                    Severity::Bad => Health::Bad,
                };
                (health, text.clone())
            }
        }
    }

    /// Which columns of a window something was heard of.
    fn heard(&self, window: Window) -> impl Iterator<Item = bool> {
        self.heard.columns(window, self.at).map(|heard| heard.is_some())
    }

    fn known(&self, window: Window) -> Duration {
        let columns = u32::try_from(self.heard(window).filter(|heard| *heard).count()).unwrap_or(u32::MAX);
        (window.column() * columns).min(window.span())
    }

    /// Over how many seconds rates are taken: ten, or fewer when less was heard.
    pub(super) fn rate_seconds(&self) -> f64 {
        let heard = self.heard.seconds(self.at).flatten().count();
        f64::from(u32::try_from(heard).unwrap_or(u32::MAX)).max(1.0)
    }

    fn age(&self, at: Millis) -> Duration {
        self.now.since(Moment::from_millis(u64::try_from(at).unwrap_or(0)))
    }

    fn series<T: super::Piece>(&self, window: Window, line: &Timeline<T>, of: impl Fn(&T) -> u64) -> Points {
        let columns = line.columns(window, self.at).zip(self.heard(window));
        let point = |((piece, heard), seconds): ((Option<&T>, bool), f64)| {
            (heard || piece.is_some()).then(|| rate(piece.map_or(0, &of), seconds))
        };
        columns.zip(elapsed_seconds(window, self.at)).map(point).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "a level for people")]
    fn levels(&self, window: Window, series: &Series) -> Points {
        let levels = series.depth.columns(window, self.at).map(|last| last.and_then(|last| last.0));
        let mut known = None;
        // A level holds until the next one is heard.
        levels
            .zip(self.heard(window))
            .map(|(level, heard)| {
                known = level.or(known).filter(|_| heard || level.is_some());
                known.map(|level: u64| level as f64)
            })
            .collect()
    }
}

/// Of what was counted in so many seconds.
pub(super) fn rates(counts: &Counts, seconds: f64) -> Rates {
    Rates {
        accepted: rate(counts.accepted, seconds),
        done: rate(counts.done, seconds),
        ignored: rate(counts.ignored, seconds),
        failed: rate(counts.failed, seconds),
        retries: rate(counts.retries, seconds),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
fn rate(n: u64, seconds: f64) -> f64 {
    n as f64 / seconds
}

/// Numbers of rows together: an estimate when one of them is.
fn sum_of(counts: impl Iterator<Item = Count>) -> Option<Count> {
    counts.reduce(|a, b| Count {
        n: a.n.saturating_add(b.n),
        method: if a.method == Method::Exact { b.method } else { a.method },
    })
}

fn sum_points<'a>(all: impl Iterator<Item = &'a Points>) -> Points {
    let mut sum = Points::new();
    for points in all {
        sum.resize(points.len().max(sum.len()), None);
        for (sum, point) in sum.iter_mut().zip(points) {
            *sum = match (*sum, *point) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            };
        }
    }
    sum
}
