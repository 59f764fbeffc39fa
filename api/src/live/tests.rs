use std::collections::BTreeMap;

use super::edge::{Alert, AlertState, Bye, LogBatch, LogLine, Op};
use super::gauges::{Books, Count, Gauges, HandlerGauges, Method, SinkGauges};
use super::histogram::{HIGHEST, Samples, empty};
use super::snapshot::{Hello, HostSeen, HostState, Snapshot};
use super::tick::{
    Counters, HandlerTick, HostTick, SinkTick, SourceTick, Stage, Strays, Tick, Timing, Vitals,
};
use super::{Cursor, Message, PROTOCOL};
use crate::action::Action;
use crate::verify::Account;

fn text(text: &str) -> String {
    text.to_owned()
}

fn samples(values: impl IntoIterator<Item = u64>) -> Samples {
    let mut histogram = empty();
    values.into_iter().for_each(|value| histogram.saturating_record(value));
    Samples::of(&histogram)
}

fn counts(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
    pairs.iter().map(|(name, n)| (text(name), *n)).collect()
}

fn host_tick(seq: u64) -> HostTick {
    let timing = Timing { count: 7, samples: samples([900, 1_100]), over: 1 };
    let counters = Counters {
        accepted: u64::MAX,
        done: 3,
        faults: counts(&[("trap", 2)]),
        dead: counts(&[("permanent", 1)]),
        ..Counters::default()
    };
    let times = BTreeMap::from([(text(Stage::Guest.id()), timing)]);
    HostTick {
        boot: text("b-1"),
        seq,
        at: text("2026-12-01T04:00:00.000001Z"),
        covers_ms: 1_000,
        vitals: Vitals { permits: 16, database_away_seconds: Some(1.5), ..Vitals::default() },
        handlers: vec![HandlerTick { handler: text("payments"), counters, times }],
        sources: vec![SourceTick { source: text("shop"), answers: counts(&[("202", 9)]) }],
        sinks: vec![SinkTick { sink: text("crm"), effects: counts(&[("confirmed", 9)]) }],
        strays: Strays { parked: counts(&[("no_key", 1)]), unrouted_ignored: 0 },
    }
}

fn gauges() -> Gauges {
    let exact = |n| Count { n, method: Method::Exact };
    let handler = HandlerGauges {
        handler: text("payments"),
        state: text("paused"),
        ordering: text("ordered"),
        version: text("1.8.3"),
        digest: text("ab12"),
        depth: Count { n: 5_000_000, method: Method::Estimate },
        due: exact(9),
        scheduled_retries: exact(0),
        oldest_due_ms: Some(161_000),
        dead: exact(2),
        oldest_dead_ms: None,
    };
    let sink = SinkGauges {
        sink: text("crm"),
        planned: exact(1),
        sending: exact(2),
        refused: exact(3),
        unknown: exact(4),
        oldest_planned_ms: Some(12),
    };
    let account = Account {
        handler: text("payments"),
        holds: true,
        accepted: 3,
        pending: 1,
        done: 1,
        ignored: 0,
        dead: 1,
        discarded: 0,
        duplicate_late: 0,
        expired: 0,
        difference: 0,
        late_to_come: 0,
        findings: Vec::new(),
    };
    Gauges {
        at: text("2026-12-01T04:00:00Z"),
        age_ms: 300,
        by: text("b-1"),
        took_ms: 4,
        handlers: vec![handler],
        sinks: vec![sink],
        parked: exact(1),
        submitted: exact(0),
        books: Some(Books {
            at: text("2026-12-01T03:59:00Z"),
            took_ms: 80,
            holds: true,
            accounts: vec![account],
        }),
    }
}

fn alert() -> Alert {
    Alert {
        id: text("payments/oldest_due"),
        handler: text("payments"),
        rule: text("oldest_due"),
        state: AlertState::Firing,
        since: text("2026-12-01T04:00:00Z"),
        value: 161.25,
        limit: 60.0,
        unit: text("seconds"),
        text: text("the oldest due delivery of payments is 2m41s old; the limit is 1m"),
    }
}

