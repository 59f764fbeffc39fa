//! What is not a handler is refused at load, with every reason in one report.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use wonce_wasm::{LoadError, MAX_COMPONENT_BYTES, Reason, Sandbox, Settings};

use crate::support::{guest, sandbox};

async fn refusal(bytes: &[u8]) -> (Vec<Reason>, String) {
    match sandbox().prepare(bytes).await {
        Err(LoadError::Refused(refusal)) => (refusal.reasons.clone(), refusal.to_string()),
        other => panic!("not refused: {other:?}"),
    }
}

async fn refusal_of(text: &str) -> (Vec<Reason>, String) {
    refusal(&wat::parse_str(text).unwrap()).await
}

#[tokio::test]
async fn a_handler_is_prepared_under_the_digest_of_its_bytes() {
    let bytes = guest();
    let prepared = sandbox().prepare(&bytes).await.unwrap();
    use sha2::{Digest, Sha256};
    assert_eq!(prepared.digest(), <[u8; 32]>::from(Sha256::digest(&bytes)));
}

#[tokio::test]
async fn what_is_not_a_component_is_named() {
    assert!(matches!(refusal(b"hello").await.0[..], [Reason::NotWasm]));
    assert!(matches!(refusal(b"").await.0[..], [Reason::NotWasm]));
    assert!(matches!(refusal(b" (component)").await.0[..], [Reason::Text]));
    assert!(matches!(refusal_of("(module)").await.0[..], [Reason::CoreModule { preview1: false }]));
    let preview1 = r#"(module (import "wasi_snapshot_preview1" "fd_write" (func)))"#;
    assert!(matches!(refusal_of(preview1).await.0[..], [Reason::CoreModule { preview1: true }]));
    let large = vec![0; MAX_COMPONENT_BYTES + 1];
    assert!(matches!(refusal(&large).await.0[..], [Reason::TooLarge { .. }]));
}

#[tokio::test]
async fn a_truncated_component_is_refused_wherever_it_is_cut() {
    let bytes = guest();
    for length in [10, bytes.len() / 2, bytes.len() - 1] {
        let (reasons, report) = refusal(&bytes[..length]).await;
        assert!(
            matches!(reasons[..], [Reason::Malformed(_) | Reason::MissingExport { .. }]),
            "{length}: {report}"
        );
    }
}

#[tokio::test]
async fn every_reason_is_in_one_report() {
    let (reasons, report) = refusal_of(
        r#"(component
            (import "wonce:handler/context@2.0.0" (instance))
            (import "wonce:handler/metrics@1.1.0" (instance))
            (import "wonce:handler/log@1.1.0" (instance (export "whisper" (func))))
            (import "wasi:http/outgoing-handler@0.2.0" (instance))
            (import "surprise" (func)))"#,
    )
    .await;
    assert_eq!(reasons.len(), 6, "{report}");
    assert_eq!(report.lines().count(), 7, "{report}");
    for part in [
        "context@2.0.0",
        "metrics@1.1.0",
        "`whisper`",
        "have no network",
        "`surprise`",
        "does not export `wonce:handler/events@1.0.0`",
    ] {
        assert!(report.contains(part), "no {part} in {report}");
    }
}

#[tokio::test]
async fn a_function_of_a_later_contract_is_named() {
    let (reasons, report) = refusal_of(
        r#"(component
            (import "wonce:handler/context@1.1.0" (instance (export "tomorrow" (func (result s64)))))
            (instance $events)
            (export "wonce:handler/events@1.0.0" (instance $events)))"#,
    )
    .await;
    let expected = Reason::NewerFunction {
        interface: "wonce:handler/context@1.1.0".to_owned(),
        function: "tomorrow".to_owned(),
    };
    assert_eq!(reasons, [expected], "{report}");
}

#[tokio::test]
async fn an_export_of_another_shape_does_not_fit() {
    let empty = r#"(component (instance $events) (export "wonce:handler/events@1.0.0" (instance $events)))"#;
    let (reasons, report) = refusal_of(empty).await;
    assert!(matches!(reasons[..], [Reason::Mismatch(_)]), "{report}");
    let (reasons, report) = refusal_of(&with_handle("")).await;
    assert!(matches!(reasons[..], [Reason::Mismatch(_)]), "{report}");
}

#[tokio::test]
async fn a_component_that_loops_while_it_is_set_up_is_refused() {
    let (reasons, report) = refusal_of(&with_handle("(func $spin (loop (br 0))) (start $spin)")).await;
    assert!(matches!(&reasons[..], [Reason::Trial { code, .. }] if code == "deadline"), "{report}");
}

#[tokio::test]
async fn a_component_that_traps_while_it_is_set_up_is_refused() {
    let (reasons, report) = refusal_of(&with_handle("(func $die unreachable) (start $die)")).await;
    assert!(matches!(&reasons[..], [Reason::Trial { code, .. }] if code == "unreachable"), "{report}");
}

/// A component whose `handle` takes and gives nothing, with this in its core module.
fn with_handle(extra: &str) -> String {
    format!(
        r#"(component
            (core module $m {extra} (func (export "handle")))
            (core instance $i (instantiate $m))
            (func $handle (canon lift (core func $i "handle")))
            (instance $events (export "handle" (func $handle)))
            (export "wonce:handler/events@1.0.0" (instance $events)))"#
    )
}

fn cached(dir: &Path) -> Sandbox {
    Sandbox::new(Settings { slots: 1, cache_dir: Some(dir.to_owned()), ..Settings::default() }).unwrap()
}

fn only_file(dir: &Path) -> std::path::PathBuf {
    let files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

#[tokio::test]
async fn compiled_code_is_kept_for_the_owner_alone_and_never_taken_as_a_component() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("cache");
    cached(&dir).prepare(&guest()).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = only_file(&dir);
    assert_eq!((mode(&dir), mode(&file)), (0o700, 0o600));
    // Behind the tag and the hash of 40 bytes is what `wasmtime compile` would give.
    let artefact = std::fs::read(file).unwrap().split_off(40);
    assert!(matches!(refusal(&artefact).await.0[..], [Reason::Precompiled]));
}

#[tokio::test]
async fn a_rotten_file_in_the_cache_is_compiled_anew() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("cache");
    cached(&dir).prepare(&guest()).await.unwrap();
    let file = only_file(&dir);
    let whole = std::fs::read(&file).unwrap();
    for rot in [whole[..whole.len() / 2].to_vec(), b"rotten".to_vec(), flipped(&whole)] {
        std::fs::write(&file, rot).unwrap();
        cached(&dir).prepare(&guest()).await.unwrap();
        assert_eq!(std::fs::read(&file).unwrap().len(), whole.len());
    }
}

fn flipped(bytes: &[u8]) -> Vec<u8> {
    let mut flipped = bytes.to_vec();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    flipped
}

#[tokio::test]
async fn a_cache_directory_that_others_may_write_to_is_refused() {
    let home = tempfile::tempdir().unwrap();
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let settings = Settings { slots: 1, cache_dir: Some(home.path().to_owned()), ..Settings::default() };
    let error = Sandbox::new(settings).unwrap_err().to_string();
    assert!(error.contains("chmod 700"), "{error}");
}
