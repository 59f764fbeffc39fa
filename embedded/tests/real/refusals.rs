//! What a private cluster says when it cannot start, and what it puts right by itself.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Folder, count, start, throwaway};
use wonce_embedded::{DATABASE, Embedded, Error, Settings};

async fn refusal(settings: Settings) -> Error {
    Embedded::start(settings).await.expect_err("the start must be refused")
}

#[tokio::test]
async fn a_cluster_of_another_version_is_refused_naming_both_versions() {
    let folder = Folder::new();
    start(&folder).await.stop().await.unwrap();
    fs::write(folder.path().join("data/PG_VERSION"), "14\n").unwrap();
    let error = refusal(throwaway(&folder)).await.to_string();
    assert!(error.contains("was made by PostgreSQL 14, and this machine has only PostgreSQL"), "{error}");
    assert!(error.contains("install PostgreSQL 14"), "{error}");
}

#[tokio::test]
async fn an_empty_bin_dir_is_refused_with_remedies() {
    let folder = Folder::new();
    let empty = tempfile::tempdir().unwrap();
    let error = refusal(Settings { bin_dir: Some(empty.path().into()), ..throwaway(&folder) }).await;
    assert!(matches!(error, Error::Find(_)));
    let error = error.to_string();
    for part in [empty.path().to_str().unwrap(), "DATABASE_URL", "apt-get install", "WONCE_PG_BIN"] {
        assert!(error.contains(part), "no {part} in: {error}");
    }
}

#[tokio::test]
async fn a_server_that_dies_at_its_start_shows_the_end_of_its_log() {
    let folder = Folder::new();
    let mut settings = throwaway(&folder);
    settings.options.push(("shared_buffers".into(), "plenty".into()));
    let error = refusal(settings).await.to_string();
    assert!(error.contains("invalid value for parameter \"shared_buffers\": \"plenty\""), "{error}");
    start(&folder).await.stop().await.unwrap();
}

#[tokio::test]
async fn root_is_told_which_folder_the_server_cannot_pass() {
    let folder = Folder::new();
    let closed = folder.path().join("closed");
    fs::create_dir_all(closed.join("within")).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let settings = Settings::throwaway(closed.join("within/db"));
    if !rustix::process::geteuid().is_root() {
        // Anybody else runs the server as themselves and passes.
        return Embedded::start(settings).await.unwrap().stop().await.unwrap();
    }
    let error = refusal(settings).await.to_string();
    let closed = closed.canonicalize().unwrap();
    assert!(error.contains(&format!("cannot pass the folder \"{}\"", closed.display())), "{error}");
    assert!(error.contains("data_dir"), "{error}");
    assert!(!closed.join("within/db/data").exists(), "nothing was made");
}

#[tokio::test]
async fn an_unknown_user_is_refused() {
    let folder = Folder::new();
    let error =
        refusal(Settings { user: Some("no-such-user".into()), ..throwaway(&folder) }).await.to_string();
    assert!(error.contains("no user \"no-such-user\""), "{error}");
}

#[tokio::test]
async fn a_missing_password_is_refused_naming_the_file() {
    let folder = Folder::new();
    start(&folder).await.stop().await.unwrap();
    fs::remove_file(folder.path().join("password")).unwrap();
    let error = refusal(throwaway(&folder)).await.to_string();
    assert!(error.contains("/password\"") && error.contains("put the file back"), "{error}");
}

#[tokio::test]
async fn a_taken_port_is_replaced() {
    let folder = Folder::new();
    start(&folder).await.stop().await.unwrap();
    let port: u16 = fs::read_to_string(folder.path().join("port")).unwrap().trim().parse().unwrap();
    let squatter = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let embedded = start(&folder).await;
    assert!(!embedded.url(DATABASE).contains(&format!(":{port}/")));
    embedded.stop().await.unwrap();
    drop(squatter);
}

#[tokio::test]
async fn a_stale_mark_and_an_unfinished_cluster_do_not_hinder_a_start() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path().join("data.new/base")).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711)).unwrap();
    start(&folder).await.stop().await.unwrap();
    let mark = format!("{}\n/elsewhere\n1700000000\n5432\n\n127.0.0.1\n", std::process::id());
    fs::write(folder.path().join("data/postmaster.pid"), mark).unwrap();
    let embedded = start(&folder).await;
    assert!(embedded.owns_server());
    assert_ne!(embedded.pid(), rustix::process::getpid().as_raw_pid());
    assert_eq!(count(&embedded.url(DATABASE), "SELECT 1::text").await, "1");
    embedded.stop().await.unwrap();
}
