//! From screen to screen and from row to row. Knows no key.

use wonce_api::dead_letter::Selection;
use wonce_api::live::LogLevel;
use wonce_core::effect::EffectState;
use wonce_core::operation::OperationVerb;

use crate::desk::Shelf;
use crate::live::{Said, Subject};
use crate::model::{Model, Place, Screen};

use super::{Cmd, ask, keys};

/// The way is no longer; its beginning is forgotten.
const MAX_PLACES: usize = 20;

/// One step further.
pub(super) fn open(model: &mut Model, screen: Screen) -> Vec<Cmd> {
    if *model.screen() == screen {
        return Vec::new();
    }
    model.last.clone_from(&model.places);
    model.places.push(Place::new(screen));
    if model.places.len() > MAX_PLACES {
        model.places.remove(1);
    }
    arrived(model)
}

/// To one of the first screens: the way begins anew.
pub(super) fn switch(model: &mut Model, screen: Screen) -> Vec<Cmd> {
    if *model.screen() == screen {
        return Vec::new();
    }
    model.last.clone_from(&model.places);
    model.places.truncate(1);
    if screen != Screen::Overview {
        model.places.push(Place::new(screen));
    }
    arrived(model)
}

/// One step back. What was typed into a filter goes first.
pub(super) fn back(model: &mut Model) -> Vec<Cmd> {
    if !model.place().filter.is_empty() {
        model.place_mut().filter.clear();
        return Vec::new();
    }
    if model.places.len() > 1 {
        model.last.clone_from(&model.places);
        model.places.pop();
        // What is come back to may have changed meanwhile.
        model.place_mut().asked = None;
        return arrived(model);
    }
    Vec::new()
}

/// To where the person was before.
pub(super) fn last(model: &mut Model) -> Vec<Cmd> {
    if model.last.is_empty() {
        return Vec::new();
    }
    std::mem::swap(&mut model.places, &mut model.last);
    ask::again(model);
    arrived(model)
}

fn arrived(model: &mut Model) -> Vec<Cmd> {
    // A new screen is never held still: there is nothing of it to hold.
    model.flow = crate::model::Flow::Live;
    Vec::new()
}

/// What the first line speaks of.
pub(super) fn subject(model: &mut Model) -> Vec<Cmd> {
    match model.seen.verdict.subject.clone() {
        Subject::Handler(name) => open(model, Screen::Handler(name)),
        Subject::Host(_) => switch(model, Screen::Hosts),
        Subject::Sink(_) | Subject::Source(_) => switch(model, Screen::Outlets),
        Subject::Books | Subject::Fleet => switch(model, Screen::Overview),
    }
}