fn change() -> Action {
    Action {
        id: 7,
        at: text("2026-12-01T04:00:00Z"),
        actor: text("ci"),
        verb: text("deploy"),
        target: text("handler/payments"),
        reason: text(""),
    }
}

fn op() -> Op {
    Op {
        id: text("12"),
        verb: text("replay"),
        state: text("running"),
        target: text("fingerprint 9f31"),
        total: 271,
        done: 12,
        failed: 1,
        skipped: 0,
        actor: text("ann"),
        reason: text("fixed"),
        started_at: text("2026-12-01T04:00:00Z"),
    }
}

fn seen() -> HostSeen {
    HostSeen {
        boot: text("b-1"),
        name: text("w-1"),
        version: text("0.1.0"),
        state: text("alive"),
        started_at: text("2026-12-01T03:00:00Z"),
        heard_seconds_ago: 0.25,
    }
}

/// One of each, with every field in use somewhere.
fn messages() -> Vec<Message> {
    let hello = Hello {
        protocol: PROTOCOL,
        boot: text("b-1"),
        host: text("w-1"),
        version: text("0.1.0"),
        database: text("7301/wonce"),
        now: text("2026-12-01T04:00:00Z"),
        tick_ms: 1_000,
        keep_alive_ms: 5_000,
        resumable_frames: 300,
    };
    let snapshot = Snapshot {
        seq: 41,
        now: text("2026-12-01T04:00:00Z"),
        hosts: vec![HostState { seen: seen(), totals: Some(host_tick(9)) }],
        history: vec![host_tick(4), host_tick(9)],
        before: vec![host_tick(3).without_samples()],
        gauges: Some(gauges()),
        alerts: vec![alert()],
        changes: vec![change()],
        ops: vec![op()],
    };
    let line = LogLine {
        at: text("2026-12-01T04:00:00Z"),
        level: text("warn"),
        message: text("line\nwith a \u{1b}[31mtrick"),
        fields: BTreeMap::from([(text("handler"), text("payments"))]),
    };
    vec![
        Message::Hello(hello),
        Message::Snapshot(Box::new(snapshot)),
        Message::Tick(Tick { seq: 42, hosts: vec![host_tick(10)] }),
        Message::Gauges(gauges()),
        Message::Host(seen()),
        Message::Alert(alert()),
        Message::Change(change()),
        Message::Op(op()),
        Message::Log(LogBatch { lines: vec![line], dropped: 3 }),
        Message::Bye(Bye { reason: text("stopping"), retry_ms: 1_000 }),
    ]
}

#[test]
fn every_message_comes_back_as_it_went_in_one_line() {
    let all = messages();
    assert_eq!(all.iter().map(Message::event).collect::<Vec<_>>(), Message::EVENTS);
    for message in all {
        let data = message.data().expect("it has a JSON form");
        assert!(!data.contains('\n'), "an event's data is one line: {data}");
        assert_eq!(Message::parse(message.event(), &data).expect("its own document"), Some(message));
    }
}

#[test]
fn what_a_reader_does_not_know_is_skipped() {
    assert_eq!(Message::parse("weather", "{}").expect("no error"), None);
    let later = r#"{"reason":"stopping","retry_ms":5,"colour":{"of":[1,2.5]}}"#;
    let bye = Bye { reason: text("stopping"), retry_ms: 5 };
    assert_eq!(Message::parse("bye", later).expect("unknown fields are no error"), Some(Message::Bye(bye)));
    let tick =
        r#"{"handler":"a","counters":{"done":2,"juggled":1},"times":{"nap":{"count":0,"samples":""}}}"#;
    let tick: HandlerTick = serde_json::from_str(tick).expect("unknown counters and stages are no error");
    assert_eq!((tick.counters.done, tick.timing(Stage::Guest)), (2, None));
}

