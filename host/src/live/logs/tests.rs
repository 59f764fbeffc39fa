use std::collections::BTreeMap;

use wonce_api::live::LogLine;

use super::super::hub::About;
use super::*;
use crate::telemetry::logs::tail::Level;

const ALL: Wanted = Wanted { level: Level::Info, handler: None };

fn hub() -> Arc<Hub> {
    Hub::new(About { boot: "b".to_owned(), name: "h".to_owned(), database: "d".to_owned() })
}

fn tail(lines: usize) -> &'static Tail {
    Box::leak(Box::new(Tail::of(lines, 1 << 20)))
}

fn logs(tail: &'static Tail) -> Logs {
    let pace = Pace { batch_pause: Duration::from_millis(1), keep_alive: Duration::from_millis(250) };
    Logs { pace, ..Logs::new(tail) }
}

fn say(tail: &Tail, level: Level, message: &str) {
    let line = LogLine {
        at: String::new(),
        level: level.as_str().to_owned(),
        message: message.to_owned(),
        fields: BTreeMap::new(),
    };
    tail.push(level, line);
}

/// The event's name, and of a batch the id, the lines and how many were dropped.
async fn next(reader: &mut LogReader) -> (String, u64, Vec<String>, u64) {
    loop {
        let bytes = reader.next().await.expect("the stream goes on");
        let text = std::str::from_utf8(&bytes).expect("UTF-8");
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        let Some(event) = field("event: ") else { continue };
        let message = Message::parse(event, field("data: ").expect("data")).expect("its document");
        let seq = field("id: ").map_or(0, |id| id.parse::<Cursor>().expect("a cursor").seq);
        let (lines, dropped) = match message {
            Some(Message::Log(batch)) => {
                (batch.lines.into_iter().map(|line| line.message).collect(), batch.dropped)
            }
            _ => (Vec::new(), 0),
        };
        return (event.to_owned(), seq, lines, dropped);
    }
}

#[tokio::test]
async fn a_reader_gets_the_last_lines_and_then_the_next_in_batches() {
    let (hub, tail) = (hub(), tail(10));
    say(tail, Level::Info, "before");
    let mut reader = logs(tail).read(&hub, ALL, None).expect("a place");
    assert_eq!(next(&mut reader).await.0, "hello");
    assert_eq!(next(&mut reader).await, ("log".to_owned(), 1, vec!["before".to_owned()], 0));
    say(tail, Level::Warn, "one");
    say(tail, Level::Info, "two");
    let both = vec!["one".to_owned(), "two".to_owned()];
    assert_eq!(next(&mut reader).await, ("log".to_owned(), 3, both, 0));
    let cursor = Cursor { boot: "b".to_owned(), seq: 2 };
    let mut again = logs(tail).read(&hub, ALL, Some(&cursor)).expect("a place");
    next(&mut again).await;
    assert_eq!(next(&mut again).await.2, ["two"], "it goes on behind what it had");
}

#[tokio::test]
async fn lines_that_are_not_wanted_are_no_loss_and_those_that_came_too_fast_are_counted() {
    let (hub, tail) = (hub(), tail(3));
    let warnings = Wanted { level: Level::Warn, handler: None };
    let mut reader = logs(tail).read(&hub, warnings, None).expect("a place");
    next(&mut reader).await;
    next(&mut reader).await;
    for _ in 0..4 {
        for _ in 0..2 {
            say(tail, Level::Info, "unwanted");
        }
        let alive = reader.next().await.expect("the stream goes on");
        assert_eq!(alive, wire::KEEP_ALIVE, "there is nothing to say");
    }
    for message in ["1", "2", "3", "4", "5"] {
        say(tail, Level::Warn, message);
    }
    let (_, _, lines, dropped) = next(&mut reader).await;
    assert_eq!((lines, dropped), (vec!["3".to_owned(), "4".to_owned(), "5".to_owned()], 2));
}

#[tokio::test]
async fn places_are_few_and_come_back_and_a_stop_ends_every_stream() {
    let (hub, logs) = (hub(), logs(tail(3)));
    let mut readers: Vec<LogReader> =
        (0..MAX_LOG_READERS).map(|_| logs.read(&hub, ALL, None).expect("a place")).collect();
    assert_eq!(logs.read(&hub, ALL, None).err(), Some(Full));
    readers.pop();
    let mut reader = logs.read(&hub, ALL, None).expect("one was given back");
    next(&mut reader).await;
    next(&mut reader).await;
    hub.close();
    assert_eq!(next(&mut reader).await.0, "bye");
    assert!(reader.next().await.is_none());
    assert_eq!(logs.read(&hub, ALL, None).err(), Some(Full));
}
