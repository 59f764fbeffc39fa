use wonce_api::live::tick::{Counters, HandlerTick, Stage, Strays, Timing, Vitals};
use wonce_api::live::{Count, HandlerGauges, HostState as Told, Method, Samples, Snapshot, Tick, coalesce};

use super::*;
use crate::live::{Counts, Health, Severity, Subject};

/// A host of tests: it counts, and writes the ticks that a real one would.
#[derive(Clone)]
struct Host {
    boot: String,
    seq: u64,
    second: i64,
    handlers: BTreeMap<String, (Counters, u64)>,
    ticks: Vec<HostTick>,
}

impl Host {
    fn new(boot: &str, second: i64) -> Self {
        Self { boot: boot.to_owned(), seq: 0, second, handlers: BTreeMap::new(), ticks: Vec::new() }
    }

    /// A second in which a handler did this.
    fn second(&mut self, handler: &str, done: u64, failed: u64, guest_us: &[u64]) -> HostTick {
        self.seq += 1;
        self.second += 1;
        let (counters, samples) = self.handlers.entry(handler.to_owned()).or_default();
        counters.accepted += done + failed;
        counters.done += done;
        counters.failed += failed;
        *counters.retries.entry("transient".to_owned()).or_default() += failed;
        *samples += guest_us.len() as u64;
        let mut histogram = wonce_api::live::histogram::empty();
        guest_us.iter().for_each(|value| histogram.record(*value).expect("in bounds"));
        let timing = Timing { count: *samples, samples: Samples::of(&histogram), over: 0 };
        let times = BTreeMap::from([(Stage::Guest.id().to_owned(), timing)]);
        let times = if guest_us.is_empty() { BTreeMap::new() } else { times };
        let handler = HandlerTick { handler: handler.to_owned(), counters: counters.clone(), times };
        let tick = HostTick {
            boot: self.boot.clone(),
            seq: self.seq,
            at: at(self.second),
            covers_ms: 1_000,
            vitals: Vitals::default(),
            handlers: vec![handler],
            sources: Vec::new(),
            sinks: Vec::new(),
            strays: Strays::default(),
        };
        self.ticks.push(tick.clone());
        tick
    }

    fn totals(&self) -> Option<HostTick> {
        coalesce(self.ticks.iter().cloned().map(HostTick::without_samples)).expect("nothing to read")
    }

    /// All that a snapshot says of it, with a history of so many of the last ticks.
    fn told(&self, history: usize) -> (Told, Vec<HostTick>, Option<HostTick>) {
        let (old, new) = self.ticks.split_at(self.ticks.len() - history.min(self.ticks.len()));
        let before = coalesce(old.iter().cloned().map(HostTick::without_samples)).expect("nothing to read");
        (Told { seen: seen(&self.boot, "alive"), totals: self.totals() }, new.to_vec(), before)
    }
}

fn at(second: i64) -> String {
    Timestamp::from_second(1_800_000_000 + second).expect("in range").to_string()
}

fn seen(boot: &str, state: &str) -> HostSeen {
    HostSeen {
        boot: boot.to_owned(),
        name: format!("host-{boot}"),
        version: "1".to_owned(),
        state: state.to_owned(),
        started_at: at(0),
        heard_seconds_ago: 0.0,
    }
}

fn hello(boot: &str, second: i64) -> Message {
    Message::Hello(Hello {
        protocol: 1,
        boot: boot.to_owned(),
        host: format!("host-{boot}"),
        version: "1".to_owned(),
        database: "db".to_owned(),
        now: at(second),
        tick_ms: 1_000,
        keep_alive_ms: 5_000,
        resumable_frames: 300,
    })
}

fn snapshot(hosts: &[&Host], history: usize, second: i64) -> Message {
    let told = hosts.iter().map(|host| host.told(history));
    let (mut states, mut ticks, mut before) = (Vec::new(), Vec::new(), Vec::new());
    for (state, history, base) in told {
        states.push(state);
        ticks.extend(history);
        before.extend(base);
    }
    Message::Snapshot(Box::new(Snapshot {
        seq: 0,
        now: at(second),
        hosts: states,
        history: ticks,
        before,
        gauges: None,
        alerts: Vec::new(),
        changes: Vec::new(),
        ops: Vec::new(),
    }))
}

