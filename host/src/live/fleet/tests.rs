use std::time::Duration;

use wonce_api::live::Samples;
use wonce_api::live::histogram::empty;
use wonce_api::live::tick::{HandlerTick, Stage, Strays, Timing, Vitals};
use wonce_core::fault::FaultClass;

use super::*;

fn tick(boot: &str, seq: u64, done: u64) -> HostTick {
    let mut samples = empty();
    samples.record(1_000 * seq).expect("in bounds");
    let timing = Timing { count: seq, samples: Samples::of(&samples), over: 0 };
    let mut handler = HandlerTick { handler: "a".to_owned(), ..HandlerTick::default() };
    handler.counters.done = done;
    handler.times.insert(Stage::Guest.id().to_owned(), timing);
    HostTick {
        boot: boot.to_owned(),
        seq,
        at: format!("2026-12-01T00:00:{seq:02}Z"),
        covers_ms: 1_000,
        vitals: Vitals::default(),
        handlers: vec![handler],
        sources: Vec::new(),
        sinks: Vec::new(),
        strays: Strays::default(),
    }
}

fn row(boot: &str, silence_seconds: f64) -> HostRow {
    HostRow {
        boot: boot.to_owned(),
        name: format!("host of {boot}"),
        version: "1".to_owned(),
        started_at: "2026-12-01T00:00:00Z".to_owned(),
        stopped: false,
        ticks: true,
        silence_seconds,
    }
}

fn heard(ticks: &[HostTick], hosts: Vec<HostRow>) -> Option<Heard> {
    let ticks = ticks
        .iter()
        .map(|tick| crate::store::tick::TickRow {
            boot: tick.boot.clone(),
            seq: tick.seq,
            body: serde_json::to_string(tick).expect("JSON"),
        })
        .collect();
    Some(Heard { ticks, hosts, ..Heard::default() })
}

fn fleet() -> Fleet {
    Fleet::new(seen(row("own", 0.0), "own"))
}

fn states(messages: &[Message]) -> Vec<(&str, &str)> {
    fn host(message: &Message) -> Option<(&str, &str)> {
        match message {
            Message::Host(seen) => Some((seen.boot.as_str(), seen.state.as_str())),
            _ => None,
        }
    }
    messages.iter().filter_map(host).collect()
}

#[test]
fn another_hosts_tick_is_counted_once_however_often_it_is_read() {
    let mut fleet = fleet();
    let both = || vec![row("own", 0.0), row("other", 0.5)];
    let (edges, ticks) = fleet.take(tick("own", 1, 1), heard(&[tick("other", 7, 70)], both()), 1.0);
    assert_eq!(states(&edges), [("other", "alive")]);
    assert_eq!(ticks.len(), 2);
    let again = heard(&[tick("other", 7, 70), tick("other", 8, 80), tick("other", 9, 90)], both());
    let (edges, ticks) = fleet.take(tick("own", 2, 2), again, 1.0);
    assert_eq!(states(&edges), []);
    let other = ticks.iter().find(|tick| tick.boot == "other").expect("two new ticks as one");
    assert_eq!((other.seq, other.covers_ms, other.handlers[0].counters.done), (9, 2_000, 90));
    let hosts = fleet.hosts();
    assert_eq!(hosts.iter().map(|host| host.seen.boot.as_str()).collect::<Vec<_>>(), ["own", "other"]);
    let totals = hosts[1].totals.as_ref().expect("it was heard");
    assert_eq!(totals.handlers[0].counters.done, 90);
    assert!(totals.handlers[0].times.is_empty(), "totals hold no samples");
}

#[test]
fn a_host_that_is_not_heard_is_silent_then_gone() {
    let mut fleet = fleet();
    fleet.take(tick("own", 1, 1), heard(&[], vec![row("own", 0.0), row("other", 0.5)]), 1.0);
    let (edges, _) = fleet.take(tick("own", 2, 2), heard(&[], vec![row("own", 0.0), row("other", 3.2)]), 1.0);
    assert_eq!(states(&edges), [("other", "silent")]);
    assert_eq!(fleet.states(), BTreeMap::from([("alive".to_owned(), 1), ("silent".to_owned(), 1)]));
    let (edges, _) = fleet.take(tick("own", 3, 3), heard(&[], vec![row("own", 0.0)]), 1.0);
    assert_eq!(states(&edges), [("other", "gone")]);
    assert_eq!(fleet.hosts().len(), 1);
}

#[test]
fn without_the_database_this_host_is_alive_and_the_others_fall_silent() {
    let mut fleet = fleet();
    fleet.take(tick("own", 1, 1), heard(&[], vec![row("own", 0.0), row("other", 0.5)]), 1.0);
    let (edges, ticks) = fleet.take(tick("own", 2, 2), None, 1.5);
    assert_eq!((states(&edges), ticks.len()), (vec![], 1));
    let (edges, _) = fleet.take(tick("own", 3, 3), None, 1.5);
    assert_eq!(states(&edges), [("other", "silent")]);
    let stopped = HostRow { stopped: true, ..row("other", 0.1) };
    let (edges, _) = fleet.take(tick("own", 4, 4), heard(&[], vec![row("own", 9.0), stopped]), 1.0);
    assert_eq!(states(&edges), [("other", "stopped")], "this host knows of itself that it is alive");
}

