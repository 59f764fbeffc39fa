//! A payload in a file of its own while a person edits it: only they can read it, and it stays until
//! the host has taken what was written. Knows no host and no screen.

use std::io::Write;
use std::path::{Path, PathBuf};

use tokio::process::Command;
use wonce_api::dead_letter::{DeadLetterDetail, NewPayload};

/// When neither `VISUAL` nor `EDITOR` says another.
const EDITOR: &str = "vi";

/// Why there is no new payload.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "dead letter {id} cannot be edited here: its payload is not UTF-8, so no editor can show it; pass a file: `wonce dead edit {id} --payload FILE --reason WHY`"
    )]
    Bytes { id: i64 },
    #[error("cannot {attempt} the draft {}: {source}; nothing was changed", .path.display())]
    File { attempt: &'static str, path: PathBuf, source: std::io::Error },
    #[error(
        "the editor {editor:?} did not end well ({reason}); nothing was changed, and the draft is kept at {}; VISUAL or EDITOR names another editor", .path.display()
    )]
    Editor { editor: String, reason: String, path: PathBuf },
}

/// See the module. Dropping it leaves the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft(PathBuf);

impl Draft {
    /// Writes the payload to a new file, which nobody else can read.
    ///
    /// # Errors
    /// When the payload is no text, or the file cannot be written.
    pub fn of(letter: &DeadLetterDetail) -> Result<Self, Error> {
        let id = letter.summary.id;
        if letter.payload.encoding != "text" {
            return Err(Error::Bytes { id });
        }
        let is_json = letter.content_type.as_deref().is_some_and(|kind| kind.contains("json"));
        let kind = if is_json { "json" } else { "txt" };
        let (prefix, suffix) = (format!("wonce-dead-{id}-"), format!(".{kind}"));
        let unwritten = |path: &Path, source| Error::File { attempt: "write", path: path.into(), source };
        let file = tempfile::Builder::new().prefix(&prefix).suffix(&suffix).tempfile();
        let mut file = file.map_err(|source| unwritten(&std::env::temp_dir(), source))?;
        let written = file.write_all(letter.payload.body.as_bytes());
        written.map_err(|source| unwritten(file.path(), source))?;
        let (_, path) = file.keep().map_err(|error| unwritten(error.file.path(), error.error))?;
        Ok(Self(path))
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Runs the editor on this terminal to its end, and reads what was written.
    ///
    /// # Errors
    /// When the editor cannot run or says that it failed, or the file cannot be read.
    pub async fn edited(&self) -> Result<Vec<u8>, Error> {
        let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let editor = named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| EDITOR.to_owned());
        // A shell, because the variable may hold arguments.
        let run =
            Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(&self.0).status();
        let reason = match run.await {
            Ok(status) if status.success() => {
                let read = std::fs::read(&self.0);
                return read.map_err(|source| Error::File { attempt: "read", path: self.0.clone(), source });
            }
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        Err(Error::Editor { editor, reason, path: self.0.clone() })
    }

    /// Removes the file.
    ///
    /// # Errors
    /// When that fails.
    pub fn forget(&self) -> Result<(), Error> {
        let removed = std::fs::remove_file(&self.0);
        removed.map_err(|source| Error::File { attempt: "remove", path: self.0.clone(), source })
    }
}

/// Bytes as a request carries them.
#[must_use]
pub fn encoded(data: Vec<u8>) -> NewPayload {
    match String::from_utf8(data) {
        Ok(body) => NewPayload { encoding: "text".to_owned(), body },
        Err(error) => {
            let body = error.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            NewPayload { encoding: "hex".to_owned(), body }
        }
    }
}