fn frame(hosts: Vec<HostTick>) -> Message {
    Message::Tick(Tick { seq: 1, hosts })
}

fn second(second: i64) -> Moment {
    Moment::from_millis(u64::try_from(second * 1_000).expect("after the start"))
}

fn exact(n: u64) -> Count {
    Count { n, method: Method::Exact }
}

fn gauges(second: i64, handlers: &[(&str, &str, u64, Option<u64>)]) -> Message {
    let handlers = handlers.iter().map(|(name, state, depth, oldest_due_ms)| HandlerGauges {
        handler: (*name).to_owned(),
        state: (*state).to_owned(),
        ordering: "unordered".to_owned(),
        version: "1.8.3".to_owned(),
        digest: "00".to_owned(),
        depth: exact(*depth),
        due: exact(*depth),
        scheduled_retries: exact(0),
        oldest_due_ms: *oldest_due_ms,
        dead: exact(0),
        oldest_dead_ms: None,
    });
    Message::Gauges(Gauges {
        at: at(second),
        age_ms: 0,
        by: "a".to_owned(),
        took_ms: 1,
        handlers: handlers.collect(),
        sinks: Vec::new(),
        parked: exact(0),
        submitted: exact(0),
        books: None,
    })
}

fn live() -> Link {
    Link::Live { at: "http://x".to_owned(), since: Moment::default() }
}

/// What a host sends for several ticks at once.
fn as_one(ticks: Vec<HostTick>) -> Vec<HostTick> {
    let mut boots: BTreeMap<String, Vec<HostTick>> = BTreeMap::new();
    ticks.into_iter().for_each(|tick| boots.entry(tick.boot.clone()).or_default().push(tick));
    boots.into_values().filter_map(|ticks| coalesce(ticks).expect("they can be read")).collect()
}

/// A small generator: tests need order without a pattern, the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn counts_of(fleet: &Fleet, handler: &str) -> Counts {
    fleet.handler(handler, Window::Hour).expect("it was named").row.counts
}

#[test]
fn gaps_repeats_and_new_boots_never_change_the_sum_of_counters() {
    for seed in 0..40 {
        let mut dice = Dice(seed);
        let mut fleet = Fleet::default();
        let mut hosts = vec![Host::new("a1", 0), Host::new("b1", 0)];
        let (mut expected, mut boots) = (BTreeMap::<&str, (u64, u64)>::new(), 1);
        let mut missed: Vec<HostTick> = Vec::new();
        fleet.apply(second(1), hello("a1", 0));
        fleet.apply(second(1), snapshot(&[&hosts[0], &hosts[1]], 60, 0));
        for now in 1..200 {
            for host in &mut hosts {
                let handler = ["pay", "mail"][usize::try_from(dice.below(2)).expect("small")];
                let (done, failed) = (dice.below(50), dice.below(3));
                let sum = expected.entry(handler).or_default();
                (sum.0, sum.1) = (sum.0 + done, sum.1 + failed);
                missed.push(host.second(handler, done, failed, &[1_000]));
            }
            let what = dice.below(10);
            if what < 2 {
                // The line is down; the next frame holds what was missed, as one tick a boot.
                continue;
            }
            let ticks = as_one(std::mem::take(&mut missed));
            match what {
                // The gap is too long to be resumed.
                2 => fleet.apply(second(now + 1), snapshot(&[&hosts[0], &hosts[1]], 20, now)),
                // A resumed stream sends a frame that was heard.
                3 => {
                    fleet.apply(second(now + 1), frame(ticks.clone()));
                    fleet.apply(second(now + 1), frame(ticks));
                }
                4 => {
                    fleet.apply(second(now + 1), frame(ticks));
                    boots += 1;
                    let gone = seen(&hosts[1].boot, "gone");
                    hosts[1] = Host::new(&format!("b{boots}"), now);
                    fleet.apply(second(now + 1), Message::Host(gone));
                    fleet.apply(second(now + 1), Message::Host(seen(&hosts[1].boot, "alive")));
                }
                // The order within a frame means nothing.
                5 => fleet.apply(second(now + 1), frame(ticks.into_iter().rev().collect())),
                _ => fleet.apply(second(now + 1), frame(ticks)),
            }
        }
        fleet.apply(second(201), snapshot(&[&hosts[0], &hosts[1]], 20, 200));
        for (handler, (done, failed)) in expected {
            let counts = counts_of(&fleet, handler);
            let found = (counts.done, counts.failed, counts.accepted, counts.retries);
            assert_eq!(found, (done, failed, done + failed, failed), "{handler}, seed {seed}");
        }
    }
}

