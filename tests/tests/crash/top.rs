//! `wonce top` against two real hosts: what it shows is what the database holds.

use rustix::process::Signal;
use serde_json::{Value, json};
use wonce_tests::child::database::Database;
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::sender::{Event, Sender};
use wonce_tests::child::setup::Setup;
use wonce_tests::child::stream::Stream;
use wonce_tests::child::terminal::Terminal;
use wonce_tests::child::{Host, verb};

/// Most are done, every tenth is given up by its handler.
fn event(number: i64) -> Event {
    let end = if number % 10 == 0 { json!({"permanent": {"code": "no"}}) } else { Value::Null };
    let script = if end.is_null() { json!({"steps": []}) } else { json!({"steps": [], "end": end}) };
    Event { id: format!("e{number}"), script }
}

#[tokio::test]
async fn one_page_of_the_console_says_what_the_database_holds() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let (one, two) = (Setup::new(&database, receiver.address), Setup::new(&database, receiver.address));
    let (first, first_doors) = Host::start(&one).await;
    let (second, second_doors) = Host::start(&two).await;
    let (sender, _hosts) = Sender::new(&[first_doors.http, second_doors.http]);
    for number in (0..60).chain(20..30) {
        sender.send(&event(number)).await;
    }
    let mut stream = Stream::open(first_doors.admin, None).await;
    stream.until("every delivery is counted", |s| s.done("probe") == 54).await;
    let are_sampled =
        |s: &Stream| s.gauges.as_ref().is_some_and(|g| g.handlers.iter().any(|h| h.dead.n == 6));
    stream.until("the dead letters are sampled", are_sampled).await;

    // The first address leads nowhere: any host answers for all.
    let connect = format!("http://127.0.0.1:1,http://{}", second_doors.admin);
    let page = verb(&["top", "--once", "--json", "--window", "15m", "--connect", &connect]).await;
    assert!(page.status.success(), "{}", String::from_utf8_lossy(&page.stderr));
    let page: Value = serde_json::from_slice(&page.stdout).expect("a document");
    let totals = &page["totals"];
    for (shown, held) in [
        (&totals["counts"]["accepted"], "SELECT sum(accepted)::bigint FROM wonce.tally"),
        (&totals["counts"]["done"], "SELECT count(*) FROM wonce.processed_events WHERE outcome = 'done'"),
        (&totals["counts"]["dead"], "SELECT count(*) FROM wonce.dead_letter"),
        (&totals["counts"]["duplicates_early"], "SELECT sum(duplicate_early)::bigint FROM wonce.tally"),
        (&totals["depth"]["n"], "SELECT count(*) FROM wonce.inbox"),
        (&totals["dead_letters"]["n"], "SELECT count(*) FROM wonce.dead_letter"),
        (&totals["run"]["samples"], "SELECT count(*) FROM wonce.processed_events"),
    ] {
        assert_eq!(shown.as_i64(), Some(database.number(held).await), "{held}\n{page:#}");
    }
    assert_eq!(totals["hosts_alive"], 2);
    let rows = page["handlers"].as_array().expect("rows");
    assert_eq!((rows.len(), &rows[0]["name"], &rows[0]["state"]), (1, &json!("probe"), &json!("active")));

    let text = verb(&["top", "--once", "--connect", &connect]).await;
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("2 of 2 hosts") && text.contains("54 done"), "{text}");
    first.stop().await;
    second.stop().await;
    database.close().await;
}

#[tokio::test]
async fn without_a_terminal_the_console_names_the_page() {
    let refused = verb(&["top", "--connect", "http://127.0.0.1:1"]).await;
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("`wonce top --once`") && said.lines().count() == 1, "{said}");
    let nobody = verb(&["top", "--once", "--connect", "http://127.0.0.1:1"]).await;
    assert_eq!(nobody.status.code(), Some(2));
    let said = String::from_utf8_lossy(&nobody.stderr).into_owned();
    assert!(said.contains("no host answers at http://127.0.0.1:1"), "{said}");
}

