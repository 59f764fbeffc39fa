//! The one dialog that stands before every change: what exactly will be done, to how many, since
//! when, how long it takes. Cancel has the focus, and of many the number must be typed.
//! Knows nothing of how it is drawn.

use wonce_api::dead_letter::Selection;
use wonce_api::operation::{DEFAULT_RATE, OperationRequest};
use wonce_core::operation::{OperationState, OperationVerb};

use crate::command;
use crate::desk::{Answer, Deed};
use crate::keys::Key;
use crate::live::HandlerState;
use crate::model::{Dialog, Entry, Focus, Model, Need, Screen};
use crate::text::{span, time};

use super::{Cmd, keys, typed};

/// So many dead letters at once, or two when they are discarded, are confirmed by their number.
const TYPED_FROM: i64 = 25;
const TYPED_FROM_DISCARD: i64 = 2;

/// With which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Chosen,
    Listed,
}

/// What a person wants of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// Stop it for a while, or let it run on.
    Pause,
    Abort,
}

const fn effect(verb: OperationVerb) -> &'static str {
    match verb {
        OperationVerb::Replay => "each waits again for its handler; what fails again is a new dead letter",
        OperationVerb::Discard => "nobody will handle them; the record keeps who discarded them and why",
        OperationVerb::Restore => "each is open again as it was, if it was discarded in the last 7 days",
    }
}

const fn need(verb: OperationVerb) -> Need {
    match verb {
        OperationVerb::Replay | OperationVerb::Restore => Need::Welcome,
        OperationVerb::Discard => Need::Required,
    }
}

/// Pauses the handler that is chosen or shown, or lets it run on.
pub(super) fn pause(model: &mut Model) -> Vec<Cmd> {
    let Some(handler) = keys::shown_handler(model) else { return Vec::new() };
    let Some(row) = model.seen.handlers.iter().find(|row| row.name == handler) else { return Vec::new() };
    let waiting = row.depth.map_or_else(|| "?".to_owned(), |depth| depth.n.to_string());
    let (deed, verb, effect) = match row.state {
        HandlerState::Paused => {
            let effect = "its hosts claim its deliveries again, the oldest first";
            (Deed::Resume { handler: handler.clone() }, "resume", effect)
        }
        HandlerState::Active | HandlerState::Unknown => {
            let effect = "no host claims its deliveries any more; events are accepted and wait";
            (Deed::Pause { handler: handler.clone() }, "pause", effect)
        }
    };
    let facts = vec![
        ("handler", handler.clone()),
        ("waiting", format!("{waiting} deliveries")),
        ("effect", effect.to_owned()),
    ];
    ask(
        model,
        deed,
        format!("{verb} {handler}"),
        facts,
        format!("wonce handler {verb} {handler}"),
        Need::Welcome,
        None,
    )
}

/// Replays or discards what is chosen, or all that is listed.
pub(super) fn dead(model: &mut Model, verb: OperationVerb, reach: Reach) -> Vec<Cmd> {
    match (model.screen().clone(), reach) {
        (Screen::Letter(id), _) => one(model, verb, id),
        (Screen::Letters(_), Reach::Chosen) => match model.chosen().and_then(|row| row.parse().ok()) {
            Some(id) => one(model, verb, id),
            None => Vec::new(),
        },
        (Screen::Letters(selection), Reach::Listed) => listed(model, verb, selection),
        (Screen::Groups(handler), _) => group(model, verb, handler),
        _ => Vec::new(),
    }
}

fn one(model: &mut Model, verb: OperationVerb, id: i64) -> Vec<Cmd> {
    let summary = match model.place().page.answer() {
        Some(Answer::Letter(detail)) => Some(detail.summary.clone()),
        Some(Answer::Letters(list)) => list.dead_letters.iter().find(|letter| letter.id == id).cloned(),
        _ => None,
    };
    let Some(letter) = summary else { return Vec::new() };
    if letter.state != verb.acts_on() {
        model.complain(format!("dead letter {id} is {} already", letter.state));
        return Vec::new();
    }
    let effect = match verb {
        OperationVerb::Replay => "it waits again for its handler; if it fails again it is a new dead letter",
        OperationVerb::Discard => "nobody will handle it; the record keeps who discarded it and why",
        OperationVerb::Restore => "it is open again as it was, if it was discarded in the last 7 days",
    };
    let facts = vec![
        ("handler", letter.handler.clone().unwrap_or_else(|| "none yet".to_owned())),
        ("key", letter.key.clone().unwrap_or_else(|| "-".to_owned())),
        ("reason", format!("{} {}", letter.reason, letter.code)),
        ("failed", time(&letter.last_failed_at)),
        ("effect", effect.to_owned()),
    ];
    let deed = match verb {
        OperationVerb::Replay => Deed::Replay { id },
        OperationVerb::Discard => Deed::Discard { id },
        OperationVerb::Restore => Deed::Restore { id },
    };
    let name = verb.as_str();
    ask(
        model,
        deed,
        format!("{name} dead letter {id}"),
        facts,
        format!("wonce dead {name} {id}"),
        need(verb),
        None,
    )
}

