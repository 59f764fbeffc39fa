//! How hosts end: in order, at once, and by deaths under one delivery.

use serde_json::json;
use wonce_tests::child::database::{Database, until_one_waits_for_a_lock};
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::sender::{Event, Sender};
use wonce_tests::child::setup::Setup;
use wonce_tests::child::{CrashAt, FAILED, Host};
use wonce_tests::wait::until;

const SETTLED: &str = "SELECT count(*) FROM wonce.processed_events";
const UNCLEAN: &str = "did not end cleanly";

/// A guest that waits at the gate, which the test holds closed.
fn waits_at_the_gate() -> Event {
    let script = json!({"steps": [{"sql": "insert into app.gate (event) values ('through')"}]});
    Event { id: "gate".to_owned(), script }
}

#[tokio::test]
async fn a_signal_lets_the_running_invocation_finish() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let setup = Setup::new(&database, receiver.address);
    let (mut host, doors) = Host::start(&setup).await;
    let gate = database.client().await;
    gate.batch_execute("BEGIN; LOCK TABLE app.gate").await.expect("closed");
    Sender::new(&[doors.http]).0.send(&waits_at_the_gate()).await;
    until_one_waits_for_a_lock(&database).await;
    host.ask_to_stop();
    host.says("stopping:").await;
    gate.batch_execute("COMMIT").await.expect("opened");
    let (status, log) = host.last_words().await;
    assert!(status.success(), "{status}:\n{log}");
    assert_eq!(database.number("SELECT count(*) FROM app.gate").await, 1);
    assert_eq!(database.number("SELECT count(*) FROM wonce.host WHERE stopped_at IS NULL").await, 0);

    let (again, _) = Host::start(&setup).await;
    assert!(!again.log().text().contains(UNCLEAN), "no probation after a clean stop");
    again.stop().await;
    database.close().await;
}

#[tokio::test]
async fn a_second_signal_ends_a_host_at_once_and_the_next_start_is_on_probation() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let setup = Setup::new(&database, receiver.address);
    let (mut host, doors) = Host::start(&setup).await;
    let gate = database.client().await;
    gate.batch_execute("BEGIN; LOCK TABLE app.gate").await.expect("closed");
    Sender::new(&[doors.http]).0.send(&waits_at_the_gate()).await;
    until_one_waits_for_a_lock(&database).await;
    host.ask_to_stop();
    host.says("stopping:").await;
    host.ask_to_stop();
    let (status, log) = host.last_words().await;
    assert_eq!(status.code(), Some(FAILED), "{log}");
    assert_eq!(database.number(SETTLED).await, 0, "the gate is still closed");

    gate.batch_execute("COMMIT").await.expect("opened");
    let (again, _) = Host::start(&setup).await;
    again.says(UNCLEAN).await;
    until("the invocation ran again", async || database.number(SETTLED).await == 1).await;
    again.stop().await;
    assert_eq!(database.number("SELECT count(*) FROM app.gate").await, 1);
    database.books_hold().await;
    database.close().await;
}

#[tokio::test]
async fn a_delivery_under_which_hosts_keep_dying_is_set_aside() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let setup = Setup::new(&database, receiver.address);
    let mut host = Host::launch(&setup, Some(CrashAt { point: "after-guest", pass: 1 }));
    let doors = host.ready().await.expect("nothing to die of yet");
    let event = Event { id: "killer".to_owned(), script: json!({"steps": []}) };
    Sender::new(&[doors.http]).0.send(&event).await;
    host.end().await;
    // The first death came without warning, so it left no mark; these three do.
    for marks in 1..=3 {
        let mut host = Host::launch(&setup, Some(CrashAt { point: "after-guest", pass: 1 }));
        host.end().await;
        let marked = "SELECT coalesce(sum(marks), 0) FROM wonce.crash_mark";
        assert_eq!(database.number(marked).await, marks);
    }
    let (host, doors) = Host::start(&setup).await;
    host.says(UNCLEAN).await;
    until("it is set aside", async || database.number(SETTLED).await == 1).await;
    let reasons = "SELECT reason FROM wonce.dead_letter WHERE state = 'dead'";
    assert_eq!(database.texts(reasons).await, ["crash_suspect"]);
    let other = Event { id: "harmless".to_owned(), script: json!({"steps": []}) };
    Sender::new(&[doors.http]).0.send(&other).await;
    until("another is handled", async || database.number(SETTLED).await == 2).await;
    host.stop().await;
    database.books_hold().await;
    database.close().await;
}

#[tokio::test]
async fn two_hosts_that_share_a_folder_and_a_free_port_know_their_own_ends() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let setup = Setup::new(&database, receiver.address);
    let (mut killed, _) = Host::start(&setup).await;
    let (lives, _) = Host::start(&setup).await;
    assert!(!lives.log().text().contains(UNCLEAN), "the first one lives");
    killed.kill().await;
    let (again, _) = Host::start(&setup).await;
    again.says(UNCLEAN).await;
    again.stop().await;
    lives.stop().await;
    let (last, _) = Host::start(&setup).await;
    assert!(!last.log().text().contains(UNCLEAN), "all others ended in order");
    last.stop().await;
    database.close().await;
}