#[test]
fn a_document_that_is_not_the_events_is_an_error() {
    assert!(Message::parse("bye", r#"{"seq":1}"#).is_err());
}

#[test]
fn percentiles_of_added_histograms_are_those_of_all_samples() {
    // Two hosts, one fast and one slow: no mean of their percentiles is near the truth.
    let fast: Vec<u64> = (0..9_000).map(|i| 10_000 + i * 7).collect();
    let slow: Vec<u64> = (0..1_000).map(|i| 200_000 + i * 1_300).collect();
    let sum = samples(fast.clone()).plus(&samples(slow.clone())).expect("both are histograms");
    let mut merged = empty();
    sum.add_to(&mut merged).expect("a histogram");
    let mut all = [fast, slow].concat();
    all.sort_unstable();
    assert_eq!(merged.len(), 10_000);
    for (quantile, rank) in [(0.5, 5_000), (0.9, 9_000), (0.95, 9_500), (0.99, 9_900), (0.999, 9_990)] {
        let (exact, read) = (all[rank - 1], merged.value_at_quantile(quantile));
        assert!(
            read.abs_diff(exact) * 100 <= exact,
            "p{}: {read} is not {exact} within 1 %",
            quantile * 100.0
        );
    }
}

#[test]
fn few_samples_stay_plain_and_many_are_deflated() {
    assert_eq!(samples([]), Samples::default());
    let one = samples([1_234]);
    assert!(one.0.len() < 90, "{} characters for one sample", one.0.len());
    let many = samples((0..2_500).map(|i| 500 + (i * i) % 90_000));
    assert!(many.0.len() < 1_600, "{} characters for 2,500 samples", many.0.len());
    let mut back = empty();
    many.add_to(&mut back).expect("a histogram");
    assert_eq!(back.len(), 2_500);
}

#[test]
fn a_histogram_of_other_bounds_or_none_at_all_is_refused() {
    let mut sum = empty();
    assert!(Samples(text("bm9uc2Vuc2U=")).add_to(&mut sum).is_err());
    assert!(Samples(text("no base64!")).add_to(&mut sum).is_err());
    assert!(Samples("A".repeat(100_000)).add_to(&mut sum).is_err());
    let mut other = hdrhistogram::Histogram::<u64>::new_with_bounds(1, HIGHEST, 3).expect("bounds");
    other.record(5).expect("in bounds");
    assert!(Samples::of(&other).add_to(&mut sum).is_err());
    assert!(sum.is_empty());
}

#[test]
fn coalesced_ticks_keep_the_latest_counts_and_all_samples() {
    let mut first = host_tick(4);
    let mut later = host_tick(6);
    later.handlers[0].counters.done = 30;
    later.handlers.insert(0, HandlerTick { handler: text("billing"), ..HandlerTick::default() });
    later.sources[0].answers = counts(&[("202", 90)]);
    first.absorb(later).expect("histograms");
    assert_eq!((first.seq, first.covers_ms), (6, 2_000));
    let names: Vec<&str> = first.handlers.iter().map(|h| h.handler.as_str()).collect();
    assert_eq!(names, ["billing", "payments"]);
    let payments = &first.handlers[1];
    assert_eq!(payments.counters.done, 30);
    let guest = payments.timing(Stage::Guest).expect("both had samples");
    assert_eq!((guest.count, guest.over), (7, 2));
    let mut read = empty();
    guest.samples.add_to(&mut read).expect("a histogram");
    assert_eq!(read.len(), 4);
    assert_eq!(first.sources[0].answers["202"], 90);
}

#[test]
fn a_cursor_reads_what_it_writes() {
    let cursor = Cursor { boot: text("7c9e:odd"), seq: 41 };
    assert_eq!(cursor.to_string().parse(), Ok(cursor));
    for nonsense in ["", "41", ":41", "boot:", "boot:-1"] {
        assert!(nonsense.parse::<Cursor>().is_err(), "{nonsense}");
    }
}
