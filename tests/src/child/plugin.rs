//! Plugins as files: versions of the probe handler, and the verbs that put them to work.

use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use super::{Doors, FAILED, verb};
use crate::target;

/// A folder of packed plugins.
#[derive(Debug)]
pub struct Plugins {
    folder: TempDir,
}

impl Default for Plugins {
    fn default() -> Self {
        Self { folder: tempfile::Builder::new().prefix("wonce-plugins-").tempdir().expect("a folder") }
    }
}

impl Plugins {
    /// The probe under this version's text, with these lines in its subscription.
    ///
    /// # Panics
    /// When it is not built.
    #[must_use]
    pub fn probe(&self, label: &str, subscription: &str) -> PathBuf {
        let component = std::fs::read(target::component("probe")).expect("`make plugins` built it");
        let manifest = format!(
            "contract = \"wonce:handler@1.0.0\"\nname = \"probe\"\nversion = \"{label}\"\nemits = [\"out\"]\n\
             [[subscription]]\ntypes = [\"probe.*\"]\n{subscription}\n[settings]\ngreeting = \"hello\"\n"
        );
        let packed = wonce_host::plugin::packed(&component, Some(manifest.as_bytes()));
        self.file(&format!("probe-{label}.wasm"), &packed)
    }

    /// Any bytes.
    ///
    /// # Panics
    /// When the folder cannot be written.
    #[must_use]
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).expect("the folder can be written");
        path
    }
}

/// `wonce plugin …` at a host, and its document.
///
/// # Panics
/// When it does not work.
pub async fn plugin(doors: Doors, words: &[&str]) -> Value {
    let output = run(doors, words).await;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}{}", String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

/// The same for what is to be refused: the report.
///
/// # Panics
/// When it works.
pub async fn refused(doors: Doors, words: &[&str]) -> String {
    let output = run(doors, words).await;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(FAILED), "{words:?} is not refused: {said}");
    said
}

async fn run(doors: Doors, words: &[&str]) -> std::process::Output {
    let url = format!("http://{}", doors.admin);
    let mut all = vec!["plugin"];
    all.extend_from_slice(words);
    all.extend(["--connect", &url, "--json"]);
    verb(&all).await
}
