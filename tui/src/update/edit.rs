//! A payload that a person writes anew: out to the editor, and back as a dialog that shows what would
//! change. Knows no file and no editor.

use similar::{ChangeTag, TextDiff};
use wonce_api::dead_letter::DeadLetterDetail;

use crate::command::quoted;
use crate::desk::{Answer, Deed};
use crate::draft::{Draft, encoded};
use crate::json::laid_out;
use crate::model::{Model, Need};

use super::{Cmd, confirm};

/// Changed lines that a dialog shows; the draft has them all.
const MAX_CHANGES: usize = 8;

/// What came back from the editor.
#[derive(Debug)]
pub struct Written {
    /// As it was when the editor began.
    pub letter: Box<DeadLetterDetail>,
    pub draft: Draft,
    pub data: Vec<u8>,
}

/// Sends the payload of the shown dead letter to the editor.
pub(super) fn begin(model: &mut Model) -> Vec<Cmd> {
    let Some(Answer::Letter(letter)) = model.place().page.answer() else { return Vec::new() };
    let letter = letter.clone();
    if letter.summary.state != "dead" {
        model.complain(format!(
            "dead letter {} is {}; only an open one is edited",
            letter.summary.id, letter.summary.state
        ));
        return Vec::new();
    }
    if !confirm::may_act(model) {
        return Vec::new();
    }
    vec![Cmd::Edit(letter)]
}

/// Asks whether what was written is to take the payload's place.
pub(super) fn written(model: &mut Model, result: Result<Written, String>) -> Vec<Cmd> {
    let Written { letter, draft, data } = match result {
        Ok(written) => written,
        Err(reason) => {
            model.complain(reason);
            return Vec::new();
        }
    };
    let id = letter.summary.id;
    if data == letter.payload.body.as_bytes() {
        model.say(format!("the payload of dead letter {id} is as it was; nothing was changed"));
        return vec![Cmd::Forget(draft)];
    }
    let path = draft.path().display().to_string();
    let facts = facts(&letter, &data, &path);
    let command = format!("wonce dead edit {id} --revision {} --payload {}", letter.revision, quoted(&path));
    let deed = Deed::Edit { id, revision: letter.revision, payload: Box::new(encoded(data)), draft };
    confirm::ask(model, deed, format!("edit dead letter {id}"), facts, command, Need::Required, None)
}

fn facts(letter: &DeadLetterDetail, data: &[u8], path: &str) -> Vec<(&'static str, String)> {
    let new = String::from_utf8_lossy(data);
    let (before, after) = (laid_out(&letter.payload.body), laid_out(&new));
    let kind = match (&before, &after) {
        (Some(_), None) => "it was JSON and is none any more",
        (_, Some(_)) => "JSON",
        (None, None) => "no JSON",
    };
    let mut facts = vec![
        ("handler", letter.summary.handler.clone().unwrap_or_else(|| "none yet".to_owned())),
        ("key", letter.summary.key.clone().unwrap_or_else(|| "-".to_owned())),
        ("size", format!("{} bytes, {} before; {kind}", data.len(), letter.payload.bytes)),
    ];
    // Laid out on both sides, so that a document in one line shows what changed in it.
    let (before, after) = match (before, after) {
        (Some(before), Some(after)) => (before, after),
        _ => (letter.payload.body.clone(), new.into_owned()),
    };
    facts.extend(changes(&before, &after));
    facts.push(("effect", "nothing runs until it is replayed; what was received is kept".to_owned()));
    facts.push(("draft", path.to_owned()));
    facts
}

fn changes(before: &str, after: &str) -> Vec<(&'static str, String)> {
    let diff = TextDiff::from_lines(before, after);
    let line = |change: similar::Change<&str>| {
        let sign = match change.tag() {
            ChangeTag::Delete => "-",
            ChangeTag::Insert => "+",
            ChangeTag::Equal => return None,
        };
        Some(format!("{sign} {}", change.value().trim_end_matches(['\n', '\r'])))
    };
    let lines: Vec<String> = diff.iter_all_changes().filter_map(line).collect();
    let more = lines.len().saturating_sub(MAX_CHANGES);
    let rest = (more > 0).then(|| format!("and {more} more lines that differ"));
    let shown = lines.into_iter().take(MAX_CHANGES).chain(rest);
    shown.enumerate().map(|(index, text)| (if index == 0 { "changes" } else { "" }, text)).collect()
}
