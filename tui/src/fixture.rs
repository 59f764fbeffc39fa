//! A fleet in trouble, for tests: two hosts, four handlers of which one fails since a deploy, a sink
//! that waits, dead letters, an operation. Everything is said as a host says it.

use serde_json::{Value, json};
use wonce_api::live::{LogLevel, Message, Samples, histogram};

use crate::desk::{Answer, Shelf};
use crate::keys::Keymap;
use crate::live::{Link, Moment, Window};
use crate::model::{Entry, Model, Screen};
use crate::net::Report;
use crate::theme::Theme;
use crate::update::{Cmd, Msg, update};

/// Seconds that the fixture's hosts have counted.
const SECONDS: u64 = 90;

fn at(second: u64) -> String {
    let then = 1_800_000_000 + i64::try_from(second).expect("small");
    jiff::Timestamp::from_second(then).expect("in range").to_string()
}

fn samples(values: impl IntoIterator<Item = u64>) -> Samples {
    let mut dense = histogram::empty();
    values.into_iter().for_each(|value| dense.record(value).expect("in bounds"));
    Samples::of(&dense)
}

/// One second of one host; counters are since its boot.
fn tick(boot: &str, second: u64) -> Value {
    let handler = |name: &str, per_second: u64, failing: bool| {
        let failed = if failing { second.saturating_sub(60) * 4 } else { 0 };
        let done = per_second * second - failed;
        let guest = (0..per_second).map(|n| 900 + n * 37 + if failing && n == 0 { 1_900_000 } else { 0 });
        let wait = (0..per_second).map(|n| 4_000 + n * 210);
        json!({
            "handler": name,
            "counters": {"accepted": per_second * second, "done": done, "failed": failed,
                "duplicates_early": second / 3, "key_conflicts": u64::from(failing) * 2,
                "faults": if failing { json!({"trap": failed}) } else { json!({}) },
                "retries": if failing { json!({"transient": failed}) } else { json!({}) },
                "dead": if failing { json!({"permanent": failed / 4}) } else { json!({}) }},
            "times": {"guest": {"count": per_second * second, "samples": samples(guest), "over": 0},
                "wait": {"count": per_second * second, "samples": samples(wait), "over": 0}},
        })
    };
    let mut handlers = vec![handler("orders.index", 12, false), handler("payments.capture", 8, true)];
    if boot == "a" {
        handlers.push(handler("emails.send", 5, false));
    }
    json!({
        "boot": boot, "seq": second, "at": at(second), "covers_ms": 1000,
        "vitals": {"permits_in_use": 3, "permits": 32, "cpu_ms": second * 410, "memory_bytes": 81_788_928_u64,
            "subscribers": 1, "log_lines_dropped": 0},
        "handlers": handlers,
        "sources": [{"source": "shop", "answers": {"202": second * 20, "409": second / 20}}],
        "sinks": [{"sink": "email", "effects": {"sending": second * 5, "confirmed": second * 5}}],
        "strays": {},
    })
}

fn count(n: u64) -> Value {
    json!({"n": n, "method": "exact"})
}

fn gauges() -> Value {
    let handler = |name: &str, state: &str, depth: u64, oldest: Option<u64>, dead: u64| {
        json!({"handler": name, "state": state, "ordering": "ordered", "version": "1.8.3", "digest": "9f86d081884c7d65",
            "depth": count(depth), "due": count(depth), "scheduled_retries": count(dead / 2),
            "oldest_due_ms": oldest, "dead": count(dead), "oldest_dead_ms": null})
    };
    let account = |handler: &str, accepted: i64, pending: i64, dead: i64| {
        json!({"handler": handler, "holds": true, "accepted": accepted, "pending": pending,
            "done": accepted - pending - dead, "ignored": 0, "dead": dead, "discarded": 0, "duplicate_late": 0,
            "expired": 0, "difference": 0, "late_to_come": 0, "findings": []})
    };
    json!({
        "at": at(SECONDS), "age_ms": 0, "by": "a", "took_ms": 3,
        "handlers": [handler("payments.capture", "active", 8_214, Some(161_000), 287),
            handler("orders.index", "active", 11, Some(400), 0), handler("emails.send", "active", 0, None, 2),
            handler("billing.invoice", "paused", 121, Some(370_000), 0)],
        "sinks": [{"sink": "email", "planned": count(42), "sending": count(2), "refused": count(0),
            "unknown": count(1), "oldest_planned_ms": 252_000}],
        "parked": count(3), "submitted": count(0),
        "books": {"at": at(SECONDS - 4), "took_ms": 12, "holds": true,
            "accounts": [account("payments.capture", 9_000, 8_214, 287), account("orders.index", 2_160, 11, 0)]},
    })
}

