//! A handler as a file: packed with its manifest, looked at, and refused for everything at once.

use std::fs;
use std::path::Path;

use serde_json::Value;
use wonce_tests::child::{FAILED, verb};
use wonce_tests::target;

const DOES_NOT_RUN: i32 = 1;

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

#[tokio::test]
async fn a_packed_file_needs_nothing_beside_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (manifest, packed) = (folder.path().join("mine.toml"), folder.path().join("packed.wasm"));
    let own = fs::read_to_string(target::plugin_file("probe", "handler.toml")).expect("readable");
    fs::write(&manifest, own.replace("version = \"", "version = \"7.")).expect("written");
    let component = target::component("probe");
    let words =
        ["plugin", "pack", text(&component), "--manifest", text(&manifest), "--output", text(&packed)];
    let said = verb(&words).await;
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));

    let said = verb(&["plugin", "inspect", "--json", text(&packed)]).await;
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let seen: Value = serde_json::from_slice(&said.stdout).expect("a document");
    assert_eq!(seen["name"], "probe");
    assert!(seen["version"].as_str().is_some_and(|version| version.starts_with("7.")), "{seen}");
    assert_eq!(seen["exports"][0], "wonce:handler/events@1.0.0");
    assert_eq!(seen["refused"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn a_file_that_does_not_run_is_not_packed_and_every_reason_is_said_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let (component, packed) = (folder.path().join("bad.wasm"), folder.path().join("packed.wasm"));
    fs::write(&component, wat_of_two_imports()).expect("written");
    fs::write(folder.path().join("handler.toml"), "name = \"bad\"\n").expect("written");
    let said = verb(&["plugin", "pack", text(&component), "--output", text(&packed)]).await;
    assert_eq!(said.status.code(), Some(FAILED));
    let report = String::from_utf8_lossy(&said.stderr).into_owned();
    for part in [
        "wonce:handler/context@2.0.0",
        "`surprise`",
        "does not export",
        "handler.toml: contract: it is missing",
        "handler.toml: version: it is missing",
        "handler.toml: subscription: there is none",
    ] {
        assert!(report.contains(part), "no {part} in {report}");
    }
    assert!(!packed.exists());

    let said = verb(&["plugin", "inspect", text(&component)]).await;
    assert_eq!(said.status.code(), Some(DOES_NOT_RUN));
    let page = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(page.contains("surprise  (not provided)") && page.contains("carries no handler.toml"), "{page}");
}

fn wat_of_two_imports() -> Vec<u8> {
    wat::parse_str(
        r#"(component
            (import "wonce:handler/context@2.0.0" (instance))
            (import "surprise" (func)))"#,
    )
    .expect("a component")
}
