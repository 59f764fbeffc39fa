//! Versions that are exchanged while hosts run.

use serde_json::json;
use wonce_tests::child::database::Database;
use wonce_tests::child::plugin::{Plugins, plugin, refused};
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::sender::{Event, Sender};
use wonce_tests::child::setup::Setup;
use wonce_tests::child::{Doors, Host};
use wonce_tests::wait::until;

const DONE_BY: &str = "SELECT encode(version, 'hex') FROM wonce.processed_events WHERE event_id = ";

fn event(id: &str) -> Event {
    let script = json!({"steps": [{"sql": "insert into app.entry (event) values ($1)", "params": [id]}]});
    Event { id: id.to_owned(), script }
}

/// Sends an event to this host and tells which version handled it.
async fn handled_by(database: &Database, doors: Doors, id: &str) -> String {
    let (sender, _hosts) = Sender::new(&[doors.http]);
    sender.send(&event(id)).await;
    let query = format!("{DONE_BY}'{id}'");
    let mut version = None;
    until(&format!("event {id} is handled"), async || {
        version = database.texts(&query).await.pop();
        version.is_some()
    })
    .await;
    version.expect("waited for it")
}

fn text(path: &std::path::Path) -> &str {
    path.to_str().expect("a plain path")
}

#[tokio::test]
async fn a_version_that_is_deployed_runs_on_every_host_and_on_one_that_starts_later() {
    let (database, receiver, plugins) = (Database::new().await, Receiver::start().await, Plugins::default());
    let (first, second) = (plugins.probe("1", ""), plugins.probe("2", ""));
    let setups = [0, 1, 2].map(|_| Setup::new(&database, receiver.address).without_component());
    let (one, at_one) = Host::start(&setups[0]).await;
    let (two, at_two) = Host::start(&setups[1]).await;

    let deployed = plugin(at_one, &["deploy", text(&first), "--as", "ada", "--reason", "the first"]).await;
    let old = deployed["version"]["digest"].as_str().expect("a digest").to_owned();
    assert_eq!(handled_by(&database, at_two, "e1").await, old);

    let deployed = plugin(at_two, &["deploy", text(&second), "--as", "bob", "--reason", "better"]).await;
    assert_eq!(deployed["replaced"], old.as_str());
    let new = deployed["version"]["digest"].as_str().expect("a digest").to_owned();
    let hosts = deployed["hosts"].as_array().expect("hosts");
    assert!(hosts.len() == 2 && hosts.iter().all(|host| host["digest"] == new.as_str()), "{hosts:?}");
    assert_eq!(handled_by(&database, at_one, "e2").await, new);

    let (three, at_three) = Host::start(&setups[2]).await;
    assert_eq!(handled_by(&database, at_three, "e3").await, new);
    let listed = plugin(at_three, &["list"]).await;
    assert_eq!(listed["plugins"][0]["hosts"].as_array().map(Vec::len), Some(3), "{listed}");
    let shown = plugin(at_three, &["show", "probe"]).await;
    assert_eq!(shown["versions"].as_array().map(Vec::len), Some(2), "{shown}");
    let told = plugin(at_three, &["history", "probe"]).await;
    let told: Vec<_> = told["history"]
        .as_array()
        .expect("entries")
        .iter()
        .map(|entry| {
            [&entry["actor"], &entry["verb"], &entry["version"]["label"], &entry["reason"]]
                .map(|v| v.as_str().unwrap_or(""))
        })
        .map(|words| words.join(" "))
        .collect();
    assert_eq!(told, ["bob deploy 2 better", "ada deploy 1 the first"]);

    for host in [one, two, three] {
        host.stop().await;
    }
    database.books_hold().await;
    database.close().await;
}

#[tokio::test]
async fn a_way_back_and_an_end_hold_on_every_host_and_over_a_start() {
    let (database, receiver, plugins) = (Database::new().await, Receiver::start().await, Plugins::default());
    // One host has a file of the handler, the other has not.
    let (filed, bare) = (Setup::new(&database, receiver.address), Setup::new(&database, receiver.address));
    let bare = bare.without_component();
    let (one, at_one) = Host::start(&filed).await;
    let (two, at_two) = Host::start(&bare).await;
    let of_file = handled_by(&database, at_one, "e1").await;
    let refusal = refused(at_two, &["rollback", "probe"]).await;
    assert!(refusal.contains("nothing to go back to"), "{refusal}");

    let second = plugins.probe("2", "");
    let deployed = plugin(at_two, &["deploy", text(&second)]).await;
    let new = deployed["version"]["digest"].as_str().expect("a digest").to_owned();
    assert_eq!(handled_by(&database, at_one, "e2").await, new);
    // The file says something else and does not take it back.
    one.stop().await;
    let (one, at_one) = Host::start(&filed).await;
    assert!(one.log().text().contains("chosen by hand"), "{}", one.log().text());
    assert_eq!(handled_by(&database, at_one, "e3").await, new);

    let back = plugin(at_one, &["rollback", "probe", "--reason", "worse"]).await;
    assert_eq!(back["version"]["digest"], of_file.as_str());
    assert_eq!(handled_by(&database, at_two, "e4").await, of_file);
    let forth = plugin(at_one, &["rollback", "probe", "--to", &new[..8]]).await;
    assert_eq!(forth["version"]["digest"], new.as_str());
    let refusal = refused(at_one, &["rollback", "probe", "--to", "ffff"]).await;
    assert!(refusal.contains("begins with \"ffff\""), "{refusal}");

    let removed = plugin(at_two, &["remove", "probe"]).await;
    assert_eq!(removed["changed"], true);
    two.says("the handler was removed").await;
    one.says("the handler was removed").await;
    one.stop().await;
    let (one, at_one) = Host::start(&filed).await;
    let listed = plugin(at_one, &["list"]).await;
    assert_eq!(listed["plugins"][0]["state"], "removed");
    let back = plugin(at_one, &["rollback", "probe"]).await;
    assert_eq!(back["version"]["digest"], new.as_str(), "a way back from an end too");
    assert_eq!(handled_by(&database, at_two, "e5").await, new);
    for host in [one, two] {
        host.stop().await;
    }
    database.books_hold().await;
    database.close().await;
}
