//! What a start does to a shared database, and what it refuses.

use serde_json::json;
use tokio::net::TcpListener;
use wonce_host::store::migrate::MIGRATION_LOCK;
use wonce_tests::child::database::{Database, until_one_waits_for_a_lock};
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::sender::{Event, Sender};
use wonce_tests::child::setup::Setup;
use wonce_tests::child::{FAILED, Host};
use wonce_tests::wait::{bounded, until};

const HOSTS: usize = 4;

#[tokio::test]
async fn several_hosts_that_start_at_once_migrate_an_empty_database_once() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let setups: Vec<Setup> = (0..HOSTS).map(|_| Setup::new(&database, receiver.address)).collect();
    let mut hosts: Vec<Host> = setups.iter().map(|setup| Host::launch(setup, None)).collect();
    for (n, host) in hosts.iter_mut().enumerate() {
        let doors = host.ready().await;
        let doors = doors.unwrap_or_else(|status| panic!("{status}:\n{}", host.log().text()));
        let event = Event { id: format!("e{n}"), script: json!({"steps": []}) };
        Sender::new(&[doors.http]).0.send(&event).await;
    }
    let settled = "SELECT count(*) FROM wonce.processed_events";
    until("each host's event is settled", async || database.number(settled).await == 4).await;
    let migrated = hosts.iter().filter(|host| host.log().text().contains("brought the database up to date"));
    assert_eq!(migrated.count(), 1);
    for host in hosts {
        host.stop().await;
    }
    database.close().await;
}

#[tokio::test]
async fn a_database_of_a_newer_wonce_is_refused() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let setup = Setup::new(&database, receiver.address);
    Host::start(&setup).await.0.stop().await;
    database
        .execute(
            "INSERT INTO wonce.migration (number, name, checksum, applied_by)
             VALUES (9999, '9999_marvel', '', '99.0.0')",
        )
        .await;
    let (status, log) = Host::launch(&setup, None).last_words().await;
    assert_eq!(status.code(), Some(FAILED), "{log}");
    assert!(
        log.contains("migration 9999 (\\\"9999_marvel\\\")")
            || log.contains("migration 9999 (\"9999_marvel\")"),
        "{log}"
    );
    assert!(log.contains("written by a newer version"), "{log}");
    database.close().await;
}

#[tokio::test]
async fn another_version_of_a_handler_that_a_live_host_runs_needs_the_flag_replace() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let old = Setup::new(&database, receiver.address);
    let new = Setup::new(&database, receiver.address).with_another_version();
    let (live, _) = Host::start(&old).await;
    let (status, log) = Host::launch(&new, None).last_words().await;
    assert_eq!(status.code(), Some(FAILED), "{log}");
    assert!(log.contains("--replace"), "{log}");
    let replaced = "SELECT count(*) FROM wonce.handler WHERE previous_version IS NOT NULL";
    assert_eq!(database.number(replaced).await, 0);

    let mut replacing = Host::launch_with(&new, None, &["--replace"]);
    replacing.ready().await.expect("it starts");
    assert_eq!(database.number(replaced).await, 1);
    replacing.stop().await;
    live.stop().await;
    database.close().await;
}

/// Tells a host that is still starting to stop, and gives what it wrote.
async fn stops_in_order(mut starting: Host) -> String {
    starting.ask_to_stop();
    let (status, log) = starting.last_words().await;
    assert!(status.success(), "{status}:\n{log}");
    assert!(log.contains("stopping before the start was over"), "{log}");
    log
}

#[tokio::test]
async fn a_host_that_waits_for_the_migration_lock_ends_when_it_is_told_to() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let other = database.client().await;
    let lock = format!("BEGIN; SELECT pg_advisory_xact_lock({MIGRATION_LOCK})");
    other.batch_execute(&lock).await.expect("nobody else has it");
    let setup = Setup::new(&database, receiver.address);
    let host = Host::launch(&setup, None);
    until_one_waits_for_a_lock(&database).await;
    stops_in_order(host).await;
    other.batch_execute("COMMIT").await.expect("it was held all the time");
    database.close().await;
}

#[tokio::test]
async fn a_host_that_waits_for_a_database_that_never_answers_ends_when_it_is_told_to() {
    let (mut database, receiver) = (Database::new().await, Receiver::start().await);
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = silent.local_addr().expect("a bound address");
    let url = std::mem::replace(&mut database.url, format!("postgres://nobody@{address}/nothing"));
    let setup = Setup::new(&database, receiver.address);
    let host = Host::launch(&setup, None);
    let (_held, _) = bounded("the host calls", silent.accept()).await.expect("a connection");
    stops_in_order(host).await;
    database.url = url;
    database.close().await;
}

#[tokio::test]
async fn a_start_that_is_broken_off_leaves_a_clean_end_behind() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let setup = Setup::new(&database, receiver.address);
    Host::start(&setup).await.0.stop().await;
    let other = database.client().await;
    other.batch_execute("BEGIN; LOCK TABLE wonce.handler").await.expect("nobody else is there");
    let host = Host::launch(&setup, None);
    until_one_waits_for_a_lock(&database).await;
    assert_eq!(database.number("SELECT count(*) FROM wonce.host WHERE stopped_at IS NULL").await, 1);
    stops_in_order(host).await;
    assert_eq!(database.number("SELECT count(*) FROM wonce.host WHERE stopped_at IS NULL").await, 0);
    other.batch_execute("COMMIT").await.expect("it was held all the time");
    database.close().await;
}
