//! `wonce dead edit`: from an editor, a file or stdin, and nothing that was written is lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;
use wonce_host::admin::{AdminListener, router, serve};

use crate::api::{post, refused, state};
use crate::world::World;

const WONCE: &str = env!("CARGO_BIN_EXE_wonce");

/// A folder of the test's own, in which the drafts are too.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("wonce-edit-{}", uuid::Uuid::new_v4().simple()));
        fs::create_dir(&path).expect("a folder");
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).expect("written");
        path.display().to_string()
    }

    fn drafts(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).expect("a folder").map(|entry| entry.expect("an entry").path());
        entries.filter(|path| is_draft(path)).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn is_draft(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("wonce-dead-"))
}

async fn edit(url: &str, folder: &Folder, editor: &str, words: &[&str], stdin: &[u8]) -> Output {
    let mut command = Command::new(WONCE);
    command.args(["dead", "edit"]).args(words).env_remove("WONCE_TOKEN").env_remove("VISUAL");
    command.env("WONCE_URL", url).env("WONCE_ACTOR", "ada").env("TMPDIR", &folder.0).env("EDITOR", editor);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).current_dir(&folder.0);
    let mut child = command.spawn().expect("it starts");
    let mut pipe = child.stdin.take().expect("piped");
    // A verb that reads nothing may have ended before this is written.
    let _ = pipe.write_all(stdin).await;
    drop(pipe);
    child.wait_with_output().await.expect("it ends")
}

async fn payload(world: &World, letter: i64) -> Vec<u8> {
    let sql = "SELECT data FROM wonce.dead_letter WHERE id = $1";
    world.client().await.query_one(sql, &[&letter]).await.expect("a letter").get(0)
}

#[tokio::test]
async fn a_payload_is_edited_in_an_editor_from_a_file_and_from_stdin() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"{\"amount\": \"old\"}").await;
    world.dies(pay, "a").await;
    world
        .client()
        .await
        .batch_execute("UPDATE wonce.dead_letter SET hash_rule = 'json-v1'")
        .await
        .expect("a rule that is known");
    let letter = world.letter("a", "delivery").await;
    let id = letter.to_string();
    let tcp = TcpListener::bind("127.0.0.1:0").await.expect("it works");
    let url = format!("http://{}", tcp.local_addr().expect("it works"));
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve(AdminListener::Tcp(tcp), router(state(&world, None)), stop.clone()));
    let folder = Folder::new();
    let said = |output: &Output| {
        let both = [&output.stdout[..], &output.stderr[..]].concat();
        String::from_utf8(both).expect("UTF-8")
    };

    let output = edit(&url, &folder, "sed -i s/old/new/", &[&id, "--reason", "a typo"], b"").await;
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains(&format!("wonce dead replay {id}")), "{}", said(&output));
    assert_eq!(payload(&world, letter).await, b"{\"amount\": \"new\"}");
    assert_eq!(folder.drafts(), Vec::<PathBuf>::new());

    let output = edit(&url, &folder, "true", &[&id, "--reason", "a look"], b"").await;
    assert!(said(&output).contains("nothing was changed"), "{}", said(&output));
    let output = edit(&url, &folder, "false", &[&id, "--reason", "a look"], b"").await;
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("the editor \"false\" did not end well"), "{}", said(&output));
    assert_eq!(folder.drafts().len(), 1);

    let file = folder.file("new.json", "{\"amount\": 1}");
    let output = edit(&url, &folder, "false", &[&id, "--payload", &file, "--reason", "a file"], b"").await;
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(payload(&world, letter).await, b"{\"amount\": 1}");
    let output =
        edit(&url, &folder, "false", &[&id, "--payload", "-", "--reason", "bytes"], b"\xff\x00").await;
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(payload(&world, letter).await, b"\xff\x00");
    let output = edit(&url, &folder, "true", &[&id, "--reason", "bytes"], b"").await;
    assert!(said(&output).contains("it is not UTF-8"), "{}", said(&output));
    let stale = [&id, "--payload", &file, "--reason", "late", "--revision", "1"];
    let output = edit(&url, &folder, "true", &stale, b"").await;
    assert!(said(&output).contains("was edited after you read it"), "{}", said(&output));

    let shown = Command::new(WONCE).args(["dead", "show", &id]).env("WONCE_URL", &url).output().await;
    let shown = said(&shown.expect("it runs"));
    for part in
        ["a typo", "a file", "bytes", "revision", "PAYLOAD AS IT WAS RECEIVED", "  | {\"amount\": \"old\"}"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    stop.cancel();
    serving.await.expect("it works").expect("it works");
    world.close().await;
}

#[tokio::test]
async fn what_was_written_while_somebody_else_edited_is_kept() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"old").await;
    world.dies(pay, "a").await;
    world
        .client()
        .await
        .batch_execute("UPDATE wonce.dead_letter SET hash_rule = 'json-v1'")
        .await
        .expect("a rule that is known");
    let letter = world.letter("a", "delivery").await;
    let tcp = TcpListener::bind("127.0.0.1:0").await.expect("it works");
    let url = format!("http://{}", tcp.local_addr().expect("it works"));
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve(AdminListener::Tcp(tcp), router(state(&world, None)), stop.clone()));
    let folder = Folder::new();
    let faster = folder.file("faster", "faster");
    let script = format!(
        "{WONCE} dead edit {letter} --payload {faster} --reason faster && sed -i s/old/mine/ \"$1\"\n"
    );
    let editor = format!("sh {}", folder.file("editor", &script));
    let output = edit(&url, &folder, &editor, &[&letter.to_string(), "--reason", "slower"], b"").await;
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("was edited after you read it") && said.contains("what you wrote is kept in"),
        "{said}"
    );
    assert_eq!(payload(&world, letter).await, b"faster");
    let drafts = folder.drafts();
    assert_eq!(drafts.len(), 1);
    assert_eq!(fs::read(&drafts[0]).expect("a draft"), b"mine");

    stop.cancel();
    serving.await.expect("it works").expect("it works");
    world.close().await;
}

#[tokio::test]
async fn an_edit_that_cannot_be_is_refused_with_a_next_step() {
    let world = World::new().await;
    let pay = world.handler("pay", "unordered").await;
    world.accept(pay, "a", None, b"old").await;
    world.dies(pay, "a").await;
    let letter = world.letter("a", "delivery").await;
    let router = router(state(&world, None));
    let patch = |body: &str, tag: Option<&str>| {
        let mut request = post(&format!("/v1/dead-letters/{letter}"), body);
        *request.method_mut() = axum::http::Method::PATCH;
        if let Some(tag) = tag {
            request.headers_mut().insert("if-match", tag.parse().expect("a tag"));
        }
        request
    };
    let new = r#"{"payload":{"encoding":"text","body":"new"},"reason":"r"}"#;
    refused(&router, patch(new, None), 428, "if-match-needed", "pass the ETag").await;
    refused(&router, patch(new, Some("\"7\"")), 412, "edited-since", "wonce dead show").await;
    refused(&router, patch(new, Some("\"0\"")), 422, "unknown-hash-rule", "\"bytes\"").await;
    let silent = r#"{"payload":{"encoding":"text","body":"new"},"reason":" "}"#;
    refused(&router, patch(silent, Some("\"0\"")), 400, "bad-request", "--reason").await;
    let coded = r#"{"payload":{"encoding":"base64","body":"new"},"reason":"r"}"#;
    refused(&router, patch(coded, Some("\"0\"")), 400, "bad-request", "as text or as hex").await;
    world.close().await;
}
