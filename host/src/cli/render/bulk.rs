//! What an operation would do, before it is begun, and the line that begins it.

use wonce_api::dead_letter::{DeadLetterList, Selection};
use wonce_core::operation::OperationVerb;
use wonce_tui::command;

use super::text::{count, facts, span, time, visible};

/// What was asked, and what the host saw.
#[derive(Debug)]
pub struct Preview<'a> {
    pub verb: OperationVerb,
    pub selection: &'a Selection,
    /// Items a second.
    pub rate: f64,
    pub seen: &'a DeadLetterList,
}

#[must_use]
pub fn preview(preview: &Preview<'_>) -> String {
    let Preview { verb, selection, rate, seen } = preview;
    if seen.total == 0 {
        let state = state(*verb);
        return format!("No {state} dead letter matches; nothing was changed.\n");
    }
    let effect = match verb {
        OperationVerb::Replay => "each starts a new round under its own key; attempts begin at 0",
        OperationVerb::Discard => "each is given up, its key stays known",
        OperationVerb::Restore => "each is open again, if it was discarded in the last 7 days",
    };
    let title = format!("would {} {}\n", verb.as_str(), count(seen.total, "dead letter"));
    let about = facts(
        2,
        &[
            ("selection", Some(visible(&selection.to_string()))),
            ("frozen at", Some(format!("dead letter {}; what comes later is not included", seen.as_of))),
            ("first failed", seen.oldest_failed_at.as_deref().map(time)),
            ("last failed", seen.newest_failed_at.as_deref().map(time)),
            ("takes", Some(format!("{} at {rate} a second", span(command::seconds(seen.total, *rate))))),
            ("effect", Some(effect.to_owned())),
        ],
    );
    format!("{title}{about}\nNothing was changed. To do it:\n\n  {}\n", line(preview))
}

/// The dead letters that a verb is for, in a word.
fn state(verb: OperationVerb) -> &'static str {
    match verb {
        OperationVerb::Replay | OperationVerb::Discard => "open",
        OperationVerb::Restore => "discarded",
    }
}

/// The command line that does exactly what was shown.
fn line(preview: &Preview<'_>) -> String {
    let Preview { verb, selection, rate, seen } = preview;
    let command = command::bulk(verb.as_str(), selection);
    format!("{command} --rate {rate} --as-of {} --expect {} --reason WHY", seen.as_of, seen.total)
}