/// Many at once: as many as were seen, and no others.
struct Many {
    verb: OperationVerb,
    selection: Selection,
    as_of: i64,
    count: i64,
    what: String,
    oldest: Option<String>,
    newest: Option<String>,
}

fn listed(model: &mut Model, verb: OperationVerb, selection: Selection) -> Vec<Cmd> {
    let Some(Answer::Letters(list)) = model.place().page.answer() else { return Vec::new() };
    let what = match (&selection.handler, &selection.fingerprint) {
        (_, Some(fingerprint)) => format!("the group {fingerprint}"),
        (Some(handler), None) => format!("all open dead letters of {handler}"),
        (None, None) => "all open dead letters".to_owned(),
    };
    let many = Many {
        verb,
        as_of: list.as_of,
        count: list.total,
        what,
        oldest: list.oldest_failed_at.clone(),
        newest: list.newest_failed_at.clone(),
        selection,
    };
    begin(model, many)
}

fn group(model: &mut Model, verb: OperationVerb, handler: Option<String>) -> Vec<Cmd> {
    let Some(chosen) = model.chosen() else { return Vec::new() };
    let Some(Answer::Groups(list)) = model.place().page.answer() else { return Vec::new() };
    let Some(group) = list.groups.iter().find(|group| group.fingerprint == chosen) else { return Vec::new() };
    let many = Many {
        verb,
        selection: Selection { handler, fingerprint: Some(chosen), ..Selection::default() },
        as_of: list.as_of,
        count: group.entries,
        what: format!(
            "{} {} of {}",
            group.reason,
            group.code,
            group.handler.as_deref().unwrap_or("no handler")
        ),
        oldest: Some(group.first_failed_at.clone()),
        newest: Some(group.last_failed_at.clone()),
    };
    begin(model, many)
}

fn begin(model: &mut Model, many: Many) -> Vec<Cmd> {
    let Many { verb, selection, as_of, count, what, oldest, newest } = many;
    if count == 0 {
        model.say("no open dead letter matches");
        return Vec::new();
    }
    model.counter += 1;
    let name = format!("{}-{}", model.session, model.counter);
    let when = |at: Option<String>| at.map_or_else(|| "-".to_owned(), |at| time(&at));
    let facts = vec![
        ("which", what),
        ("count", format!("{count}, frozen at dead letter {as_of}")),
        ("oldest", when(oldest)),
        ("newest", when(newest)),
        (
            "takes",
            format!(
                "{} at {DEFAULT_RATE} a second; it can be paused and aborted",
                span(command::seconds(count, DEFAULT_RATE))
            ),
        ),
        ("effect", effect(verb).to_owned()),
    ];
    let least = match verb {
        OperationVerb::Replay | OperationVerb::Restore => TYPED_FROM,
        OperationVerb::Discard => TYPED_FROM_DISCARD,
    };
    let command = format!("{} --expect {count} --as-of {as_of}", command::bulk(verb.as_str(), &selection));
    let request = OperationRequest {
        verb: verb.as_str().to_owned(),
        filter: selection,
        as_of,
        expected: count,
        rate: Some(DEFAULT_RATE),
        actor: None,
        reason: None,
    };
    let title = format!("{} {count} dead letters", verb.as_str());
    let typed = (count >= least).then_some(count);
    ask(model, Deed::Begin { name, request: Box::new(request) }, title, facts, command, need(verb), typed)
}

