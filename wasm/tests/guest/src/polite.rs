//! What a handler may do, and what it may say.

use crate::exports::wonce::handler::events::{Delivery, Event, Failure, Outcome};
use crate::wonce::handler::types::{Fault, Retry};
use crate::wonce::handler::{config, context, log, outbox, sql};

pub fn run(command: &str, argument: &str, event: &Event, delivery: &Delivery) -> Result<Outcome, Failure> {
    match command {
        "done" => Ok(Outcome::Done),
        "ignored" => Ok(Outcome::Ignored(argument.to_owned())),
        "retry" => Err(Failure::Retry(Retry { fault: fault("try-later"), after_ms: argument.parse().ok() })),
        "permanent" => Err(Failure::Permanent(fault("no-such-order"))),
        "rejected" => Err(Failure::Rejected(fault("bad-payload"))),
        "huge-error" => Err(Failure::Permanent(Fault { message: "x".repeat(30 << 20), ..fault("huge") })),
        "facts" => answer(format!("{delivery:?} {} {:?} {:?}", event.id, event.time, event.extensions)),
        "context" => answer(format!("{} {}", context::now(), context::stable_uuid(argument))),
        "remaining" => answer(context::remaining_ms().to_string()),
        "setting" => answer(format!("{:?}", config::get(argument))),
        "log" => {
            log::write(log::Level::Warn, "hello", &[("n".to_owned(), "1".to_owned())]);
            println!("on stdout");
            Ok(Outcome::Done)
        }
        "system" => answer(system()),
        "random" => answer(random()),
        "clock" => answer(clock()),
        "sql" => answer(format!("{:?}", sql::execute(argument, &[]))),
        "queue" => answer(format!("{:?}", sql::queue(argument, &[]))),
        "queue-then-sql" => {
            let queued: Vec<_> = argument.split(", ").map(|statement| sql::queue(statement, &[])).collect();
            let waited = sql::execute("select last", &[]);
            log::write(log::Level::Info, &format!("{queued:?} {waited:?}"), &[]);
            Ok(Outcome::Done)
        }
        "queue-until-refused" => answer(queue_until_refused()),
        "queue-flood" => loop {
            let _ = sql::queue("select 1", &[]);
        },
        "queue-then-done" => {
            let _ = sql::queue(argument, &[]);
            Ok(Outcome::Done)
        }
        "sql-until-refused" => answer(sql_until_refused()),
        "sql-then-done" => {
            let _ = sql::execute(argument, &[]);
            let second = sql::execute("select 1", &[]);
            log::write(log::Level::Info, &format!("{second:?}"), &[]);
            Ok(Outcome::Done)
        }
        "sql-then-panic" => {
            sql::execute(argument, &[]).expect("the statement works");
            Ok(Outcome::Done)
        }
        "sql-then-permanent" => {
            let _ = sql::execute(argument, &[]);
            Err(Failure::Permanent(fault("gave-up")))
        }
        "echo" => answer(echo()),
        "emit" => answer(format!("{:?}", emit(argument, |_| {}))),
        "emit-twice" => answer(format!("{:?} {:?}", emit(argument, |_| {}), emit(argument, |_| {}))),
        "emit-bad" => answer(emit_bad(argument)),
        "emit-until-refused" => answer(emit_until_refused(argument)),
        "emit-after-failure" => {
            let _ = sql::execute("select fail_23505", &[]);
            answer(format!("{:?}", emit(argument, |_| {})))
        }
        other => {
            Err(Failure::Rejected(Fault { message: format!("no command {other:?}"), ..fault("unknown") }))
        }
    }
}

fn answer(text: String) -> Result<Outcome, Failure> {
    Ok(Outcome::Ignored(text))
}

fn fault(code: &str) -> Fault {
    Fault { code: code.to_owned(), message: "as asked".to_owned(), details: None }
}

fn system() -> String {
    let passwd = std::fs::read("/etc/passwd").map_err(|error| error.kind());
    let root = std::fs::read_dir("/").map(|_| ()).map_err(|error| error.kind());
    let port = std::net::TcpStream::connect("127.0.0.1:5432").map(|_| ()).map_err(|error| error.kind());
    let mut line = String::new();
    let stdin = std::io::stdin().read_line(&mut line).map_err(|error| error.kind());
    format!(
        "passwd {passwd:?}; root {root:?}; port {port:?}; vars {}; args {}; stdin {stdin:?}",
        std::env::vars().count(),
        std::env::args().count(),
    )
}

