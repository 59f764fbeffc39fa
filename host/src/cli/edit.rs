//! `wonce dead edit`: another payload for a dead letter, from an editor, a file or stdin. What was
//! written in an editor is not lost when the host refuses it.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use uuid::Uuid;
use wonce_api::dead_letter::{DeadLetterDetail, EditRequest, Edited, NewPayload, Payload};

use super::client::Client;
use super::connect::{Actor, Connect};
use super::{Error, Finding, print, render};

/// When neither `VISUAL` nor `EDITOR` says another.
const EDITOR: &str = "vi";

#[derive(Debug, Args)]
pub(super) struct Edit {
    id: i64,
    /// Take the new payload from a file, or from stdin (-), byte for byte [default: $VISUAL or $EDITOR on the old one]
    #[arg(long, value_name = "FILE")]
    payload: Option<PathBuf>,
    /// What was wrong with it, for the record
    #[arg(long)]
    reason: String,
    /// Only at this revision, which `wonce dead show` names [default: the one that it has when this begins]
    #[arg(long, value_name = "NUMBER")]
    revision: Option<i32>,
    #[command(flatten)]
    actor: Actor,
    #[command(flatten)]
    connect: Connect,
}

impl Edit {
    pub(super) async fn run(self) -> Result<Finding, Error> {
        let client = Client::new(&self.connect)?;
        let id = self.id.to_string();
        let read = client.get::<DeadLetterDetail>(&["v1", "dead-letters", &id], &[], None).await?.value;
        let revision = self.revision.unwrap_or(read.revision);
        let (data, draft) = match &self.payload {
            Some(path) => (contents(path)?, None),
            None => {
                let draft = Draft::of(self.id, &read)?;
                (draft.edited()?, Some(draft))
            }
        };
        if let Some(draft) = &draft
            && data == read.payload.body.as_bytes()
        {
            draft.forget()?;
            return print(&format!("the payload of dead letter {id} is as it was; nothing was changed"));
        }
        let asked = EditRequest { payload: encoded(data), actor: self.actor.name(), reason: self.reason };
        let path = ["v1", "dead-letters", &id];
        let answer = client.patch_read::<Edited>(&path, &asked, &format!("\"{revision}\"")).await;
        match (answer, draft) {
            (Ok(answer), draft) => {
                draft.as_ref().map(Draft::forget).transpose()?;
                print(&if self.connect.json { answer.json } else { render::dead::edited(&answer.value) })
            }
            (Err(error), Some(draft)) => Err(draft.kept(&error)),
            (Err(error), None) => Err(error),
        }
    }
}

/// The payload in a file that only its writer can read.
#[derive(Debug)]
struct Draft(PathBuf);

impl Draft {
    fn of(id: i64, letter: &DeadLetterDetail) -> Result<Self, Error> {
        let Payload { encoding, body, .. } = &letter.payload;
        if encoding != "text" {
            return Err(Error::Payload {
                path: format!("of dead letter {id}"),
                reason: "it is not UTF-8, so no editor can show it; pass a file with --payload".to_owned(),
            });
        }
        let is_json = letter.content_type.as_deref().is_some_and(|kind| kind.contains("json"));
        let kind = if is_json { "json" } else { "txt" };
        let path = std::env::temp_dir().join(format!("wonce-dead-{id}-{}.{kind}", Uuid::new_v4().simple()));
        let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(body.as_bytes())).map_err(|e| unreadable(&path, &e))?;
        Ok(Self(path))
    }

    /// Runs the editor to its end.
    fn edited(&self) -> Result<Vec<u8>, Error> {
        let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let editor = named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| EDITOR.to_owned());
        // A shell, because the variable may hold arguments.
        let run =
            Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(&self.0).status();
        match run {
            Ok(status) if status.success() => contents(&self.0),
            Ok(status) => Err(self.unfinished(&editor, &status.to_string())),
            Err(error) => Err(self.unfinished(&editor, &error.to_string())),
        }
    }

    fn unfinished(&self, editor: &str, reason: &str) -> Error {
        Error::Editor {
            editor: editor.to_owned(),
            reason: reason.to_owned(),
            path: self.0.display().to_string(),
        }
    }

    fn kept(&self, error: &Error) -> Error {
        Error::NotEdited { reason: error.to_string(), path: self.0.display().to_string() }
    }

    fn forget(&self) -> Result<(), Error> {
        std::fs::remove_file(&self.0).map_err(|e| unreadable(&self.0, &e))
    }
}

fn contents(path: &Path) -> Result<Vec<u8>, Error> {
    if path == Path::new("-") {
        let mut data = Vec::new();
        let read = std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut data);
        return read.map(|_| data).map_err(|e| unreadable(path, &e));
    }
    std::fs::read(path).map_err(|e| unreadable(path, &e))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::Payload { path: path.display().to_string(), reason: format!("{error}; nothing was changed") }
}

fn encoded(data: Vec<u8>) -> NewPayload {
    match String::from_utf8(data) {
        Ok(body) => NewPayload { encoding: "text".to_owned(), body },
        Err(error) => {
            let body = error.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            NewPayload { encoding: "hex".to_owned(), body }
        }
    }
}
