//! What each action of the key table does. Knows no key: the table does.

use wonce_api::live::LogLevel;
use wonce_api::operation::Operation;
use wonce_core::operation::OperationVerb;

use crate::desk::Answer;
use crate::keys::{Action, Key};
use crate::model::{Entry, Flow, Model, Mouse, Order, Palette, Screen};

use super::{Cmd, confirm, edit, go};

pub(super) fn key(model: &mut Model, key: Key) -> Vec<Cmd> {
    match model.keymap.action(&model.screen().contexts(), key) {
        Some(action) => act(model, action),
        None => Vec::new(),
    }
}

pub(super) fn act(model: &mut Model, action: Action) -> Vec<Cmd> {
    match action {
        Action::Help => go::open(model, Screen::Help),
        Action::Back => go::back(model),
        Action::Quit if model.places.len() > 1 => go::back(model),
        Action::Quit | Action::QuitNow => vec![Cmd::Quit],
        Action::ShowOverview => go::switch(model, Screen::Overview),
        Action::ShowDead => go::switch(model, Screen::Groups(None)),
        Action::ShowOperations => go::switch(model, Screen::Operations),
        Action::ShowHosts => go::switch(model, Screen::Hosts),
        Action::ShowOutlets => go::switch(model, Screen::Outlets),
        Action::ShowChanges => go::switch(model, Screen::Changes),
        Action::ShowEffects => go::switch(model, Screen::Effects(None, None)),
        Action::NextState => go::next_state(model),
        Action::ShowLogs => go::switch(model, Screen::Logs { handler: None, level: LogLevel::Info }),
        Action::ShowLogsOfHandler => match shown_handler(model) {
            Some(handler) => go::open(model, Screen::Logs { handler: Some(handler), level: LogLevel::Info }),
            None => Vec::new(),
        },
        Action::NextLevel => go::next_level(model),
        Action::ShowSubject => go::subject(model),
        Action::ShowLast => go::last(model),
        Action::Lookup => enter(model, Entry::Lookup(String::new())),
        Action::Palette => enter(model, Entry::Palette(Palette::default())),
        Action::Filter => enter(model, Entry::Filter),
        Action::WindowShorter => window(model, crate::live::Window::shorter),
        Action::WindowLonger => window(model, crate::live::Window::longer),
        Action::Freeze => freeze(model),
        Action::Copy => copy(model),
        Action::Mouse => {
            model.mouse = if model.mouse == Mouse::Left { Mouse::Taken } else { Mouse::Left };
            vec![Cmd::Mouse]
        }
        Action::Redraw => vec![Cmd::Redraw],
        Action::Suspend => vec![Cmd::Suspend],
        Action::Down => go::scroll(model, 1),
        Action::Up => go::scroll(model, -1),
        Action::PageDown => go::scroll(model, page(model)),
        Action::PageUp => go::scroll(model, -page(model)),
        Action::Top => go::scroll(model, -FAR),
        Action::Bottom => go::scroll(model, FAR),
        Action::Open => go::enter(model),
        Action::SortNext => {
            model.sort = model.sort.next();
            Vec::new()
        }
        Action::SortReverse => {
            model.order = if model.order == Order::Usual { Order::Reversed } else { Order::Usual };
            Vec::new()
        }
        Action::PauseHandler => confirm::pause(model),
        Action::ShowDeadOfHandler => match shown_handler(model) {
            Some(handler) => go::open(model, Screen::Groups(Some(handler))),
            None => Vec::new(),
        },
        Action::NextStage => {
            model.stage = model.stage.wrapping_add(1);
            Vec::new()
        }
        Action::Replay => confirm::dead(model, OperationVerb::Replay, confirm::Reach::Chosen),
        Action::ReplayAll => confirm::dead(model, OperationVerb::Replay, confirm::Reach::Listed),
        Action::Discard => confirm::dead(model, OperationVerb::Discard, confirm::Reach::Chosen),
        Action::DiscardAll => confirm::dead(model, OperationVerb::Discard, confirm::Reach::Listed),
        Action::Restore => confirm::dead(model, OperationVerb::Restore, confirm::Reach::Chosen),
        Action::RestoreAll => confirm::dead(model, OperationVerb::Restore, confirm::Reach::Listed),
        Action::Edit => edit::begin(model),
        Action::Shelf => go::shelf(model),
        Action::ShowDiscardedOf => go::discarded_of(model),
        Action::NextEntry => go::neighbour(model, 1),
        Action::PreviousEntry => go::neighbour(model, -1),
        Action::PauseOperation => confirm::operation(model, confirm::Wish::Pause),
        Action::AbortOperation => confirm::operation(model, confirm::Wish::Abort),
    }
}

/// Further than any list.
const FAR: isize = 1_000_000;

fn page(model: &Model) -> isize {
    isize::try_from(model.page_rows.max(2) - 1).unwrap_or(FAR)
}

fn enter(model: &mut Model, entry: Entry) -> Vec<Cmd> {
    model.entry = entry;
    Vec::new()
}

fn window(model: &mut Model, next: fn(crate::live::Window) -> crate::live::Window) -> Vec<Cmd> {
    if model.is_frozen() {
        model.say("the screen is held still; f lets it go on");
        return Vec::new();
    }
    model.window = next(model.window);
    Vec::new()
}

fn freeze(model: &mut Model) -> Vec<Cmd> {
    model.flow = match model.flow {
        Flow::Live => Flow::Frozen { since: model.now },
        Flow::Frozen { .. } => Flow::Live,
    };
    Vec::new()
}

/// The handler that is chosen or shown.
pub(super) fn shown_handler(model: &Model) -> Option<String> {
    match model.screen() {
        Screen::Handler(name) => Some(name.clone()),
        Screen::Overview => model.chosen(),
        Screen::Groups(handler) => handler.clone(),
        _ => None,
    }
}

/// The operation that is chosen or shown.
pub(super) fn shown_operation(model: &Model) -> Option<Operation> {
    match (model.screen(), model.place().page.answer()) {
        (Screen::Operation(_), Some(Answer::Operation(detail))) => Some(detail.operation.clone()),
        (Screen::Operations, Some(Answer::Operations(list))) => {
            let row = model.chosen();
            list.operations.iter().find(|known| Some(known.id.to_string()) == row).cloned()
        }
        _ => None,
    }
}

fn copy(model: &mut Model) -> Vec<Cmd> {
    let text = match model.screen() {
        Screen::Handler(name) => Some(name.clone()),
        Screen::Letter(id) | Screen::Operation(id) => Some(id.to_string()),
        Screen::Event { key, .. } => Some(key.clone()),
        _ => model.chosen(),
    };
    match text {
        Some(text) => {
            model.say(format!("sent to the terminal's clipboard: {text}"));
            vec![Cmd::Copy(text)]
        }
        None => {
            model.say("nothing is chosen");
            Vec::new()
        }
    }
}
