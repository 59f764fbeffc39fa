//! Runs a command with one throw-away Postgres of its own: `with-postgres cargo nextest run`.
//! The command finds it in `WONCE_TEST_DATABASE_URL` (a URL without a database); each test makes
//! its own database there.
//! `WONCE_PG_BIN` chooses another installation.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use wonce_embedded::{Embedded, Settings};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let program = words.next().context("say which command to run")?;
    let folder = tempfile::Builder::new().prefix("wonce-test-").tempdir()?;
    let mut settings = Settings::throwaway(folder.path().join("postgres"));
    settings.bin_dir = std::env::var_os("WONCE_PG_BIN").map(PathBuf::from);
    settings.options.push(("max_connections".to_owned(), "400".to_owned()));
    let postgres = Embedded::start(settings).await?;
    let status = tokio::process::Command::new(&program)
        .args(words)
        .env("WONCE_TEST_DATABASE_URL", postgres.url("").trim_end_matches('/'))
        .status()
        .await
        .with_context(|| format!("run {}", program.to_string_lossy()));
    postgres.stop().await?;
    Ok(ExitCode::from(u8::try_from(status?.code().unwrap_or(1)).unwrap_or(1)))
}
