//! A host with a private Postgres that is told to stop while it starts: whatever the start has
//! reached, no process of the cluster stays, and the next start finds everything in order.

use std::fs;
use std::path::Path;

use serde_json::json;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Error, NoTls};
use wonce_host::store::migrate::MIGRATION_LOCK;
use wonce_tests::child::Host;
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::sender::{Event, Sender};
use wonce_tests::child::setup::Setup;
use wonce_tests::wait::until;

#[tokio::test]
async fn a_private_postgres_is_stopped_with_the_host_that_is_told_to_stop_while_it_makes_the_cluster() {
    let setup = Setup::with_private_postgres(Receiver::start().await.address);
    let host = Host::launch(&setup, None);
    until("initdb works", async || setup.postgres().join("data.new/PG_VERSION").is_file()).await;
    stops_and_leaves_nothing(host, &setup).await;
    starts_and_handles_an_event(&setup).await;
}

#[tokio::test]
async fn a_private_postgres_is_stopped_with_the_host_that_is_told_to_stop_while_the_server_starts() {
    let setup = Setup::with_private_postgres(Receiver::start().await.address);
    let host = Host::launch(&setup, None);
    until("the server is there", async || server(&setup).is_some()).await;
    stops_and_leaves_nothing(host, &setup).await;
    starts_and_handles_an_event(&setup).await;
}

/// Here the host waits for a lock of its database, which a killed host has left running.
#[tokio::test]
async fn a_private_postgres_is_stopped_with_the_host_that_is_told_to_stop_while_it_migrates() {
    let setup = Setup::with_private_postgres(Receiver::start().await.address);
    let (mut killed, _) = Host::start(&setup).await;
    killed.kill().await;
    // What one transaction sees of other sessions does not change, so another one looks.
    let [(other, held), (looks, _)] = [connect(&setup).await, connect(&setup).await];
    let lock = format!("BEGIN; SELECT pg_advisory_xact_lock({MIGRATION_LOCK})");
    other.batch_execute(&lock).await.expect("nobody else has it");
    let host = Host::launch(&setup, None);
    let waiting =
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until("the host waits for the lock", async || {
        !looks.query(waiting, &[]).await.expect("the server answers").is_empty()
    })
    .await;
    stops_and_leaves_nothing(host, &setup).await;
    assert!(held.await.expect("it ran").is_err(), "the server ended under this connection");
    starts_and_handles_an_event(&setup).await;
}

/// The host does not wait for a server that was only just started; it has told it to end.
async fn stops_and_leaves_nothing(mut host: Host, setup: &Setup) {
    host.ask_to_stop();
    let (status, log) = host.last_words().await;
    assert!(status.success(), "{status}:\n{log}");
    assert!(log.contains("stopping before the start was over"), "{log}");
    let folder = setup.postgres();
    until("no process of the cluster is left", async || processes_of(&folder).is_empty()).await;
    assert_eq!(server(setup), None, "an orderly end removes the server's mark");
}

async fn starts_and_handles_an_event(setup: &Setup) {
    let (host, doors) = Host::start(setup).await;
    let event = Event { id: "e".to_owned(), script: json!({"steps": []}) };
    Sender::new(&[doors.http]).0.send(&event).await;
    let (client, _) = connect(setup).await;
    until("it is handled", async || {
        let settled = "SELECT FROM wonce.processed_events WHERE outcome = 'done'";
        client.query(settled, &[]).await.expect("the server answers").len() == 1
    })
    .await;
    host.stop().await;
    assert_eq!(processes_of(&setup.postgres()), Vec::<String>::new(), "an orderly stop waits for the server");
}

/// The command lines of the processes that were started for the cluster or work in its folder.
fn processes_of(folder: &Path) -> Vec<String> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let processes = fs::read_dir("/proc").expect("Linux").flatten().map(|entry| entry.path());
    // A process may end while it is looked at.
    let ours = processes.filter_map(|process| {
        let words = fs::read_to_string(process.join("cmdline")).ok()?.replace('\0', " ");
        let works_in = fs::read_link(process.join("cwd")).unwrap_or_default();
        let named = words.contains(&format!("{}/", folder.display()));
        (named || works_in.starts_with(&folder)).then_some(words)
    });
    ours.collect()
}

/// What the server says of itself: its process id.
fn server(setup: &Setup) -> Option<String> {
    let mark = fs::read_to_string(setup.postgres().join("data/postmaster.pid")).ok()?;
    mark.lines().next().map(str::to_owned)
}

/// A connection to the running private database, as its owner, and how it ends.
async fn connect(setup: &Setup) -> (Client, JoinHandle<Result<(), Error>>) {
    let read = |file: &str| fs::read_to_string(setup.postgres().join(file)).expect(file).trim().to_owned();
    let url = format!("postgres://wonce:{}@127.0.0.1:{}/wonce", read("password"), read("port"));
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.expect("the server answers");
    (client, tokio::spawn(connection))
}