#[test]
fn history_is_columns_of_five_seconds_that_lose_no_sample() {
    let mut fleet = fleet();
    for seq in 1..=12 {
        fleet.take(tick("own", seq, seq), None, 1.0);
    }
    let history = fleet.history();
    let covered: Vec<u64> = history.iter().map(|column| column.covers_ms).collect();
    assert_eq!(covered, [5_000, 5_000, 2_000]);
    let mut samples = empty();
    for column in &history {
        let guest = column.handlers[0].timing(Stage::Guest).expect("samples");
        guest.samples.add_to(&mut samples).expect("a histogram");
    }
    assert_eq!(samples.len(), 12);
    for seq in 13..=400 {
        fleet.take(tick("own", seq % 60, seq), None, 1.0);
    }
    assert!(fleet.history().len() <= COLUMNS + 1);
}

#[test]
fn gauges_are_new_once_and_carry_the_books() {
    let mut fleet = fleet();
    let body = r#"{"at":"","age_ms":0,"by":"","took_ms":0,"handlers":[],"sinks":[],
                   "parked":{"n":3,"method":"exact"},"submitted":{"n":0,"method":"exact"}}"#;
    let row = |at: &str, body: &str| SampleRow {
        at: at.to_owned(),
        boot: "other".to_owned(),
        took_ms: 4,
        age_ms: 900,
        body: body.to_owned(),
    };
    let hear = |samples: &[(&str, SampleRow)]| {
        let samples = samples.iter().map(|(kind, row)| ((*kind).to_owned(), row.clone())).collect();
        Some(Heard { samples, ..Heard::default() })
    };
    let gauges = |messages: &[Message]| -> Vec<Gauges> {
        let of = |message: &Message| match message {
            Message::Gauges(gauges) => Some(gauges.clone()),
            _ => None,
        };
        messages.iter().filter_map(of).collect()
    };
    let (edges, _) = fleet.take(tick("own", 1, 1), hear(&[("gauges", row("t1", body))]), 1.0);
    let first = gauges(&edges);
    assert_eq!((first[0].at.as_str(), first[0].by.as_str(), first[0].age_ms), ("t1", "other", 900));
    assert_eq!((first[0].parked.n, first[0].books.clone()), (3, None));
    let (edges, _) = fleet.take(tick("own", 2, 2), hear(&[("gauges", row("t1", body))]), 1.0);
    assert_eq!(gauges(&edges), [], "the same sample");
    let books = ("books", row("t2", "[]"));
    let (edges, _) = fleet.take(tick("own", 3, 3), hear(&[("gauges", row("t1", body)), books]), 1.0);
    assert!(gauges(&edges)[0].books.as_ref().is_some_and(|books| books.holds && books.at == "t2"));
}

#[test]
fn actions_are_told_once_even_when_they_are_committed_out_of_order() {
    let mut fleet = fleet();
    let action = |id| Action {
        id,
        at: String::new(),
        actor: String::new(),
        verb: "pause".to_owned(),
        target: String::new(),
        reason: String::new(),
    };
    let mut told = |ids: &[i64]| {
        let actions = ids.iter().copied().map(action).collect();
        let (edges, _) = fleet.take(tick("own", 1, 1), Some(Heard { actions, ..Heard::default() }), 1.0);
        let id = |message: &Message| match message {
            Message::Change(action) => Some(action.id),
            _ => None,
        };
        (edges.iter().filter_map(id).collect::<Vec<_>>(), fleet.known_actions())
    };
    assert_eq!(told(&[30, 32]), (vec![30, 32], 12));
    assert_eq!(told(&[30, 31, 32]), (vec![31], 12));
}

#[test]
fn alerts_begin_and_end_once() {
    let mut fleet = fleet();
    let mut told = |body: &str| {
        let row = SampleRow {
            at: "t".to_owned(),
            boot: "other".to_owned(),
            took_ms: 0,
            age_ms: 0,
            body: body.to_owned(),
        };
        let samples = BTreeMap::from([("alerts".to_owned(), row)]);
        let (edges, _) = fleet.take(tick("own", 1, 1), Some(Heard { samples, ..Heard::default() }), 1.0);
        let alert = |message: &Message| match message {
            Message::Alert(alert) => Some((alert.id.clone(), alert.state)),
            _ => None,
        };
        edges.iter().filter_map(alert).collect::<Vec<_>>()
    };
    let firing = r#"[{"id":"a/oldest_due","handler":"a","rule":"oldest_due","state":"firing","since":"t",
                      "value":61.5,"limit":60,"unit":"seconds","text":"late"}]"#;
    assert_eq!(told(firing), [("a/oldest_due".to_owned(), AlertState::Firing)]);
    assert_eq!(told(firing), []);
    assert_eq!(told("[]"), [("a/oldest_due".to_owned(), AlertState::Resolved)]);
}