/// A map's seed is the only randomness that std gives away.
fn random() -> String {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(1).to_string()
}

fn clock() -> String {
    let started = std::time::Instant::now();
    std::thread::sleep(std::time::Duration::from_millis(5));
    let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!("{} {}", wall.map_or(0, |wall| wall.as_micros()), started.elapsed().as_millis() >= 4)
}

fn sql_until_refused() -> String {
    let mut count = 0;
    loop {
        match sql::execute("select 1", &[]) {
            Ok(_) => count += 1,
            Err(error) => return format!("{count} {error:?}"),
        }
    }
}

fn queue_until_refused() -> String {
    let mut count = 0;
    loop {
        match sql::queue("select 1", &[]) {
            Ok(()) => count += 1,
            Err(error) => return format!("{count} {error:?}"),
        }
    }
}

/// Sends one value of every case and looks whether each comes back.
fn echo() -> String {
    use sql::Value::*;
    let text = || "text".to_owned();
    let sent = vec![
        Null,
        Boolean(true),
        Int2(-2),
        Int4(-4),
        Int8(i64::MIN),
        Float4(0.5),
        Float8(-0.25),
        Numeric("1.50".to_owned()),
        Text(text()),
        Bytea(vec![0, 255]),
        Uuid("00000000-0000-0000-0000-000000000001".to_owned()),
        Date(-1),
        Time(1),
        Timestamp(2),
        Timestamptz(i64::MAX),
        Interval(sql::Interval { months: 1, days: -2, micros: 3 }),
        Json("{}".to_owned()),
        Jsonb("[]".to_owned()),
        BooleanArray(vec![Some(true), None]),
        Int4Array(vec![Some(1), None]),
        Int8Array(vec![None, Some(2)]),
        Float8Array(vec![Some(1.5)]),
        TextArray(vec![Some(text()), None]),
        UuidArray(vec![None]),
        Other(sql::OtherValue { type_name: "int4range".to_owned(), text: "[1,2)".to_owned() }),
    ];
    match sql::query("select echo", &sent) {
        Ok(set) => format!("{} {}", set.rows == [sent], set.columns.len()),
        Err(error) => format!("{error:?}"),
    }
}

fn emit(sink: &str, change: impl FnOnce(&mut outbox::Effect)) -> Result<String, outbox::Error> {
    let mut effect = outbox::Effect {
        sink: sink.to_owned(),
        type_: "order.paid".to_owned(),
        datacontenttype: Some("application/json".to_owned()),
        data: b"{}".to_vec(),
        ordering_key: None,
        dedup_key: None,
        delay_ms: None,
        attributes: vec![("region".to_owned(), "eu".to_owned())],
    };
    change(&mut effect);
    outbox::emit(&effect)
}

fn emit_bad(sink: &str) -> String {
    let refused =
        |change: fn(&mut outbox::Effect)| matches!(emit(sink, change), Err(outbox::Error::Refused(_)));
    let all = [
        refused(|effect| effect.type_.clear()),
        refused(|effect| effect.type_ = "x".repeat(257)),
        refused(|effect| effect.type_.push('\0')),
        refused(|effect| effect.datacontenttype = Some("a\r\nb: c".to_owned())),
        refused(|effect| effect.dedup_key = Some(String::new())),
        refused(|effect| effect.dedup_key = Some("a\0b".to_owned())),
        refused(|effect| effect.ordering_key = Some("x".repeat(513))),
        refused(|effect| effect.delay_ms = Some(u64::MAX)),
        refused(|effect| effect.attributes = vec![("Bad Name".to_owned(), String::new())]),
        refused(|effect| effect.attributes = vec![("ok".to_owned(), "a\nb".to_owned())]),
        refused(|effect| effect.attributes = vec![("ok".to_owned(), String::new()); 65]),
    ];
    format!("{all:?}")
}

fn emit_until_refused(sink: &str) -> String {
    let mut count = 0;
    loop {
        match emit(sink, |effect| effect.data = vec![0; 1000]) {
            Ok(_) => count += 1,
            Err(error) => return format!("{count} {error:?}"),
        }
    }
}