/// Pauses an operation, lets it run on, or ends it.
pub(super) fn operation(model: &mut Model, wish: Wish) -> Vec<Cmd> {
    let chosen = match (model.screen(), model.place().page.answer()) {
        (Screen::Operation(_), Some(Answer::Operation(detail))) => Some(detail.operation.clone()),
        (Screen::Operations, Some(Answer::Operations(list))) => {
            let row = model.chosen();
            list.operations.iter().find(|known| Some(known.id.to_string()) == row).cloned()
        }
        _ => None,
    };
    let Some(operation) = chosen else { return Vec::new() };
    let id = operation.id;
    let (to, verb, effect) = match (wish, OperationState::parse(&operation.state)) {
        (Wish::Pause, Some(OperationState::Running)) => {
            (OperationState::Paused, "pause", "the rest waits until it is resumed")
        }
        (Wish::Pause, Some(OperationState::Paused)) => {
            (OperationState::Running, "resume", "the rest is done at its rate")
        }
        (Wish::Abort, Some(OperationState::Running | OperationState::Paused)) => {
            (OperationState::Aborted, "abort", "what is done stays done; the rest is left as it is")
        }
        (_, Some(OperationState::Aborted | OperationState::Finished) | None) => {
            model.complain(format!("operation {id} is {} already", operation.state));
            return Vec::new();
        }
    };
    let facts = vec![
        ("operation", format!("{} of {} dead letters, {}", operation.verb, operation.total, operation.state)),
        ("done", format!("{} succeeded, {} refused", operation.succeeded, operation.refused)),
        ("waiting", operation.waiting.to_string()),
        ("effect", effect.to_owned()),
    ];
    let title = format!("{verb} operation {id}");
    let command = format!("wonce operation {verb} {id}");
    ask(model, Deed::Change { operation: id, to }, title, facts, command, Need::Welcome, None)
}

fn ask(
    model: &mut Model,
    deed: Deed,
    title: String,
    facts: Vec<(&'static str, String)>,
    command: String,
    needs_reason: Need,
    count: Option<i64>,
) -> Vec<Cmd> {
    if !model.seen.link.is_live() {
        model.complain("no host is heard: what is shown is old, and nothing is changed on its ground");
        return Vec::new();
    }
    model.entry = Entry::Confirm(Box::new(Dialog {
        deed,
        title,
        facts,
        command,
        count,
        typed: String::new(),
        reason: String::new(),
        needs_reason,
        focus: Focus::default(),
        complaint: String::new(),
    }));
    Vec::new()
}

/// A key while the dialog is open.
pub(super) fn key(model: &mut Model, key: Key) -> Vec<Cmd> {
    let Entry::Confirm(dialog) = &mut model.entry else { return Vec::new() };
    match (key, dialog.focus) {
        (Key::Ctrl('c'), _) => return vec![Cmd::Quit],
        (Key::Esc, _) | (Key::Enter, Focus::Cancel) => model.entry = Entry::Keys,
        (Key::Tab | Key::Down, _) => dialog.focus = beside(dialog, 1),
        (Key::BackTab | Key::Up, _) => dialog.focus = beside(dialog, -1),
        (Key::Left, Focus::DoIt) => dialog.focus = Focus::Cancel,
        (Key::Right, Focus::Cancel) => dialog.focus = Focus::DoIt,
        (Key::Enter, Focus::Count | Focus::Reason) => dialog.focus = beside(dialog, 1),
        (Key::Enter, Focus::DoIt) => return do_it(model),
        (Key::Backspace, Focus::Count) => drop(dialog.typed.pop()),
        (Key::Backspace, Focus::Reason) => drop(dialog.reason.pop()),
        (Key::Char(c), Focus::Count) if c.is_ascii_digit() => typed::add(&mut dialog.typed, c),
        (Key::Char(c), Focus::Reason) => typed::add(&mut dialog.reason, c),
        // Who types means the first field; a button is no place for text.
        (Key::Char(_), Focus::Cancel | Focus::DoIt) => {
            dialog.focus = dialog.fields().first().copied().unwrap_or_default();
            return self::key(model, key);
        }
        _ => {}
    }
    Vec::new()
}

fn beside(dialog: &Dialog, step: isize) -> Focus {
    let fields = dialog.fields();
    let at = fields.iter().position(|field| *field == dialog.focus).unwrap_or(0);
    let count = fields.len();
    let next = (at + count).saturating_add_signed(step) % count;
    fields.get(next).copied().unwrap_or_default()
}

fn do_it(model: &mut Model) -> Vec<Cmd> {
    let Entry::Confirm(dialog) = &mut model.entry else { return Vec::new() };
    if dialog.count.is_some_and(|count| dialog.typed.trim() != count.to_string()) {
        dialog.complaint = "type the count first: it shows that it is meant".to_owned();
        dialog.focus = Focus::Count;
        return Vec::new();
    }
    if dialog.needs_reason == Need::Required && dialog.reason.trim().is_empty() {
        dialog.complaint = "say why: the record keeps it".to_owned();
        dialog.focus = Focus::Reason;
        return Vec::new();
    }
    dialog.complaint = "asked; the host has not answered yet".to_owned();
    // A second Enter must not ask twice.
    dialog.focus = Focus::Cancel;
    vec![Cmd::Act { deed: dialog.deed.clone(), reason: dialog.reason.clone() }]
}
