//! What a message changes: the whole behaviour of the console as a function of the model. Effects go
//! out as [`Cmd`]; nothing is changed at a host without a dialog that was answered. Knows no
//! terminal, no socket and no clock: the time comes in.

use wonce_api::dead_letter::DeadLetterDetail;
use wonce_api::live::LogQuery;

use crate::desk::{Answer, Deed, Done, Question};
use crate::draft::Draft;
use crate::keys::Key;
use crate::live::Moment;
use crate::model::{Entry, Model, Screen};
use crate::net::Report;

mod ask;
mod confirm;
mod edit;
mod go;
mod keys;
pub mod typed;

pub use edit::Written;

/// What happened.
#[derive(Debug)]
pub enum Msg {
    Key(Key),
    /// Text that was pasted.
    Paste(String),
    /// A click on a row of the screen's list, counted from its first row that is shown.
    Click(String),
    Scroll(Scroll),
    Heard(Report),
    /// From the log of the host at a place, in the round that was asked for.
    Logged {
        round: u64,
        place: usize,
        report: Report,
    },
    /// A second has passed.
    Second,
    /// What a question led to; `token` says which.
    Answered {
        token: u64,
        result: Result<Answer, String>,
    },
    Acted {
        result: Result<Done, String>,
    },
    /// The editor has ended.
    Written(Result<Written, String>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scroll {
    Up,
    Down,
}

/// What is to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Cmd {
    Quit,
    Redraw,
    Suspend,
    /// Hand a text to the terminal's clipboard.
    Copy(String),
    /// Take the mouse, or give it back.
    Mouse,
    /// Let the person edit the payload in their editor.
    Edit(Box<DeadLetterDetail>),
    /// A draft that nobody needs any more.
    Forget(Draft),
    /// Follow these log lines of every host, and no others.
    FollowLogs {
        round: u64,
        wanted: Option<LogQuery>,
    },
    Ask {
        token: u64,
        question: Question,
    },
    Act {
        deed: Deed,
        reason: String,
    },
}

/// Takes one message at a moment.
pub fn update(model: &mut Model, now: Moment, msg: Msg) -> Vec<Cmd> {
    model.now = model.now.max(now);
    let mut cmds = match msg {
        Msg::Key(key) => match model.entry {
            Entry::Keys => keys::key(model, key),
            Entry::Filter | Entry::Palette(_) | Entry::Lookup(_) => typed::key(model, key),
            Entry::Confirm(_) => confirm::key(model, key),
        },
        Msg::Paste(text) => text.chars().flat_map(|c| typed::paste(model, c)).collect(),
        Msg::Click(row) => go::click(model, row),
        Msg::Scroll(Scroll::Up) => go::scroll(model, -3),
        Msg::Scroll(Scroll::Down) => go::scroll(model, 3),
        Msg::Heard(report) => {
            heard(model, report);
            Vec::new()
        }
        Msg::Logged { round, place, report } => {
            if model.logs.is_now(round) {
                logged(model, place, report);
            }
            Vec::new()
        }
        Msg::Second => {
            second(model);
            Vec::new()
        }
        Msg::Answered { token, result } => {
            ask::answered(model, token, result);
            Vec::new()
        }
        Msg::Acted { result } => acted(model, result),
        Msg::Written(result) => edit::written(model, result),
    };
    cmds.extend(ask::due(model));
    let wanted = model.screen().log_lines();
    cmds.extend(model.logs.follow(wanted.clone()).map(|round| Cmd::FollowLogs { round, wanted }));
    cmds
}

fn heard(model: &mut Model, report: Report) {
    match report {
        Report::Link(moment, link) => model.fleet.link(moment, link),
        Report::Message(moment, message) => model.fleet.apply(moment, *message),
        Report::Skipped(moment) => model.fleet.skip(moment),
    }
}

fn logged(model: &mut Model, place: usize, report: Report) {
    match report {
        Report::Link(_, link) => model.logs.link(place, link),
        Report::Message(_, message) => model.logs.apply(place, *message),
        Report::Skipped(moment) => model.fleet.skip(moment),
    }
}

fn second(model: &mut Model) {
    model.fleet.tick(model.now);
    if model.toast.as_ref().is_some_and(|toast| toast.until <= model.now) {
        model.toast = None;
    }
}

/// The dialog goes only when it was done: a refusal is shown where the answer was given.
fn acted(model: &mut Model, result: Result<Done, String>) -> Vec<Cmd> {
    match result {
        Ok(done) => {
            if matches!(model.entry, Entry::Confirm(_)) {
                model.entry = Entry::Keys;
            }
            model.say(done.text);
            ask::again(model);
            if let Some(id) = done.operation {
                return go::open(model, Screen::Operation(id));
            }
        }
        Err(reason) => match &mut model.entry {
            Entry::Confirm(dialog) => dialog.complaint = reason,
            _ => model.complain(reason),
        },
    }
    Vec::new()
}

#[cfg(test)]
mod tests;
