//! `wonce dead edit`: another payload for a dead letter, from an editor, a file or stdin. What was
//! written in an editor is not lost when the host refuses it.

use std::path::{Path, PathBuf};

use clap::Args;
use wonce_api::dead_letter::{DeadLetterDetail, EditRequest, Edited};
use wonce_tui::draft::{Draft, encoded};

use super::client::Client;
use super::connect::{Actor, Connect};
use super::{Error, Finding, print, render};

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
                let draft = Draft::of(&read)?;
                (draft.edited().await?, Some(draft))
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
            (Err(error), Some(draft)) => {
                Err(Error::NotEdited { reason: error.to_string(), path: draft.path().display().to_string() })
            }
            (Err(error), None) => Err(error),
        }
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