/// The number before a word on the screen.
fn shown(screen: &str, word: &str) -> Option<i64> {
    let words: Vec<&str> = screen.split_whitespace().collect();
    let at = words.windows(2).position(|pair| pair[1] == word && pair[0].parse::<i64>().is_ok())?;
    words[at].parse().ok()
}

#[tokio::test]
async fn the_console_shows_what_the_database_holds_and_does_what_it_is_told() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let (one, two) = (Setup::new(&database, receiver.address), Setup::new(&database, receiver.address));
    let (first, first_doors) = Host::start(&one).await;
    let (second, second_doors) = Host::start(&two).await;
    let (sender, _hosts) = Sender::new(&[first_doors.http, second_doors.http]);
    for number in (0..60).chain(20..30) {
        sender.send(&event(number)).await;
    }
    let connect = format!("http://{},http://{}", first_doors.admin, second_doors.admin);
    let mut top = Terminal::top(&["--window", "15m", "--as", "ana", "--connect", &connect], 36, 120);
    let is_whole = |screen: &str| {
        screen.contains("hosts 2/2") && screen.contains("Dead letters 6") && shown(screen, "done") == Some(54)
    };
    let screen = top.until("everything is shown", is_whole).await;
    for (word, held) in [
        ("accepted", "SELECT sum(accepted)::bigint FROM wonce.tally"),
        ("done", "SELECT count(*) FROM wonce.processed_events WHERE outcome = 'done'"),
        ("dead", "SELECT count(*) FROM wonce.dead_letter"),
        ("dup", "SELECT sum(duplicate_early)::bigint FROM wonce.tally"),
        ("conflicts", "SELECT count(*) FROM wonce.dead_letter WHERE kind = 'key_conflict'"),
    ] {
        assert_eq!(shown(&screen, word), Some(database.number(held).await), "{word}\n{screen}");
    }

    // Tab leads from Cancel to Do it.
    top.press("p");
    top.until("the dialog", |screen| screen.contains("$ wonce handler pause probe")).await;
    top.press("for a while\t\t\r");
    top.until("it is paused", |screen| screen.contains("probe is paused")).await;
    let paused =
        "SELECT count(*) FROM wonce.action WHERE verb = 'pause' AND actor = 'ana' AND reason = 'for a while'";
    assert_eq!(database.number(paused).await, 1);

    top.press("2");
    top.until("the cause", |screen| screen.contains("1 causes, 6 open")).await;
    top.press("x");
    top.until("the dialog", |screen| screen.contains("discard 6 dead letters")).await;
    top.press("6\tno longer wanted\t\t\r");
    let is_over = |screen: &str| screen.contains("OPERATION") && screen.contains("6 succeeded, 0 refused");
    top.until("the operation is over", is_over).await;
    let discarded = "SELECT count(*) FROM wonce.dead_letter WHERE state = 'discarded'";
    assert_eq!(database.number(discarded).await, 6);

    first.stop().await;
    top.until("the other host answers", |screen| screen.contains("LIVE") && screen.contains("hosts 1/"))
        .await;
    second.stop().await;
    top.until("the age of what is shown", |screen| screen.contains("STALE for")).await;
    top.press("qqq");
    assert_eq!((top.end().await, top.is_given_back()), (0, true));
    database.close().await;
}

#[tokio::test]
async fn a_console_that_is_ended_gives_the_terminal_back() {
    for signal in [Signal::TERM, Signal::HUP] {
        let mut top = Terminal::top(&["--connect", "http://127.0.0.1:1"], 24, 80);
        top.until("the refusal", |screen| screen.contains("no host answers at http://127.0.0.1:1")).await;
        assert!(!top.is_given_back());
        top.signal(signal);
        assert_eq!((top.end().await, top.is_given_back()), (0, true), "{signal:?}");
    }
    let mut top = Terminal::top(&["--connect", "http://127.0.0.1:1"], 24, 80);
    top.until("the refusal", |screen| screen.contains("no host answers")).await;
    top.press("\u{3}");
    assert_eq!((top.end().await, top.is_given_back()), (0, true));
}
