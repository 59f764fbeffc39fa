use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use wonce_api::live::{Hello, Tick};

use super::*;

/// A host of tests: answers one connection after the other with what the list says, and tells what
/// was asked.
async fn host(answers: Vec<String>) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("bound"));
    let (asked, requests) = mpsc::channel(16);
    tokio::spawn(async move {
        for answer in answers {
            let (mut socket, _) = listener.accept().await.expect("a caller");
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let byte = socket.read_u8().await.expect("a request");
                request.push(byte);
            }
            asked.send(String::from_utf8_lossy(&request).into_owned()).await.expect("the test listens");
            socket.write_all(answer.as_bytes()).await.expect("the caller reads");
        }
    });
    (address, requests)
}

fn stream(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}")
}

fn refusal(status: &str, header: &str, detail: &str) -> String {
    let body =
        format!(r#"{{"type":"urn:x","title":"no","status":400,"detail":"{detail}","instance":"/v1/live"}}"#);
    format!("HTTP/1.1 {status}\r\n{header}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn event(message: &Message, id: Option<&str>) -> String {
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    format!("event: {}\n{id}data: {}\n\n", message.event(), message.data().expect("JSON"))
}

fn hello(protocol: u32) -> Message {
    Message::Hello(Hello {
        protocol,
        boot: "b".to_owned(),
        host: "h".to_owned(),
        version: "1".to_owned(),
        database: "d".to_owned(),
        now: "2026-01-01T00:00:00Z".to_owned(),
        tick_ms: 1_000,
        keep_alive_ms: 5_000,
        resumable_frames: 300,
    })
}

fn tick(seq: u64) -> Message {
    Message::Tick(Tick { seq, hosts: Vec::new() })
}

fn start(addresses: &[&str]) -> mpsc::Receiver<Report> {
    let targets = addresses.iter().map(|address| address.parse().expect("an address")).collect();
    let hosts = Hosts::new(targets, Some("secret".to_owned())).expect("clients");
    let (out, reports) = mpsc::channel(MAX_REPORTS);
    tokio::spawn(follow(hosts, Feed::Live, Clock::new(), out, |report| report));
    reports
}

/// What a report is, without its time.
fn shown(report: Report) -> String {
    match report {
        Report::Link(_, Link::Connecting { .. }) => "connecting".to_owned(),
        Report::Link(_, Link::Live { .. }) => "live".to_owned(),
        Report::Link(_, Link::Stale { reason, .. }) => format!("stale: {reason}"),
        Report::Link(_, Link::Refused { reason, .. }) => format!("refused: {reason}"),
        Report::Message(_, message) => message.event().to_owned(),
        Report::Skipped(_) => "skipped".to_owned(),
    }
}

async fn take(reports: &mut mpsc::Receiver<Report>, n: usize) -> Vec<String> {
    let mut taken = Vec::new();
    while taken.len() < n {
        taken.push(shown(reports.recv().await.expect("it goes on")));
    }
    taken
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_resumed_where_it_was() {
    let first = [event(&hello(1), None), event(&tick(7), Some("b:7")), event(&tick(8), None)].concat();
    let second =
        [event(&hello(1), None), ":\n\nevent: news\ndata: {}\n\n".to_owned(), event(&tick(9), Some("b:9"))];
    let (address, mut requests) = host(vec![stream(&first), stream(&second.concat())]).await;
    let mut reports = start(&[&address]);
    let seen = take(&mut reports, 9).await;
    let ended = format!("stale: {address} ended the stream");
    assert_eq!(seen, ["connecting", "live", "hello", "tick", "tick", &ended, "live", "hello", "skipped"]);
    assert_eq!(take(&mut reports, 1).await, ["tick"]);
    let asked = [requests.recv().await.expect("asked"), requests.recv().await.expect("asked again")];
    assert!(asked.iter().all(|request| request.contains("authorization: Bearer secret")), "{asked:?}");
    assert!(!asked[0].contains("last-event-id"), "{}", asked[0]);
    assert!(asked[1].contains("last-event-id: b:7\r\n"), "{}", asked[1]);
}

#[tokio::test]
async fn a_host_that_is_gone_is_followed_by_the_next_one() {
    // Bound and not listened on: nobody else gets this port meanwhile.
    let silent = tokio::net::TcpSocket::new_v4().expect("a socket");
    silent.bind("127.0.0.1:0".parse().expect("an address")).expect("a port");
    let closed = silent.local_addr().expect("bound");
    let (address, _requests) = host(vec![stream(&event(&hello(1), None))]).await;
    let mut reports = start(&[&format!("http://{closed}"), &address]);
    let seen = take(&mut reports, 4).await;
    assert!(seen[1].starts_with(&format!("stale: no host answers at http://{closed}")), "{seen:?}");
    assert_eq!(seen[2..], ["live", "hello"]);
}

#[tokio::test]
async fn who_is_not_let_in_is_told_what_to_do_and_does_not_ask_again() {
    let (address, _requests) = host(vec![refusal("401 Unauthorized", "", "the token is wrong")]).await;
    let mut reports = start(&[&address]);
    let seen = take(&mut reports, 2).await;
    assert!(seen[1].starts_with("refused:"), "{seen:?}");
    assert!(seen[1].contains("the token is wrong") && seen[1].contains("set WONCE_TOKEN"), "{seen:?}");
    assert!(reports.recv().await.is_none(), "it is the last report");
}

#[tokio::test]
async fn a_host_that_is_full_is_asked_again_when_it_said() {
    let full = refusal("503 Service Unavailable", "retry-after: 3600\r\n", "no place left");
    let (address, _requests) = host(vec![full]).await;
    let mut reports = start(&[&address]);
    reports.recv().await.expect("connecting");
    let Some(Report::Link(now, Link::Stale { reason, next, .. })) = reports.recv().await else {
        panic!("it was refused")
    };
    assert!(reason.contains("no place left"), "{reason}");
    assert!(next.since(now) >= LONGEST_ASKED - Duration::from_secs(1), "within its limit: {next:?} {now:?}");
}

#[tokio::test]
async fn a_newer_protocol_is_refused_by_name() {
    let (address, _requests) = host(vec![stream(&event(&hello(live::PROTOCOL + 1), None))]).await;
    let seen = take(&mut start(&[&address]), 3).await;
    assert!(seen[2].contains("update the console"), "{seen:?}");
}