fn message(name: &str, data: &Value) -> Message {
    Message::parse(name, &data.to_string()).expect("it can be read").expect("it is known")
}

fn seen(boot: &str) -> Value {
    json!({"boot": boot, "name": format!("w-{boot}"), "version": "0.1.0", "state": "alive",
        "started_at": at(0), "heard_seconds_ago": 0.4})
}

fn change(id: i64, second: u64, verb: &str, target: &str, actor: &str, reason: &str) -> Value {
    json!({"id": id, "at": at(second), "actor": actor, "verb": verb, "target": target, "reason": reason})
}

/// What the hosts say to a console that begins to listen.
fn said() -> Vec<Message> {
    let hello = json!({"protocol": 1, "boot": "a", "host": "w-a", "version": "0.1.0", "database": "db",
        "now": at(SECONDS), "tick_ms": 1000, "keep_alive_ms": 5000, "resumable_frames": 300});
    let history: Vec<Value> =
        (1..=SECONDS).flat_map(|second| [tick("a", second), tick("b", second)]).collect();
    let snapshot = json!({
        "seq": 1, "now": at(SECONDS),
        "hosts": [{"seen": seen("a"), "totals": tick("a", SECONDS)}, {"seen": seen("b"), "totals": tick("b", SECONDS)}],
        "history": history, "before": [], "gauges": gauges(), "alerts": [], "ops": [],
        "changes": [change(1, 2, "deploy", "handler/orders.index", "ci", ""),
            change(2, 58, "deploy", "handler/payments.capture", "ci", "1.8.3"),
            change(3, 61, "pause", "handler/billing.invoice", "ana", "the bank is away")],
    });
    vec![message("hello", &hello), message("snapshot", &snapshot)]
}

fn moment(second: u64) -> Moment {
    Moment::from_millis(second * 1_000)
}

/// A console that has heard nothing.
pub(crate) fn silent() -> Model {
    Model::new(Theme::default(), Keymap::default(), Window::FiveMinutes, "session".to_owned())
}

/// One that follows the fixture's fleet.
pub(crate) fn full() -> Model {
    let mut model = silent();
    let link = Link::Live { at: "http://127.0.0.1:8081".to_owned(), since: moment(0) };
    let _ = update(&mut model, moment(1), Msg::Heard(Report::Link(moment(1), link)));
    for message in said() {
        let _ = update(&mut model, moment(1), Msg::Heard(Report::Message(moment(1), Box::new(message))));
    }
    for second in SECONDS + 1..SECONDS + 12 {
        let frame = json!({"seq": second, "hosts": [tick("a", second), tick("b", second)]});
        let now = moment(second - SECONDS + 1);
        let heard = Report::Message(now, Box::new(message("tick", &frame)));
        let _ = update(&mut model, now, Msg::Heard(heard));
    }
    model.look();
    model
}

/// The same after its host has gone away.
pub(crate) fn stale() -> Model {
    let mut model = full();
    let link = Link::Stale {
        since: moment(12),
        to: "http://127.0.0.1:8081".to_owned(),
        reason: "the line to http://127.0.0.1:8081 broke: connection reset".to_owned(),
        attempt: 3,
        next: moment(44),
    };
    let _ = update(&mut model, moment(41), Msg::Heard(Report::Link(moment(41), link)));
    let _ = update(&mut model, moment(41), Msg::Second);
    model.look();
    model
}

/// One that no host lets in.
pub(crate) fn refused() -> Model {
    let mut model = silent();
    let reason = "http://127.0.0.1:8081 does not let this console in (401): set WONCE_TOKEN".to_owned();
    let link = Link::Refused { since: moment(1), reason };
    let _ = update(&mut model, moment(1), Msg::Heard(Report::Link(moment(1), link)));
    model.look();
    model
}

/// Goes to a screen and answers what it asks.
pub(crate) fn show(model: &mut Model, screen: Screen) {
    let now = model.now;
    model.places.truncate(1);
    if screen != Screen::Overview {
        model.places.push(crate::model::Place::new(screen));
    }
    model.entry = Entry::Keys;
    let cmds = update(model, now, Msg::Second);
    for cmd in cmds {
        match cmd {
            Cmd::Ask { token, .. } => {
                let result = answer(model.screen()).ok_or_else(|| "nobody knows".to_owned());
                let _ = update(model, now, Msg::Answered { token, result });
            }
            Cmd::FollowLogs { round, wanted: Some(_) } => log(model, round),
            _ => {}
        }
    }
    model.look();
}