#[test]
fn what_was_counted_before_the_history_begins_is_said_apart() {
    let mut fleet = fleet();
    let rows = || vec![row("own", 0.0), row("late", 0.0)];
    let done = |ticks: &[HostTick]| -> Vec<(String, u64)> {
        ticks.iter().map(|tick| (tick.boot.clone(), tick.handlers[0].counters.done)).collect()
    };
    fleet.take(tick("own", 1, 10), heard(&[tick("late", 500, 70)], rows()), 1.0);
    assert_eq!(done(&fleet.before()), [("late".to_owned(), 70)], "nobody saw when it counted those");
    let ticks_a_column = COLUMN_MS / 1_000;
    let columns = u64::try_from(COLUMNS).expect("few");
    for seq in 2..=(columns + 2) * ticks_a_column {
        fleet.take(tick("own", seq, seq * 10), heard(&[], rows()), 1.0);
    }
    let history: Vec<HostTick> = fleet.history().into_iter().filter(|tick| tick.boot == "own").collect();
    let before = done(&fleet.before());
    assert_eq!(before, [("late".to_owned(), 70), ("own".to_owned(), 2 * ticks_a_column * 10)]);
    let first = done(&history).into_iter().map(|(_, done)| done).min();
    assert_eq!(first, Some(3 * ticks_a_column * 10), "the first column begins there");
    assert!(fleet.before().iter().all(|tick| tick.handlers[0].times.is_empty()));
}

/// A tick with these counters, and a claim if it says so.
fn counted(boot: &str, seq: u64, done: u64, failed: u64, claims: u64) -> HostTick {
    let mut tick = tick(boot, seq, done);
    let handler = &mut tick.handlers[0];
    handler.counters.failed = failed;
    handler.counters.faults = BTreeMap::from([("trap".to_owned(), failed)]);
    if claims > 0 {
        let timing = Timing { count: claims, ..Timing::default() };
        handler.times.insert(Stage::Claim.id().to_owned(), timing);
    }
    tick
}

#[test]
fn a_window_counts_what_all_hosts_did_since_its_begin_and_when_the_last_claim_was() {
    let mut fleet = fleet();
    let window = Duration::from_secs(20);
    let rows = || vec![row("own", 0.0), row("other", 0.0)];
    for seq in 1..=40 {
        // Of the other one, half a minute is known; it had failed 1,000 before it was heard.
        let other = counted("other", seq + 70, 500 + seq, 1_000, 0);
        let own = counted("own", seq, seq, seq / 10, u64::from(seq == 30));
        fleet.take(own, heard(&[other], rows()), 1.0);
    }
    let recent = fleet.recent("a", window);
    assert_eq!((recent.committed, recent.failed), (40, 2));
    assert_eq!(recent.faults[&FaultClass::Trap], 2);
    let unclaimed = recent.unclaimed.as_secs();
    assert!((5..=10).contains(&unclaimed), "a column of 5 s holds the claim of 10 s ago: {unclaimed}");
    let nobody = fleet.recent("b", window);
    assert_eq!((nobody.committed, nobody.failed, nobody.unclaimed.as_secs()), (0, 0, 40));
}

fn op(state: &str, done: u64) -> Op {
    Op {
        id: "12".to_owned(),
        verb: "replay".to_owned(),
        state: state.to_owned(),
        target: "all dead letters".to_owned(),
        total: 9,
        done,
        failed: 0,
        skipped: 0,
        actor: "ada".to_owned(),
        reason: String::new(),
        started_at: "t".to_owned(),
    }
}

#[test]
fn an_operation_is_told_when_it_moves_on_and_left_out_of_snapshots_when_it_has_ended() {
    let mut fleet = fleet();
    let mut told = |ops: Vec<Op>| {
        let (edges, _) = fleet.take(tick("own", 1, 1), Some(Heard { ops, ..Heard::default() }), 1.0);
        let done = |message: &Message| match message {
            Message::Op(op) => Some((op.state.clone(), op.done)),
            _ => None,
        };
        (edges.iter().filter_map(done).collect::<Vec<_>>(), fleet.ops().len())
    };
    assert_eq!(told(vec![op("running", 3)]), (vec![("running".to_owned(), 3)], 1));
    assert_eq!(told(vec![op("running", 3)]), (vec![], 1), "nothing is new");
    assert_eq!(told(vec![op("paused", 3)]), (vec![("paused".to_owned(), 3)], 1));
    assert_eq!(told(vec![op("finished", 9)]), (vec![("finished".to_owned(), 9)], 0));
    assert_eq!(told(vec![op("finished", 9)]), (vec![], 0));
    assert_eq!(told(Vec::new()), (vec![], 0));
}
