//! The command itself against a served API: output, errors and exit status.

use std::process::Output;

use tokio::net::{TcpListener, UnixListener};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;
use wonce_host::admin::{AdminListener, router, serve};

use crate::api::state;
use crate::operations::{drive, host};
use crate::served::Served;
use crate::world::World;

async fn wonce(connect: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wonce"))
        .args(arguments)
        .env("WONCE_URL", connect)
        .env("WONCE_ACTOR", "ada")
        .env_remove("WONCE_TOKEN")
        .current_dir(std::env::temp_dir())
        .output()
        .await
        .expect("it runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

#[tokio::test]
async fn the_command_shows_acts_and_verifies() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a/b ?&", None, b"{}").await;
    world.dies(pay, "a/b ?&").await;
    let letter = world.letter("a/b ?&", "delivery").await.to_string();
    let served = Served::new(&world).await;

    let status = wonce(&served.url, &["status"]).await;
    assert!(stdout(&status).contains("pay"), "{}", stderr(&status));
    assert!(!stdout(&status).contains('\u{1b}'), "no colours into a pipe");
    let shown = wonce(&served.url, &["event", "show", "pay", "a/b ?&"]).await;
    assert!(stdout(&shown).contains("the order is cancelled"), "{}", stderr(&shown));
    let explained = wonce(&served.url, &["event", "explain", "pay", "a/b ?&"]).await;
    assert!(stdout(&explained).contains("made by       /id"), "{}", stdout(&explained));
    let replayed = wonce(&served.url, &["dead", "replay", &letter, "--reason", "mended"]).await;
    assert_eq!(replayed.status.code(), Some(0), "{}", stderr(&replayed));
    let again = wonce(&served.url, &["dead", "replay", &letter]).await;
    assert_eq!((again.status.code(), stdout(&again)), (Some(2), String::new()));
    assert!(stderr(&again).starts_with(&format!("wonce: dead letter {letter} cannot be replayed")));
    let json = wonce(&served.url, &["dead", "list", "--state", "any", "--json"]).await;
    let list: serde_json::Value = serde_json::from_str(&stdout(&json)).expect("one document");
    assert_eq!(list["dead_letters"][0]["state"], "replayed");
    assert_eq!(
        world.count("SELECT count(*) FROM wonce.action WHERE actor = 'ada' AND reason = 'mended'").await,
        1
    );

    assert_eq!(wonce(&served.url, &["verify"]).await.status.code(), Some(0));
    world.client().await.batch_execute("DELETE FROM wonce.inbox").await.expect("it works");
    let differs = wonce(&served.url, &["verify"]).await;
    assert_eq!(differs.status.code(), Some(1));
    assert!(stdout(&differs).contains("1 delivery accepted and nowhere: lost"), "{}", stdout(&differs));
    let direct = wonce("http://127.0.0.1:1", &["verify", "--database-url", &world.url]).await;
    assert_eq!(direct.status.code(), Some(1), "{}", stderr(&direct));

    served.stop().await;
    world.close().await;
}

#[tokio::test]
async fn the_command_shows_what_it_would_do_to_many_before_it_does_it() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    for key in ["a", "b"] {
        world.accept(pay, key, None, b"{}").await;
        world.dies(pay, key).await;
    }
    let served = Served::new(&world).await;

    let groups = wonce(&served.url, &["dead", "groups"]).await;
    assert!(stdout(&groups).contains("f00d"), "{}", stderr(&groups));
    let preview = wonce(&served.url, &["dead", "replay", "--group", "f00d"]).await;
    let shown = stdout(&preview);
    assert!(shown.starts_with("would replay 2 dead letters"), "{shown}{}", stderr(&preview));
    let line = "wonce dead replay --group f00d --rate 20 --as-of 2 --expect 2 --reason WHY";
    assert!(shown.contains(line), "{shown}");
    assert_eq!(world.count("SELECT count(*) FROM wonce.operation").await, 0);
    let wrong = wonce(&served.url, &["dead", "replay", "--group", "f00d", "--expect", "3"]).await;
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("2 dead letters match and 3 were expected"), "{}", stderr(&wrong));
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    let begun = wonce(&served.url, &words).await;
    assert!(stdout(&begun).starts_with("operation "), "{}{}", stdout(&begun), stderr(&begun));
    let id = world
        .count("SELECT id FROM wonce.operation WHERE actor = 'ada' AND reason = 'WHY'")
        .await
        .to_string();
    let paused = wonce(&served.url, &["operation", "pause", &id, "--reason", "lunch"]).await;
    assert!(stdout(&paused).contains("is paused"), "{}", stderr(&paused));
    let paced = wonce(&served.url, &["operation", "pace", &id, "--rate", "3"]).await;
    assert!(stdout(&paced).contains("3 a second"), "{}", stderr(&paced));
    assert!(stdout(&wonce(&served.url, &["operation", "resume", &id]).await).contains("is running"));
    let items = wonce(&served.url, &["operation", "items", &id]).await;
    assert!(stdout(&items).contains("waiting"), "{}", stderr(&items));
    assert!(stdout(&wonce(&served.url, &["operation", "abort", &id]).await).contains("is aborted"));
    let list = wonce(&served.url, &["operation", "list"]).await;
    assert!(stdout(&list).contains("group f00d"), "{}{}", stdout(&list), stderr(&list));

    world
        .client()
        .await
        .batch_execute("UPDATE wonce.operation SET state = 'aborted', ended_at = now()")
        .await
        .expect("it ends");
    let given_up =
        wonce(&served.url, &["dead", "discard", "--all", "--yes", "--rate", "1000", "--reason", "old"]).await;
    assert!(stdout(&given_up).contains("discard"), "{}", stderr(&given_up));
    let discard = world.count("SELECT max(id) FROM wonce.operation").await.to_string();
    drive(&host(&world)).await;
    let preview = stdout(&wonce(&served.url, &["operation", "restore", &discard]).await);
    let line = format!("wonce operation restore {discard} --rate 20 --as-of 2 --expect 2 --reason WHY");
    assert!(preview.starts_with("would restore 2 dead letters") && preview.contains(&line), "{preview}");
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    let begun = wonce(&served.url, &words).await;
    assert!(stdout(&begun).contains(&format!("operation {discard}")), "{}{}", stdout(&begun), stderr(&begun));
    drive(&host(&world)).await;
    assert_eq!(world.holding().await.dead, 2);
    assert_eq!(wonce(&served.url, &["dead", "discard", "1", "--reason", "old"]).await.status.code(), Some(0));
    let restored = wonce(&served.url, &["dead", "restore", "1", "--reason", "not so old"]).await;
    assert_eq!(stdout(&restored), "dead letter 1 is open again\n", "{}", stderr(&restored));

    let neither = wonce(&served.url, &["dead", "replay"]).await;
    assert_eq!(neither.status.code(), Some(2));
    let both = wonce(&served.url, &["dead", "replay", "1", "--all"]).await;
    assert_eq!(both.status.code(), Some(2));
    let silent = wonce(&served.url, &["dead", "discard", "--all", "--yes"]).await;
    assert!(stderr(&silent).contains("--reason"), "{}", stderr(&silent));

    served.stop().await;
    world.close().await;
}

#[tokio::test]
async fn the_command_reaches_a_unix_socket() {
    let world = World::new().await;
    world.handler("pay", "unordered").await;
    let path = std::env::temp_dir().join(format!("wonce-{}.sock", uuid::Uuid::new_v4().simple()));
    let stop = CancellationToken::new();
    let listener = AdminListener::Unix(UnixListener::bind(&path).expect("it works"));
    let mut state = state(&world, None);
    state.settings.door = wonce_host::admin::Door::Unix;
    let serving = tokio::spawn(serve(listener, router(state), stop.clone()));
    let paused = wonce(&format!("unix:{}", path.display()), &["handler", "pause", "pay"]).await;
    assert_eq!(stdout(&paused), "handler pay is paused now, on every host\n", "{}", stderr(&paused));
    stop.cancel();
    serving.await.expect("it works").expect("it works");
    std::fs::remove_file(&path).expect("it works");
    world.close().await;
}

#[tokio::test]
async fn without_a_host_the_command_says_how_to_start_one() {
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("it works");
    let url = format!("http://{}", silent.local_addr().expect("it works"));
    drop(silent);
    let output = wonce(&url, &["status"]).await;
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains(&url) && said.contains("wonce run") && said.contains("--connect"), "{said}");
}
