//! The life of a private cluster with the real programs: made, used again, crashed, adopted, shared.

use crate::support::{self, Folder, count, durable, execute, owner_process, start};
use wonce_embedded::{DATABASE, Durability, Embedded, Settings};

const MAKE: &str = "CREATE TABLE kept (id int PRIMARY KEY)";
const ADD: &str = "INSERT INTO kept SELECT coalesce(max(id), 0) + 1 FROM kept";
const COUNT: &str = "SELECT count(*)::text FROM kept";

#[tokio::test]
async fn the_first_start_makes_a_cluster_and_the_second_one_finds_the_data() {
    let folder = Folder::new();
    let first = start(&folder).await;
    assert!(first.owns_server());
    let url = first.url(DATABASE);
    execute(&url, MAKE).await;
    execute(&url, ADD).await;
    let settings = "SELECT concat_ws(' ', current_setting('server_encoding'), current_setting('data_checksums'), \
                    current_setting('client_connection_check_interval'), current_setting('listen_addresses'))";
    assert_eq!(count(&url, settings).await, "UTF8 on 1s 127.0.0.1");
    let pid = first.pid();
    first.stop().await.unwrap();
    assert!(!support::alive(pid), "the server is gone after an orderly stop");

    let second = start(&folder).await;
    assert_eq!(second.url(DATABASE), url, "the port and the password are kept");
    assert_eq!(count(&url, COUNT).await, "1");
    second.stop().await.unwrap();
}

#[tokio::test]
async fn committed_rows_survive_a_killed_server() {
    let folder = Folder::new();
    let mut settings = durable(&folder);
    settings.options.push(("log_min_messages".into(), "log".into()));
    let mut embedded = Embedded::start(settings).await.unwrap();
    let url = embedded.url(DATABASE);
    execute(&url, MAKE).await;
    execute(&url, ADD).await;
    let before = embedded.pid();
    embedded.kill9().await.unwrap();
    assert!(!support::alive(before));
    embedded.restart().await.unwrap();
    assert_ne!(embedded.pid(), before);
    assert_eq!(embedded.url(DATABASE), url, "clients keep their url");
    assert_eq!(count(&url, COUNT).await, "1");
    let log = std::fs::read_to_string(folder.path().join("postgres.log")).unwrap();
    assert!(log.contains("automatic recovery in progress"), "{log}");
    embedded.stop().await.unwrap();
}

#[tokio::test]
async fn a_restart_drops_what_was_not_committed() {
    let folder = Folder::new();
    let mut embedded = start(&folder).await;
    let url = embedded.url(DATABASE);
    execute(&url, MAKE).await;
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute("BEGIN; INSERT INTO kept VALUES (7)").await.unwrap();
    embedded.restart().await.unwrap();
    assert!(connection.await.unwrap().is_err(), "the old connection was cut");
    assert_eq!(count(&url, COUNT).await, "0");
    embedded.stop().await.unwrap();
}

#[tokio::test]
async fn the_end_of_a_server_is_noticed() {
    let folder = Folder::new();
    let mut embedded = start(&folder).await;
    let pid = embedded.pid();
    let (exit, ()) =
        tokio::join!(embedded.ended(), async { support::signal(pid, rustix::process::Signal::QUIT) });
    assert!(matches!(exit, wonce_embedded::Exit::Status(_)), "{exit}");
    embedded.restart().await.unwrap();
    assert_eq!(count(&embedded.url(DATABASE), "SELECT 1::text").await, "1");
    embedded.stop().await.unwrap();
}

#[tokio::test]
async fn the_server_of_a_killed_owner_is_adopted_and_stopped_by_the_next_one() {
    const NAME: &str = "lifecycle::the_server_of_a_killed_owner_is_adopted_and_stopped_by_the_next_one";
    if let Some(dir) = support::owner_role() {
        return support::own_until_killed(dir).await;
    }
    let folder = Folder::new();
    let mut owner = owner_process(NAME, &folder);
    let server = owner.wait_for_server();

    let bystander = start(&folder).await;
    assert!(!bystander.owns_server(), "the owner lives");
    assert_eq!(bystander.pid(), server);
    execute(&bystander.url(DATABASE), MAKE).await;
    bystander.stop().await.unwrap();

    owner.kill();
    assert!(support::alive(server), "a killed owner leaves its server running");
    let heir = start(&folder).await;
    assert!(heir.owns_server());
    assert_eq!(heir.pid(), server, "the running server was adopted");
    assert_eq!(count(&heir.url(DATABASE), COUNT).await, "0");
    heir.stop().await.unwrap();
    assert!(!support::alive(server), "the heir stopped it");
}

#[tokio::test]
async fn two_starts_at_once_make_one_owner_and_one_guest() {
    let folder = Folder::new();
    let (left, right) = tokio::join!(start(&folder), start(&folder));
    let (owner, mut guest) = if left.owns_server() { (left, right) } else { (right, left) };
    assert!(owner.owns_server() && !guest.owns_server());
    assert_eq!(owner.pid(), guest.pid());
    assert_eq!(count(&guest.url(DATABASE), "SELECT 1::text").await, "1");
    let refused = guest.restart().await.unwrap_err().to_string();
    assert!(refused.contains("another wonce owns it"), "{refused}");
    guest.stop().await.unwrap();
    assert_eq!(count(&owner.url(DATABASE), "SELECT 1::text").await, "1", "the guest's stop stops nothing");
    owner.stop().await.unwrap();
}

#[tokio::test]
async fn a_dropped_owner_shuts_its_server_down_and_a_start_meanwhile_waits_for_it() {
    let folder = Folder::new();
    let first = start(&folder).await;
    let pid = first.pid();
    drop(first);
    let second = start(&folder).await;
    assert!(second.owns_server());
    assert_ne!(second.pid(), pid);
    assert!(!support::alive(pid));
    second.stop().await.unwrap();
}

#[tokio::test]
async fn a_durable_start_does_not_adopt_a_throwaway_server() {
    let folder = Folder::new();
    let first = start(&folder).await;
    first.leave_running();
    let refused = Embedded::start(durable(&folder)).await.unwrap_err().to_string();
    assert!(refused.contains("fsync off"), "{refused}");
    let again = start(&folder).await;
    assert!(again.owns_server());
    again.stop().await.unwrap();
    let durable = Embedded::start(durable(&folder)).await.unwrap();
    assert_eq!(count(&durable.url(DATABASE), "SELECT current_setting('fsync')").await, "on");
    durable.stop().await.unwrap();
    assert_eq!(Settings::new(folder.path()).durability, Durability::Durable);
}

#[tokio::test]
async fn each_test_can_have_its_own_database() {
    let folder = Folder::new();
    let embedded = start(&folder).await;
    let odd = "it's a \"test\"/1";
    let (left, right) = tokio::join!(embedded.ensure_database(odd), embedded.ensure_database(odd));
    left.unwrap();
    right.unwrap();
    assert_eq!(count(&embedded.url(odd), "SELECT current_database()::text").await, odd);
    embedded.stop().await.unwrap();
}