/// Two hosts say what went wrong; one of them too much.
fn log(model: &mut Model, round: u64) {
    let now = model.now;
    let line = |second: u64, level: &str, message: &str, fields: Value| json!({"at": at(second), "level": level, "message": message, "fields": fields});
    let hello = |host: &str| {
        json!({"protocol": 1, "boot": host, "host": host, "version": "0.1.0", "database": "d",
            "now": at(SECONDS), "tick_ms": 1_000, "keep_alive_ms": 15_000, "resumable_frames": 0})
    };
    let failed =
        json!({"handler": "payments.capture", "key": "p-81990", "attempt": "1", "error_class": "permanent"});
    let frames = [
        (0, "hello", hello("a")),
        (1, "hello", hello("b")),
        (
            0,
            "log",
            json!({"dropped": 0, "lines": [
            line(70, "info", "wonce is running", json!({"admin": "127.0.0.1:8081"})),
            line(80, "warn", "a delivery is dead: currency JPY has no cents", failed)]}),
        ),
        (
            1,
            "log",
            json!({"dropped": 1_243, "lines": [
            line(85, "error", "the sink email does not answer", json!({"sink": "email"}))]}),
        ),
    ];
    for (place, event, data) in frames {
        let message = Message::parse(event, &data.to_string()).expect("as a host writes it").expect("known");
        let report = Report::Message(now, Box::new(message));
        let _ = update(model, now, Msg::Logged { round, place, report });
    }
}

/// Every kind of screen.
pub(crate) fn screens() -> Vec<(&'static str, Screen)> {
    let group = wonce_api::dead_letter::Selection {
        fingerprint: Some("3877f0d2eb6a0e4d".to_owned()),
        ..wonce_api::dead_letter::Selection::default()
    };
    vec![
        ("overview", Screen::Overview),
        ("handler", Screen::Handler("payments.capture".to_owned())),
        ("groups", Screen::Groups(None)),
        ("letters", Screen::Letters(group.clone(), Shelf::Open)),
        ("discarded", Screen::Letters(group, Shelf::Discarded)),
        ("letter", Screen::Letter(287)),
        ("operations", Screen::Operations),
        ("operation", Screen::Operation(7)),
        ("event", Screen::Event { handler: "payments.capture".to_owned(), key: "p-81990".to_owned() }),
        ("hosts", Screen::Hosts),
        ("outlets", Screen::Outlets),
        ("changes", Screen::Changes),
        ("effects", Screen::Effects(None, None)),
        ("log", Screen::Logs { handler: None, level: LogLevel::Info }),
        ("help", Screen::Help),
    ]
}

fn letter(id: i64, state: &str) -> Value {
    json!({"id": id, "kind": "delivery", "state": state, "reason": "permanent", "handler": "payments.capture",
        "key": format!("p-{}", 81_703 + id), "event_type": "payment.paid", "code": "wrong-currency",
        "message": "currency JPY has no cents", "fingerprint": "3877f0d2eb6a0e4d", "round": 0, "attempts": 1,
        "owner": "team-payments", "last_failed_at": at(80), "acted_at": null})
}

fn operation() -> Value {
    json!({"id": 7, "verb": "replay", "state": "running", "filter": {"fingerprint": "3877f0d2eb6a0e4d"},
        "as_of": 287, "total": 200, "succeeded": 50, "refused": 2, "waiting": 148, "rate": 20.0,
        "seconds_left": 8, "actor": "ana", "reason": "1.8.4 is out", "created_at": at(85), "ended_at": null})
}

fn attempt() -> Value {
    json!({"round": 0, "attempt": 1, "at": at(80), "decision": "dead", "class": "permanent", "code": "wrong-currency",
        "message": "currency JPY has no cents", "duration_us": 1_250, "version": "9f86d081884c7d65", "host": "a",
        "log_tail": "order o-9 found\nno rule for JPY"})
}