/// The value below which so many of 1,000 samples lie.
fn permille(sorted: &[u64], permille: usize) -> u64 {
    sorted[(sorted.len() * permille).div_ceil(1_000) - 1]
}

#[test]
fn percentiles_are_those_of_all_samples_together_and_no_mean_of_percentiles() {
    let mut dice = Dice(7);
    let (mut a, mut b) = (Host::new("a", 0), Host::new("b", 0));
    let mut fleet = Fleet::default();
    fleet.apply(second(1), hello("a", 0));
    fleet.apply(second(1), snapshot(&[&a, &b], 60, 0));
    let mut all = [Vec::new(), Vec::new()];
    for now in 1..=40 {
        // One host is quick, the other one is slow for a few.
        let quick: Vec<u64> = (0..60).map(|_| 10_000 + dice.below(5_000)).collect();
        let slow: Vec<u64> =
            (0..20).map(|i| if i == 0 { 1_500_000 } else { 10_000 + dice.below(5_000) }).collect();
        fleet.apply(
            second(now + 1),
            frame(vec![a.second("pay", 60, 0, &quick), b.second("mail", 20, 0, &slow)]),
        );
        all[0].extend(quick);
        all[1].extend(slow);
    }
    let p99_of = |values: &Vec<u64>| {
        let mut sorted = values.clone();
        sorted.sort_unstable();
        permille(&sorted, 990)
    };
    let mean = u64::midpoint(p99_of(&all[0]), p99_of(&all[1]));
    let mut together = all.concat();
    together.sort_unstable();
    let found = fleet.overview(Window::FiveMinutes).totals.run;
    assert_eq!(found.samples, 3_200);
    for (found, wanted) in [
        (found.p50, permille(&together, 500)),
        (found.p90, permille(&together, 900)),
        (found.p95, permille(&together, 950)),
        (found.p99, permille(&together, 990)),
        (found.p999, permille(&together, 999)),
    ] {
        assert!(found.abs_diff(wanted) * 100 <= wanted, "{found} is not within 1% of {wanted}");
    }
    assert!(mean.abs_diff(found.p99) * 10 > found.p99, "a mean of p99s tells it from the truth: {mean}");
}

#[test]
fn a_long_tick_is_laid_over_the_seconds_that_it_covers() {
    let mut host = Host::new("a", 0);
    let mut fleet = Fleet::default();
    fleet.apply(second(1), hello("a", 0));
    fleet.apply(second(1), snapshot(&[&host], 60, 0));
    fleet.apply(second(2), frame(vec![host.second("pay", 10, 0, &[])]));
    let missed = (0..20).map(|_| host.second("pay", 10, 0, &[5_000])).collect();
    fleet.apply(second(22), frame(as_one(missed)));
    let row = fleet.handler("pay", Window::OneMinute).expect("it was named").row;
    assert_eq!((row.counts.done, row.run.samples), (210, 20));
    assert_eq!(row.done_series[39..], [Some(10.0); 21]);
    assert!((row.rates.done - 10.0).abs() < f64::EPSILON, "{}", row.rates.done);
}

#[test]
fn a_console_that_comes_late_knows_the_history_and_counts_nothing_from_before_it() {
    let mut host = Host::new("a", 0);
    for _ in 0..100 {
        host.second("pay", 7, 1, &[2_000]);
    }
    // Idle since: it is in the totals and nowhere else.
    host.second("old", 0, 0, &[]);
    let mut fleet = Fleet::default();
    fleet.apply(second(1), hello("a", 101));
    fleet.apply(second(1), snapshot(&[&host], 31, 101));
    let detail = fleet.handler("pay", Window::FiveMinutes).expect("it was named");
    assert_eq!((detail.row.counts.done, detail.row.counts.failed), (30 * 7, 30));
    assert_eq!(detail.row.run.samples, 30);
    assert_eq!(detail.since_boot.done, 700);
    let known = detail.known.as_secs();
    assert!((30..=40).contains(&known), "{known}");
    assert_eq!(detail.row.done_series.iter().filter(|point| point.is_none()).count(), 53);
}

