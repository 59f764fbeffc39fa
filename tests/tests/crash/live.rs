//! The live stream of two real hosts on one database: whoever is asked answers for both.

use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use wonce_api::live::Stage;
use wonce_tests::child::database::Database;
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::sender::{Event, Sender};
use wonce_tests::child::setup::Setup;
use wonce_tests::child::stream::Stream;
use wonce_tests::child::{Doors, Host, verb};
use wonce_tests::wait::until;

/// A bimodal distribution: most are fast, some are slow.
fn sleep_of(number: u32) -> f64 {
    match number % 10 {
        0 => 0.9 + f64::from(number) / 1_000.0,
        _ => 0.05 + f64::from(number) / 2_000.0,
    }
}

fn event(number: u32, seconds: f64) -> Event {
    let sleep = format!("select pg_sleep({seconds})");
    Event { id: format!("e{number}"), script: json!({"steps": [{"sql": sleep}]}) }
}

async fn send(doors: &[Doors], events: Vec<Event>) {
    let addresses: Vec<_> = doors.iter().map(|doors| doors.http).collect();
    let (sender, _hosts) = Sender::new(&addresses);
    stream::iter(events)
        .for_each_concurrent(8, |event| {
            let sender = sender.clone();
            async move { sender.send(&event).await }
        })
        .await;
}

fn quick(from: u32, to: u32) -> Vec<Event> {
    (from..to).map(|number| event(number, 0.0)).collect()
}

#[tokio::test]
async fn one_host_tells_the_truth_of_two() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let (one, two) = (Setup::new(&database, receiver.address), Setup::new(&database, receiver.address));
    let (first, first_doors) = Host::start(&one).await;
    let (second, second_doors) = Host::start(&two).await;
    let mut stream = Stream::open(first_doors.admin, None).await;
    stream.until("both hosts are seen", |s| s.hosts.len() == 2 && s.done.len() == 2).await;
    assert_eq!(stream.first, ["hello", "snapshot"]);

    let count = 120;
    send(&[first_doors, second_doors], (0..count).map(|number| event(number, sleep_of(number))).collect())
        .await;
    let all = u64::from(count);
    stream.until("every delivery is counted", |s| s.done("probe") == all).await;
    stream.until("every sample has come", |s| s.samples(Stage::EndToEnd) == all).await;
    assert!(stream.done.values().all(|handlers| handlers.contains_key("probe")), "both took part");

    // The database's own record of the same deliveries: from acceptance to settlement.
    let record = "SELECT (extract(epoch FROM processed_at - accepted_at) * 1e6)::bigint::text
                  FROM wonce.processed_events ORDER BY processed_at - accepted_at";
    let record = database.texts(record).await;
    let exact: Vec<u64> = record.iter().map(|micros| micros.parse().expect("a number")).collect();
    let merged = &stream.samples[&Stage::EndToEnd];
    for (quantile, rank) in [(0.5, 60), (0.9, 108), (0.95, 114), (0.99, 119)] {
        let truth = exact[rank - 1];
        let read = merged.value_at_quantile(quantile);
        // One per cent of the histogram, and the commit itself, which the record does not hold.
        let (low, high) = (truth - truth / 100, truth + truth / 100 + 60_000);
        assert!((low..=high).contains(&read), "p{}: {read} µs, in truth {truth}", quantile * 100.0);
    }

    let holds = |s: &Stream| {
        let gauges = s.gauges.as_ref();
        gauges.is_some_and(|g| g.handlers.iter().all(|h| h.depth.n == 0 && h.dead.n == 0))
    };
    stream.until("the gauges show an empty inbox", holds).await;
    first.stop().await;
    second.stop().await;
    database.books_hold().await;
    database.close().await;
}

#[tokio::test]
async fn a_killed_host_falls_silent_and_the_counts_stay() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let (one, two) = (Setup::new(&database, receiver.address), Setup::new(&database, receiver.address));
    let (stays, stays_doors) = Host::start(&one).await;
    let (mut dies, dies_doors) = Host::start(&two).await;
    send(&[dies_doors], quick(0, 20)).await;
    let mut stream = Stream::open(stays_doors.admin, None).await;
    stream.until("all deliveries are counted", |s| s.done("probe") == 20).await;
    let latest = "SELECT boot_id::text FROM wonce.host ORDER BY started_at DESC LIMIT 1";
    let other = &database.texts(latest).await[0];
    assert_eq!(stream.state(other), "alive");
    dies.kill().await;
    stream.until("it is seen as silent", |s| s.state(other) == "silent").await;
    assert_eq!(stream.done("probe"), 20, "what it did stays done");
    send(&[stays_doors], quick(20, 25)).await;
    stream.until("the other one goes on", |s| s.done("probe") == 25).await;
    stays.stop().await;
    database.close().await;
}

