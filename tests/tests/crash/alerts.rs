//! Alerts of two real hosts on one database: what one of them finds, both show everywhere.

use serde_json::json;
use wonce_api::live::AlertState;
use wonce_tests::child::database::Database;
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::sender::{Event, Sender};
use wonce_tests::child::setup::Setup;
use wonce_tests::child::stream::Stream;
use wonce_tests::child::{Doors, Host, verb};
use wonce_tests::wait::until;

const DEAD_LETTERS: &str = "probe/dead_letters";
const RULES: &str = "[handlers.probe.alert]\nfor = \"0s\"\ncalm = \"1s\"\ndead_letters = 2\n";

/// An event that its handler gives up at once.
fn hopeless(id: &str) -> Event {
    Event { id: id.to_owned(), script: json!({"steps": [], "end": {"permanent": {"code": "no"}}}) }
}

async fn send(doors: Doors, ids: &[&str]) {
    let (sender, _hosts) = Sender::new(&[doors.http]);
    for id in ids {
        sender.send(&hopeless(id)).await;
    }
}

async fn says(words: &[&str], doors: Doors) -> String {
    let connect = format!("http://{}", doors.admin);
    let output = verb(&[words, &["--connect", &connect]].concat()).await;
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

async fn metric(doors: Doors) -> String {
    let client = wonce_host::sink::http::client().expect("a client");
    let page = client.get(format!("http://{}/metrics", doors.admin)).send().await.expect("an answer");
    let page = page.text().await.expect("text");
    let line = page.lines().find(|line| line.starts_with("wonce_alert_firing{"));
    line.expect("the rule is shown, firing or not").to_owned()
}

#[tokio::test]
async fn dead_letters_fire_an_alert_everywhere_and_their_end_resolves_it() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let webhook = format!("[alert]\nwebhook = \"http://{}/alerts\"\n{RULES}", receiver.address);
    let setup = || Setup::new(&database, receiver.address).tables(&webhook);
    let (one, two) = (setup(), setup());
    let (first, first_doors) = Host::start(&one).await;
    let (second, second_doors) = Host::start(&two).await;
    let mut streams =
        [Stream::open(first_doors.admin, None).await, Stream::open(second_doors.admin, None).await];
    send(first_doors, &["e1"]).await;
    let one_letter = |s: &Stream| s.gauges.as_ref().is_some_and(|g| g.handlers.iter().any(|h| h.dead.n == 1));
    streams[0].until("one dead letter is sampled", one_letter).await;
    assert!(streams[0].alerts.is_empty(), "one is below the limit");

    send(second_doors, &["e2"]).await;
    for stream in &mut streams {
        stream.until("the alert fires", |s| s.alerts.contains_key(DEAD_LETTERS)).await;
        let alert = &stream.alerts[DEAD_LETTERS];
        assert_eq!((alert.rule.as_str(), alert.unit.as_str()), ("dead_letters", "letters"));
        assert!(alert.text.starts_with("probe has 2 dead letters, the limit is 2"), "{}", alert.text);
    }
    for doors in [first_doors, second_doors] {
        let mut late = Stream::open(doors.admin, None).await;
        late.until("a snapshot has it", |s| s.alerts.contains_key(DEAD_LETTERS)).await;
        assert!(says(&["status"], doors).await.contains(DEAD_LETTERS));
        assert!(says(&["top", "--once"], doors).await.contains(DEAD_LETTERS));
        let is_shown = async || metric(doors).await.ends_with("{handler=\"probe\",rule=\"dead_letters\"} 1");
        until("metrics show it", is_shown).await;
    }

    says(&["dead", "discard", "1", "--reason", "a test"], first_doors).await;
    says(&["dead", "discard", "2", "--reason", "a test"], first_doors).await;
    for stream in &mut streams {
        stream.until("it is resolved", |s| s.alerts.is_empty()).await;
        let edges = [AlertState::Firing, AlertState::Resolved].map(|state| (DEAD_LETTERS.to_owned(), state));
        assert_eq!(stream.alert_edges, edges);
    }
    for doors in [first_doors, second_doors] {
        assert!(!says(&["status"], doors).await.contains(DEAD_LETTERS));
        until("metrics show its end", async || metric(doors).await.ends_with(" 0")).await;
    }
    until("the webhook was told of both", async || receiver.alerts().len() == 2).await;
    let told: Vec<_> = receiver.alerts().iter().map(|told| told["alert"]["state"].clone()).collect();
    assert_eq!(told, ["firing", "resolved"]);
    let logs = format!("{}\n{}", first.log().text(), second.log().text());
    let logged = |text: &str, level: &str| {
        logs.lines().filter(|l| l.contains(text) && l.contains(&format!("\"level\":\"{level}\""))).count()
    };
    let times = (logged("an alert fires", "warn"), logged("an alert is resolved", "info"));
    assert_eq!(times, (1, 1), "logged once in the fleet:\n{logs}");
    first.stop().await;
    second.stop().await;
    database.close().await;
}

#[tokio::test]
async fn an_alert_outlives_its_host_and_ends_when_its_rule_is_gone() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let setup = Setup::new(&database, receiver.address).tables(RULES);
    let (mut host, doors) = Host::start(&setup).await;
    send(doors, &["e1", "e2"]).await;
    host.says("an alert fires").await;
    host.kill().await;
    let since = "SELECT fired_at::text FROM wonce.alert";
    let fired = database.texts(since).await;
    let (host, doors) = Host::start(&setup).await;
    let mut stream = Stream::open(doors.admin, None).await;
    stream.until("it still fires", |s| s.alerts.contains_key(DEAD_LETTERS)).await;
    assert_eq!(database.texts(since).await, fired, "it is the same alert");
    assert!(!host.log().text().contains("an alert fires"), "it began before");
    host.stop().await;
    let (host, _doors) = Host::start(&setup.without_tables()).await;
    host.says("is not watched any more").await;
    assert_eq!(database.texts(since).await, Vec::<String>::new());
    host.stop().await;
    database.close().await;
}