#[test]
fn gauges_are_taken_once_and_never_added() {
    let mut fleet = Fleet::default();
    fleet.apply(second(1), hello("a", 0));
    fleet.apply(second(1), snapshot(&[&Host::new("a", 0), &Host::new("b", 0)], 60, 0));
    for now in 1..4 {
        fleet.apply(second(now), gauges(now, &[("pay", "active", 40, None), ("mail", "active", 2, None)]));
    }
    let totals = fleet.overview(Window::OneMinute).totals;
    assert_eq!(totals.depth, Some(exact(42)));
}

#[test]
fn the_worst_handler_comes_first_and_the_verdict_says_what_why_and_whereto() {
    let mut host = Host::new("a", 0);
    let mut fleet = Fleet::default();
    fleet.apply(second(1), hello("a", 0));
    fleet.link(second(1), live());
    fleet.apply(second(1), snapshot(&[&host], 60, 0));
    assert_eq!(fleet.overview(Window::OneMinute).verdict.text, "all is well");
    fleet.apply(
        second(6),
        Message::Change(Action {
            id: 1,
            at: at(5),
            actor: "ci".to_owned(),
            verb: "deploy".to_owned(),
            target: "handler/pay".to_owned(),
            reason: String::new(),
        }),
    );
    for now in 0_u64..20 {
        let moment = Moment::from_millis(10_000 + now * 1_000);
        let tick =
            if now % 2 == 0 { host.second("pay", 10, 10, &[]) } else { host.second("mail", 50, 0, &[]) };
        fleet.apply(moment, frame(vec![tick]));
        let handlers = [("pay", "active", now * 58, None), ("mail", "active", 0, None)];
        fleet.apply(moment, gauges(10 + i64::try_from(now).expect("small"), &handlers));
    }
    let overview = fleet.overview(Window::OneMinute);
    let names: Vec<(&str, Health)> =
        overview.handlers.iter().map(|row| (row.name.as_str(), row.health)).collect();
    assert_eq!(names, [("pay", Health::Bad), ("mail", Health::Fine)]);
    assert_eq!(overview.verdict.severity, Severity::Bad);
    assert_eq!(overview.verdict.subject, Subject::Handler("pay".to_owned()));
    let said = "pay: errors 50.0% since 08:00:09Z, 4s after deploy of 1.8.3 by ci · backlog grows by 58/s";
    assert_eq!(overview.verdict.text, said);
}

#[test]
fn a_stream_that_breaks_off_leaves_the_numbers_and_says_how_old_they_are() {
    let mut host = Host::new("a", 0);
    let mut fleet = Fleet::default();
    fleet.apply(second(1), hello("a", 0));
    fleet.apply(second(1), snapshot(&[&host], 60, 0));
    fleet.apply(second(2), frame(vec![host.second("pay", 10, 0, &[])]));
    let stale = Link::Stale {
        since: second(2),
        to: "http://x".to_owned(),
        reason: "the host is gone".to_owned(),
        attempt: 1,
        next: second(9),
    };
    fleet.link(second(8), stale);
    fleet.tick(second(33));
    let overview = fleet.overview(Window::OneMinute);
    assert_eq!((overview.age.as_secs(), overview.totals.counts.done), (31, 10));
    assert_eq!(overview.verdict.severity, Severity::Unknown);
    assert_eq!(overview.verdict.text, "what is shown is 31s old: the host is gone");
}

#[test]
fn memory_is_bounded_however_long_it_runs() {
    let mut host = Host::new("a", 0);
    let mut fleet = Fleet::default();
    fleet.apply(second(1), hello("a", 0));
    fleet.apply(second(1), snapshot(&[&host], 60, 0));
    for now in 1..4_000 {
        fleet.apply(second(now + 1), frame(vec![host.second("pay", 1, 0, &[1_000, 2_000])]));
        host.ticks.clear();
    }
    let columns = fleet.handlers["pay"].done.all().count();
    assert!(columns <= Window::ALL.len() * 62, "{columns}");
    fleet.shrink(100);
    let size: usize = fleet.handlers["pay"].done.all().map(series::Done::size).sum();
    assert!(size <= 400, "{size} buckets");
    assert_eq!(counts_of(&fleet, "pay").done, 60 * 60 - 60 + 40, "counts are never forgotten for memory");
}