#[tokio::test]
async fn a_stream_that_broke_goes_on_where_it_was_and_begins_anew_at_another_boot() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let setup = Setup::new(&database, receiver.address);
    let (host, doors) = Host::start(&setup).await;
    let mut stream = Stream::open(doors.admin, None).await;
    send(&[doors], quick(0, 10)).await;
    stream.until("ten are done", |s| s.done("probe") == 10 && s.samples(Stage::EndToEnd) == 10).await;
    let cursor = stream.cursor.clone().expect("frames have one");
    drop(stream);
    send(&[doors], quick(10, 30)).await;
    until("they are settled", async || {
        database.number("SELECT count(*) FROM wonce.processed_events").await == 30
    })
    .await;
    let mut stream = Stream::open(doors.admin, Some(&cursor)).await;
    let is_whole = |s: &Stream| s.done("probe") == 30 && s.samples(Stage::EndToEnd) >= 20;
    stream.until("what was missed has come", is_whole).await;
    assert_ne!(stream.first[1], "snapshot");
    assert_eq!(stream.samples(Stage::EndToEnd), 20, "exactly the samples of the gap");

    let cursor = stream.cursor.clone().expect("frames have one");
    host.stop().await;
    let (again, doors) = Host::start(&setup).await;
    let mut stream = Stream::open(doors.admin, Some(&cursor)).await;
    stream.until("it begins", |s| s.first.len() == 2).await;
    assert_eq!(stream.first, ["hello", "snapshot"]);
    again.stop().await;
    database.close().await;
}

#[tokio::test]
async fn a_reader_that_never_reads_slows_nobody() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let setup = Setup::new(&database, receiver.address);
    let (host, doors) = Host::start(&setup).await;
    let mut stalled = TcpStream::connect(doors.admin).await.expect("connected");
    stalled.write_all(b"GET /v1/live HTTP/1.1\r\nhost: localhost\r\n\r\n").await.expect("asked");
    let mut stream = Stream::open(doors.admin, None).await;
    send(&[doors], quick(0, 200)).await;
    stream.until("all are done", |s| s.done("probe") == 200).await;
    host.stop().await;
    drop(stalled);
    database.close().await;
}

#[tokio::test]
async fn a_host_that_does_no_item_tells_how_far_an_operation_is() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let (one, two) = (Setup::new(&database, receiver.address), Setup::new(&database, receiver.address));
    let (first, first_doors) = Host::start(&one).await;
    let (second, second_doors) = Host::start(&two).await;
    let hopeless = |number| Event {
        id: format!("e{number}"),
        script: json!({"steps": [], "end": {"permanent": {"code": "no"}}}),
    };
    send(&[first_doors], (0..6).map(hopeless).collect()).await;
    until("all are dead", async || database.number("SELECT count(*) FROM wonce.dead_letter").await == 6)
        .await;
    let mut streams =
        [Stream::open(first_doors.admin, None).await, Stream::open(second_doors.admin, None).await];
    let connect = format!("http://{}", first_doors.admin);
    let words =
        ["dead", "discard", "--handler", "probe", "--expect", "6", "--rate", "2", "--reason", "a test"];
    let begun = verb(&[&words[..], &["--connect", &connect]].concat()).await;
    assert!(begun.status.success(), "{}", String::from_utf8_lossy(&begun.stderr));
    for stream in &mut streams {
        let is_over = |s: &Stream| s.ops.last().is_some_and(|op| op.state == "finished");
        stream.until("its end is told", is_over).await;
        let (first, last) = (&stream.ops[0], &stream.ops[stream.ops.len() - 1]);
        assert_eq!((first.state.as_str(), first.total), ("running", 6), "it was told before its end");
        assert_eq!((last.verb.as_str(), last.done, last.failed), ("discard", 6, 0));
        assert_eq!(last.target, "handler probe");
        assert!(stream.ops.is_sorted_by_key(|op| op.done), "{:?}", stream.ops);
    }
    first.stop().await;
    second.stop().await;
    database.close().await;
}

#[tokio::test]
async fn log_lines_come_by_level_and_handler_to_whoever_asks() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let (host, doors) = Host::start(&Setup::new(&database, receiver.address)).await;
    let mut all = Stream::open_logs(doors.admin, "level=info").await;
    all.until("a line from before", |s| s.logs.iter().any(|l| l.message == "wonce is running")).await;
    assert_eq!(all.first, ["hello", "log"]);
    let mut warnings = Stream::open_logs(doors.admin, "level=warn&handler=probe").await;
    let mut nobodys = Stream::open_logs(doors.admin, "handler=another").await;
    let script = json!({"steps": [], "end": {"permanent": {"code": "no"}}});
    send(&[doors], vec![Event { id: "e1".to_owned(), script }]).await;
    warnings.until("the handler's failure is shown", |s| !s.logs.is_empty()).await;
    let line = &warnings.logs[0];
    assert_eq!(line.fields["handler"], "probe");
    assert!(line.fields["key"].contains("e1"), "{line:?}");
    assert!(warnings.logs.iter().all(|l| l.level != "info" && l.fields["handler"] == "probe"));
    nobodys.until("its first batch", |s| s.first.len() == 2).await;
    assert_eq!(nobodys.logs, []);
    host.stop().await;
    database.close().await;
}