fn answer(screen: &Screen) -> Option<Answer> {
    let taken = json!({"at": at(SECONDS), "scope": "fleet", "method": "exact"});
    let effect = json!({"id": 4, "sink": "email", "effect_type": "receipt", "state": "planned", "attempts": 2,
        "dedup_key": "k", "planned_at": at(70), "settled_at": null, "last_error": "503 from mail.example.com"});
    Some(match screen {
        Screen::Groups(_) => Answer::Groups(read(json!({"taken": taken, "as_of": 287, "groups": [
            {"fingerprint": "3877f0d2eb6a0e4d", "handler": "payments.capture", "kind": "delivery",
                "reason": "permanent", "class": "permanent", "code": "wrong-currency",
                "message": "currency JPY has no cents", "owner": "team-payments", "entries": 271, "last_hour": 271,
                "first_failed_at": at(60), "last_failed_at": at(80), "oldest": 17, "newest": 287,
                "versions": [{"digest": "9f86d081884c7d65", "label": "1.8.3", "entries": 271}]},
            {"fingerprint": "0f5b", "handler": null, "kind": "parked", "reason": "unroutable", "class": null,
                "code": "unroutable", "message": "no handler wants order.cancelled", "owner": null, "entries": 3,
                "last_hour": 0, "first_failed_at": at(5), "last_failed_at": at(9), "oldest": 1, "newest": 3,
                "versions": []}]}))),
        Screen::Letters(_, shelf) => {
            Answer::Letters(read(json!({"taken": taken, "total": 271, "as_of": 287,
            "oldest_failed_at": at(60), "newest_failed_at": at(80),
            "dead_letters": (257..=287).rev().map(|id| letter(id, shelf.state())).collect::<Vec<_>>()})))
        }
        Screen::Letter(id) => {
            Answer::Letter(Box::new(read(json!({"taken": taken, "summary": letter(*id, "dead"),
            "class": "permanent", "version": "9f86d081884c7d65", "accepted_at": at(79), "first_failed_at": at(80),
            "via": "shop", "source": "shop", "event_id": "evt-9", "subject": null, "event_time": null,
            "content_type": "application/json", "data_schema": null, "traceparent": null, "extensions": [],
            "key_rule": "/payment_id", "ordering_key": "o-9", "payload_hash": "aa", "hash_rule": "json",
            "payload": {"encoding": "text", "body": "{\"payment_id\":\"p-81990\",\"amount\":12345678901234567890,\"lines\":[1,2]}", "bytes": 66},
            "attempts": [attempt()], "original": null, "standing": "dead", "effects": [effect],
            "actions": [change(9, 84, "replay", "dead-letter/287", "ana", "again")]}))))
        }
        Screen::Effects(..) => Answer::Effects(read(json!({"taken": taken, "effects": [
            {"handler": "payments.capture", "key": "p-81990", "due_in_seconds": 12, "id": 4, "sink": "email",
                "effect_type": "receipt", "state": "planned", "attempts": 2, "dedup_key": "k",
                "planned_at": at(70), "settled_at": null, "last_error": "503 from mail.example.com"},
            {"handler": "payments.capture", "key": "p-81703", "due_in_seconds": null, "id": 3, "sink": "email",
                "effect_type": "receipt", "state": "refused", "attempts": 1, "dedup_key": "l",
                "planned_at": at(60), "settled_at": at(61), "last_error": "422: no such address"}]}))),
        Screen::Operations => Answer::Operations(read(json!({"taken": taken, "operations": [operation()]}))),
        Screen::Operation(_) => {
            Answer::Operation(Box::new(read(json!({"taken": taken, "operation": operation(),
            "refusals": [{"result": "the key is settled already", "items": 2}],
            "actions": [change(8, 85, "replay", "operation/7", "ana", "1.8.4 is out")]}))))
        }
        Screen::Event { key, .. } => {
            Answer::Event(Box::new(read(json!({"taken": taken, "handler": "payments.capture",
            "key": key, "standing": "dead", "accepted": {"at": at(79), "via": "shop", "source": "shop",
                "event_id": "evt-9", "event_type": "payment.paid", "key_rule": "/payment_id", "ordering_key": "o-9",
                "payload_hash": "aabb", "hash_rule": "json", "traceparent": null, "bytes": 66},
            "waiting": null, "attempts": [attempt()], "effects": [], "duplicates": [{"at": at(82), "via": "shop",
                "after_seconds": 3}], "dead_letters": [letter(287, "dead")], "actions": [],
            "outcome": {"outcome": "dead", "ignored_reason": null, "at": at(80), "round": 0, "attempts": 1,
                "version": "9f86d081884c7d65", "xact": "812"}}))))
        }
        Screen::Handler(name) => {
            Answer::Handler(Box::new(read(json!({"taken": taken, "summary": {"name": name,
                "state": "active", "ordering": "ordered", "owner": "team-payments",
                "version": {"digest": "9f86d081884c7d65", "label": "1.8.3"}, "pending": 8214, "due": 8214,
                "scheduled_retries": 143, "dead_letters": 287},
            "previous_version": {"digest": "60303ae22b998861", "label": "1.8.2"}, "deployed_by": "ci",
            "deployed_at": at(58), "login_role": "wonce_x_payments", "policy": {"batch": 50, "deadline": "5s"},
            "blocked": [{"ordering_key": "o-9", "head": "p-81990", "attempts": 2, "due_at": at(120),
                "message": "order \"o-9\" is not there yet", "followers": 4}], "actions": []}))))
        }
        Screen::Overview
        | Screen::Hosts
        | Screen::Outlets
        | Screen::Changes
        | Screen::Logs { .. }
        | Screen::Help => return None,
    })
}

fn read<T: serde::de::DeserializeOwned>(document: Value) -> T {
    serde_json::from_value(document).expect("as the API writes it")
}
