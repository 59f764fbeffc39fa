//! What the command line says to a person, where only the real binary shows it.

use wonce_tests::child::database::Database;
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::setup::Setup;
use wonce_tests::child::{Host, verb};

#[tokio::test]
async fn an_event_that_is_refused_is_answered_with_the_reason() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let (host, doors) = Host::start(&Setup::new(&database, receiver.address)).await;
    let url = format!("http://{}", doors.http);
    let output = verb(&["send", "--url", &url, "--type", "nobody.wants", "--data", "{}"]).await;
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "1 sent: 0 accepted, 0 duplicate, 1 rejected");
    let reason = String::from_utf8_lossy(&output.stderr);
    assert!(reason.contains("no handler wants events of type \"nobody.wants\""), "{reason}");
    host.stop().await;
    database.close().await;
}