/// The chosen row.
pub(super) fn enter(model: &mut Model) -> Vec<Cmd> {
    let Some(row) = model.chosen() else { return Vec::new() };
    let screen = match model.screen() {
        Screen::Overview => Screen::Handler(row),
        Screen::Groups(handler) => {
            let group =
                Selection { handler: handler.clone(), fingerprint: Some(row), ..Selection::default() };
            Screen::Letters(group, Shelf::Open)
        }
        Screen::Letters(..) => match row.parse() {
            Ok(id) => Screen::Letter(id),
            Err(_) => return Vec::new(),
        },
        Screen::Outlets => Screen::Effects(Some(row), None),
        Screen::Effects(..) => match model.effects().find(|one| one.effect.id.to_string() == row) {
            Some(one) => Screen::Event { handler: one.handler.clone(), key: one.key.clone() },
            None => return Vec::new(),
        },
        Screen::Logs { .. } => match event_of_line(model, &row) {
            Some(event) => event,
            None => {
                model.say("this line speaks of no event");
                return Vec::new();
            }
        },
        Screen::Operations => match row.parse() {
            Ok(id) => Screen::Operation(id),
            Err(_) => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    open(model, screen)
}

/// From the open dead letters to those that were discarded, and back.
pub(super) fn shelf(model: &mut Model) -> Vec<Cmd> {
    match model.screen().clone() {
        Screen::Groups(handler) => {
            open(model, Screen::Letters(Selection { handler, ..Selection::default() }, Shelf::Discarded))
        }
        Screen::Letters(selection, shelf) => {
            *model.place_mut() = Place::new(Screen::Letters(selection, shelf.other()));
            arrived(model)
        }
        _ => Vec::new(),
    }
}

/// What the chosen operation discarded.
pub(super) fn discarded_of(model: &mut Model) -> Vec<Cmd> {
    let Some(operation) = keys::shown_operation(model) else { return Vec::new() };
    if OperationVerb::parse(&operation.verb) != Some(OperationVerb::Discard) {
        model.complain(format!(
            "operation {} is a {}; only a discard is taken back",
            operation.id, operation.verb
        ));
        return Vec::new();
    }
    let selection = Selection { operation: Some(operation.id), ..Selection::default() };
    open(model, Screen::Letters(selection, Shelf::Discarded))
}

/// The event of which a log line speaks.
fn event_of_line(model: &Model, row: &str) -> Option<Screen> {
    let line = model.log_lines().find(|line| line.number.to_string() == row)?;
    let Said::Line(said) = &line.said else { return None };
    let field = |name: &str| said.fields.get(name).cloned();
    Some(Screen::Event { handler: field("handler")?, key: field("key")? })
}

/// Effects in the next state, and after the last again all that are not confirmed.
pub(super) fn next_state(model: &mut Model) -> Vec<Cmd> {
    let Screen::Effects(sink, state) = model.screen().clone() else { return Vec::new() };
    let next = match state {
        None => EffectState::ALL.first(),
        Some(state) => EffectState::ALL.iter().skip_while(|known| **known != state).nth(1),
    };
    *model.place_mut() = Place::new(Screen::Effects(sink, next.copied()));
    arrived(model)
}

/// Lines that matter more, and after the most again all.
pub(super) fn next_level(model: &mut Model) -> Vec<Cmd> {
    if let Screen::Logs { level, .. } = &mut model.place_mut().screen {
        *level = match level {
            LogLevel::Info => LogLevel::Warn,
            LogLevel::Warn => LogLevel::Error,
            LogLevel::Error => LogLevel::Info,
        };
        model.place_mut().chosen = None;
    }
    Vec::new()
}

/// The next or the previous dead letter of the list that the person came from.
pub(super) fn neighbour(model: &mut Model, step: isize) -> Vec<Cmd> {
    let Screen::Letter(id) = *model.screen() else { return Vec::new() };
    let Some(list) = model.places.iter().rev().nth(1).filter(|p| matches!(p.screen, Screen::Letters(..)))
    else {
        model.say("this dead letter was not opened from a list");
        return Vec::new();
    };
    let ids: Vec<i64> = match list.page.answer() {
        Some(crate::desk::Answer::Letters(list)) => list.dead_letters.iter().map(|l| l.id).collect(),
        _ => Vec::new(),
    };
    let next = ids
        .iter()
        .position(|known| *known == id)
        .and_then(|at| at.checked_add_signed(step))
        .and_then(|at| ids.get(at));
    let Some(next) = next.copied() else {
        model.say("the list ends here");
        return Vec::new();
    };
    model.places.pop();
    let list = model.place_mut();
    list.chosen = Some(next.to_string());
    model.places.push(Place::new(Screen::Letter(next)));
    arrived(model)
}

/// Up or down by so many rows, or lines where there are no rows.
pub(super) fn scroll(model: &mut Model, by: isize) -> Vec<Cmd> {
    let rows = model.rows();
    let at = model.chosen_of(&rows);
    let is_log = matches!(model.screen(), Screen::Logs { .. });
    let place = model.place_mut();
    match at {
        None => place.scroll = place.scroll.saturating_add_signed(by),
        Some(at) => {
            let to = at.saturating_add_signed(by).min(rows.len().saturating_sub(1));
            (place.index, place.chosen) = (to, rows.get(to).cloned());
            if is_log && to + 1 == rows.len() {
                // At the end it is followed again.
                place.chosen = None;
            }
        }
    }
    Vec::new()
}

/// A click chooses; on what is chosen it opens.
pub(super) fn click(model: &mut Model, row: String) -> Vec<Cmd> {
    if model.chosen().as_ref() == Some(&row) {
        return enter(model);
    }
    let index = model.rows().iter().position(|known| *known == row);
    if let Some(index) = index {
        let place = model.place_mut();
        (place.index, place.chosen) = (index, Some(row));
    }
    Vec::new()
}
