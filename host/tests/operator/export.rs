//! `wonce dead export` against a served API: every dead letter, whole, one a line.

use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::served::Served;
use crate::world::World;

/// More than one page, and the last one is not full.
const LETTERS: i64 = 1_203;

fn export(url: &str, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wonce"));
    command.args(["dead", "export"]).args(words).env("WONCE_URL", url).env_remove("WONCE_TOKEN");
    command.current_dir(std::env::temp_dir()).stdin(Stdio::null()).kill_on_drop(true);
    command
}

fn lines(stdout: Vec<u8>) -> Vec<Value> {
    let text = String::from_utf8(stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is a document")).collect()
}

/// A world with one dead delivery and as many copies of its dead letter under keys of their own.
async fn world_with(letters: i64) -> World {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "k-1", None, b"{}").await;
    world.fails(pay, "k-1").await;
    world.dies(pay, "k-1").await;
    let copies = format!(
        "INSERT INTO wonce.dead_letter (kind, reason, handler_id, key, code, message, fingerprint, accepted_at,
             first_failed_at, last_failed_at, payload_digest, hash_rule, via, source, event_type, data)
         SELECT kind, CASE WHEN n % 2 = 0 THEN 'trap' ELSE 'permanent' END, handler_id, 'k-' || n, code,
                E'two\\nlines', fingerprint, accepted_at, first_failed_at, last_failed_at, payload_digest, hash_rule,
                via, source, event_type, convert_to(format(E'{{\"n\":%s,\\n\"pad\":\"%s\"}}', n, repeat('x', 300)), 'UTF8')
         FROM wonce.dead_letter CROSS JOIN generate_series(2, {letters}) AS n"
    );
    world.client().await.batch_execute(&copies).await.expect("copies");
    world
}

#[tokio::test]
async fn an_export_holds_every_dead_letter_whole_over_all_pages() {
    let world = world_with(LETTERS).await;
    let served = Served::new(&world).await;

    let output = export(&served.url, &[]).output().await.expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(said.trim(), format!("exported {LETTERS} dead letters"));
    let exported = lines(output.stdout);
    let sql = "SELECT id, key, reason, convert_from(data, 'UTF8') FROM wonce.dead_letter ORDER BY id DESC";
    let rows = world.client().await.query(sql, &[]).await.expect("rows");
    assert_eq!(exported.len(), rows.len());
    for (line, row) in exported.iter().zip(&rows) {
        let summary = &line["summary"];
        assert_eq!(summary["id"], row.get::<_, i64>(0));
        assert_eq!(summary["key"], row.get::<_, &str>(1));
        assert_eq!(summary["reason"], row.get::<_, &str>(2));
        assert_eq!(line["payload"]["body"], row.get::<_, &str>(3));
    }
    let first = exported.last().expect("the oldest");
    assert_eq!(first["attempts"].as_array().map(Vec::len), Some(2), "{first:#}");

    let traps = export(&served.url, &["--reason", "trap", "--limit", "3"]).output().await.expect("it runs");
    let said = String::from_utf8_lossy(&traps.stderr).into_owned();
    let traps = lines(traps.stdout);
    assert!(traps.iter().all(|line| line["summary"]["reason"] == "trap"), "{traps:#?}");
    let last = traps.last().expect("three")["summary"]["id"].to_string();
    assert_eq!(
        said.trim(),
        format!("exported 3 dead letters, as many as --limit says; the rest: --before {last}")
    );
    let rest = export(&served.url, &["--reason", "trap", "--before", &last]).output().await.expect("it runs");
    let all = world.count("SELECT count(*) FROM wonce.dead_letter WHERE reason = 'trap'").await;
    assert_eq!(i64::try_from(lines(rest.stdout).len() + traps.len()), Ok(all));

    served.stop().await;
    world.close().await;
}

#[tokio::test]
async fn an_export_whose_reader_goes_away_ends_in_order() {
    let world = world_with(LETTERS).await;
    let served = Served::new(&world).await;

    let mut command = export(&served.url, &[]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut reader = BufReader::new(child.stdout.take().expect("piped")).lines();
    let line = reader.next_line().await.expect("it reads").expect("a line");
    assert!(serde_json::from_str::<Value>(&line).is_ok(), "{line}");
    drop(reader);
    let output = child.wait_with_output().await.expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.starts_with("the reader went away"), "{said}");

    served.stop().await;
    world.close().await;
}

#[tokio::test]
async fn an_export_that_cannot_go_on_says_where_it_ended() {
    let world = world_with(3).await;
    let served = Served::new(&world).await;
    // The page can be read and the documents cannot.
    world
        .client()
        .await
        .batch_execute("ALTER TABLE wonce.attempt RENAME TO elsewhere")
        .await
        .expect("it works");

    let output = export(&served.url, &[]).output().await.expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("exported 0 dead letters, and not all\nwonce: "), "{said}");

    served.stop().await;
    world.close().await;
}
