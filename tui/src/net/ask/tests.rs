use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;

/// A host of tests: gives one answer and what it was asked.
async fn host(status: &'static str, body: &'static str) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("bound"));
    let asked = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("a caller");
        let mut request = vec![0; 4_096];
        let read = socket.read(&mut request).await.expect("a request");
        let length = body.len();
        let answer =
            format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
        socket.write_all(answer.as_bytes()).await.expect("the caller reads");
        String::from_utf8_lossy(&request[..read]).into_owned()
    });
    (address, asked)
}

async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    format!("http://{}", listener.local_addr().expect("bound"))
}

fn ask(addresses: &[&str]) -> Ask {
    let targets = addresses.iter().map(|address| address.parse().expect("an address")).collect();
    Ask::new(Hosts::new(targets, None).expect("clients"))
}

const REFUSED: &str =
    r#"{"type":"urn:x","title":"no","status":409,"detail":"12 match and not 3","instance":"/v1","found":12}"#;

#[tokio::test]
async fn a_question_goes_on_to_the_next_host_when_one_is_away() {
    let gone = nobody().await;
    let changed = r#"{"handler":"pay ments","state":"paused","changed":true}"#;
    let (address, asked) = host("200 OK", changed).await;
    let request = ActionRequest { actor: Some("ada".to_owned()), reason: Some("late".to_owned()) };
    let answer = ask(&[&gone, &address]).pause("pay ments", &request).await.expect("it was paused");
    assert_eq!((answer.state.as_str(), answer.changed), ("paused", true));
    let asked = asked.await.expect("it was asked");
    assert!(asked.starts_with("POST /v1/handlers/pay%20ments/pause HTTP/1.1"), "{asked}");
    assert!(asked.contains(r#"{"actor":"ada","reason":"late"}"#), "{asked}");
}

#[tokio::test]
async fn a_query_carries_only_what_was_said() {
    let list = r#"{"taken":{"at":"","scope":"fleet","method":"exact"},"groups":[],"as_of":7}"#;
    let (address, asked) = host("200 OK", list).await;
    let query = GroupQuery { handler: Some("a&b".to_owned()), ..GroupQuery::default() };
    assert_eq!(ask(&[&address]).dead_letter_groups(&query).await.expect("a list").as_of, 7);
    let asked = asked.await.expect("it was asked");
    assert!(asked.starts_with("GET /v1/dead-letter-groups?handler=a%26b HTTP/1.1"), "{asked}");
}

#[tokio::test]
async fn a_refusal_says_what_was_asked_and_why_and_no_other_host_is_asked() {
    let (address, _asked) = host("409 Conflict", REFUSED).await;
    let (never, unasked) = host("200 OK", "{}").await;
    let discard = DiscardRequest { actor: None, reason: "old".to_owned() };
    let error = ask(&[&address, &never]).discard(7, &discard).await.expect_err("it was refused");
    assert_eq!(error.to_string(), "cannot discard dead letter 7: 12 match and not 3");
    assert_eq!(error.problem().and_then(|problem| problem.found), Some(12));
    assert!(!unasked.is_finished(), "the other one was left alone");
}

#[tokio::test]
async fn when_no_host_answers_the_error_names_what_and_where() {
    let gone = nobody().await;
    let error = ask(&[&gone]).event("pay", "k-1").await.expect_err("nobody is there").to_string();
    assert!(
        error.starts_with(&format!("cannot show event k-1 of pay: no host answers at {gone}: ")),
        "{error}"
    );
}
