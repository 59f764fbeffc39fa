use wonce_api::live::tick::{Strays, Vitals};

use super::*;

fn hub() -> Arc<Hub> {
    let about = About { boot: "b".to_owned(), name: "h".to_owned(), database: "d".to_owned() };
    Hub::new(about)
}

fn beat(hub: &Hub, seq: u64) {
    let tick = HostTick {
        boot: "b".to_owned(),
        seq,
        at: String::new(),
        covers_ms: 1_000,
        vitals: Vitals::default(),
        handlers: Vec::new(),
        sources: Vec::new(),
        sinks: Vec::new(),
        strays: Strays::default(),
    };
    hub.beat(tick, None, 1.0);
}

/// The event's name, its id and the time that its ticks cover.
fn read(bytes: &Bytes) -> (String, Option<u64>, u64) {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
    let event = field("event: ").expect("an event");
    let data = field("data: ").expect("data");
    let covered = match Message::parse(&event, &data).expect("its document").expect("known") {
        Message::Tick(tick) => tick.hosts.iter().map(|host| host.covers_ms).sum(),
        _ => 0,
    };
    let seq = field("id: ").map(|id| id.parse::<Cursor>().expect("a cursor").seq);
    (event, seq, covered)
}

async fn next(reader: &mut Reader) -> (String, Option<u64>, u64) {
    read(&reader.next().await.expect("the stream goes on"))
}

#[tokio::test]
async fn a_stream_begins_with_hello_and_all_that_is_known_and_goes_on_frame_by_frame() {
    let hub = hub();
    beat(&hub, 1);
    let mut reader = hub.read(None).expect("a place");
    assert_eq!(next(&mut reader).await, ("hello".to_owned(), None, 0));
    assert_eq!(next(&mut reader).await, ("snapshot".to_owned(), Some(1), 0));
    beat(&hub, 2);
    assert_eq!(next(&mut reader).await, ("tick".to_owned(), Some(2), 1_000));
}

#[tokio::test]
async fn a_reader_that_comes_back_gets_what_it_missed_as_one_tick() {
    let hub = hub();
    (1..=9).for_each(|seq| beat(&hub, seq));
    let mut reader = hub.read(Some(Cursor { boot: "b".to_owned(), seq: 4 })).expect("a place");
    assert_eq!(next(&mut reader).await.0, "hello");
    assert_eq!(next(&mut reader).await, ("tick".to_owned(), Some(9), 5_000));
}

#[tokio::test]
async fn a_reader_of_another_boot_or_after_too_long_a_gap_gets_a_snapshot() {
    let hub = hub();
    let kept = u64::try_from(KEPT_FRAMES).expect("few");
    (1..=kept + 5).for_each(|seq| beat(&hub, seq));
    for from in [Cursor { boot: "a".to_owned(), seq: kept }, Cursor { boot: "b".to_owned(), seq: 3 }] {
        let mut reader = hub.read(Some(from)).expect("a place");
        assert_eq!(next(&mut reader).await.0, "hello");
        assert_eq!(next(&mut reader).await.0, "snapshot");
    }
}

#[tokio::test]
async fn a_reader_that_is_late_gets_one_tick_for_many_and_one_that_is_very_late_a_snapshot() {
    let hub = hub();
    beat(&hub, 1);
    let mut reader = hub.read(None).expect("a place");
    next(&mut reader).await;
    next(&mut reader).await;
    (2..=1 + MAX_LAG).for_each(|seq| beat(&hub, seq));
    assert_eq!(next(&mut reader).await, ("tick".to_owned(), Some(1 + MAX_LAG), MAX_LAG * 1_000));
    (12..=12 + MAX_LAG).for_each(|seq| beat(&hub, seq));
    assert_eq!(next(&mut reader).await, ("snapshot".to_owned(), Some(12 + MAX_LAG), 0));
    beat(&hub, 99);
    assert_eq!(next(&mut reader).await.0, "tick", "and goes on from there");
}

#[tokio::test]
async fn a_host_that_stops_says_goodbye_and_takes_no_more_readers() {
    let hub = hub();
    beat(&hub, 1);
    let mut reader = hub.read(None).expect("a place");
    next(&mut reader).await;
    next(&mut reader).await;
    hub.close();
    assert_eq!(next(&mut reader).await.0, "bye");
    assert!(reader.next().await.is_none());
    assert_eq!(hub.read(None).expect_err("it stops"), Full);
}

#[tokio::test]
async fn readers_are_bounded_and_one_that_does_not_read_gives_way() {
    let hub = hub();
    beat(&hub, 1);
    let mut readers: Vec<Reader> =
        (0..MAX_READERS).map(|_| hub.read(None).expect("a place for each")).collect();
    assert_eq!(hub.read(None).expect_err("all places are taken"), Full);
    readers[7].place().read_last(IDLE_READER * 2);
    let _late = hub.read(None).expect("the place of the one that does not read");
    assert_eq!(next(&mut readers[7]).await.0, "bye");
    assert_eq!(hub.read(None).expect_err("all places are taken again"), Full);
    readers.pop();
    hub.read(None).expect("the place of the one that left");
}
