//! Keys that are text: the filter, the palette, the key of an event. Only Enter, Esc, Backspace and
//! arrows mean more than themselves here. Knows nothing of what is drawn.

use crate::keys::{Action, Binding, Key};
use crate::model::{Entry, MAX_TYPED, Model, Screen};

use super::{Cmd, confirm, go, keys};

/// One thing that can be done by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub what: What,
    /// What it does.
    pub text: String,
    /// The key that does the same; empty when none does.
    pub key: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    Action(Action),
    Handler(String),
}

pub(super) fn key(model: &mut Model, key: Key) -> Vec<Cmd> {
    match key {
        Key::Ctrl('c') => return vec![Cmd::Quit],
        Key::Esc => {
            if model.entry == Entry::Filter {
                model.place_mut().filter.clear();
            }
            model.entry = Entry::Keys;
        }
        Key::Enter => return entered(model),
        Key::Up => step(model, -1),
        Key::Down | Key::Tab => step(model, 1),
        Key::Ctrl('u') => change(model, String::clear),
        Key::Backspace => change(model, |text| {
            text.pop();
        }),
        Key::Char(c) => change(model, |text| add(text, c)),
        _ => {}
    }
    Vec::new()
}

/// One character of a pasted text; keys that are no text are left out.
pub(super) fn paste(model: &mut Model, c: char) -> Vec<Cmd> {
    match model.entry {
        // A pasted text must never be taken for keys.
        Entry::Keys => Vec::new(),
        _ if c.is_control() => Vec::new(),
        Entry::Confirm(_) => confirm::key(model, Key::Char(c)),
        Entry::Filter | Entry::Palette(_) | Entry::Lookup(_) => key(model, Key::Char(c)),
    }
}

/// A text that is typed has an end.
pub(super) fn add(text: &mut String, c: char) {
    if text.chars().count() < MAX_TYPED {
        text.push(c);
    }
}

fn change(model: &mut Model, with: impl FnOnce(&mut String)) {
    match &mut model.entry {
        Entry::Filter => with(&mut model.place_mut().filter),
        Entry::Palette(palette) => {
            with(&mut palette.typed);
            palette.index = 0;
        }
        Entry::Lookup(text) => with(text),
        Entry::Keys | Entry::Confirm(_) => {}
    }
}

fn step(model: &mut Model, by: isize) {
    let most = choices(model).len().saturating_sub(1);
    if let Entry::Palette(palette) = &mut model.entry {
        palette.index = palette.index.saturating_add_signed(by).min(most);
    }
}

fn entered(model: &mut Model) -> Vec<Cmd> {
    match std::mem::take(&mut model.entry) {
        Entry::Palette(palette) => {
            model.entry = Entry::Palette(palette.clone());
            let choice = choices(model).into_iter().nth(palette.index);
            model.entry = Entry::Keys;
            match choice.map(|choice| choice.what) {
                Some(What::Action(action)) => keys::act(model, action),
                Some(What::Handler(name)) => go::open(model, Screen::Handler(name)),
                None => {
                    model.complain(format!("nothing here is called \"{}\"", palette.typed));
                    Vec::new()
                }
            }
        }
        Entry::Lookup(text) => look_up(model, &text),
        Entry::Keys | Entry::Filter | Entry::Confirm(_) => Vec::new(),
    }
}

/// `KEY`, of the handler that is chosen or shown, or `HANDLER KEY`.
fn look_up(model: &mut Model, text: &str) -> Vec<Cmd> {
    let text = text.trim();
    let named = text.split_once(' ').map(|(handler, key)| (handler.to_owned(), key.trim().to_owned()));
    let known = |handler: &String| model.seen.handlers.iter().any(|row| row.name == *handler);
    let here = || keys::shown_handler(model).map(|handler| (handler, text.to_owned()));
    match named.filter(|(handler, _)| known(handler)).or_else(here) {
        Some((handler, key)) if !key.is_empty() => go::open(model, Screen::Event { handler, key }),
        Some(_) => Vec::new(),
        None => {
            model.complain("say of which handler: HANDLER KEY");
            Vec::new()
        }
    }
}

/// What can be done here, as far as its text holds what was typed.
#[must_use]
pub fn choices(model: &Model) -> Vec<Choice> {
    let Entry::Palette(palette) = &model.entry else { return Vec::new() };
    let wanted = palette.typed.to_lowercase();
    let contexts = model.screen().contexts();
    let action = |(binding, keys): (&Binding, &[Key])| Choice {
        what: What::Action(binding.action),
        text: binding.text.to_owned(),
        key: keys.first().map(ToString::to_string).unwrap_or_default(),
    };
    let actions = model.keymap.of(&contexts).filter(|(binding, _)| binding.action != Action::Palette);
    let handlers = model.seen.handlers.iter().map(|row| Choice {
        what: What::Handler(row.name.clone()),
        text: format!("show handler {}", row.name),
        key: String::new(),
    });
    let all = actions.map(action).chain(handlers);
    all.filter(|choice| wanted.split_whitespace().all(|word| choice.text.to_lowercase().contains(word)))
        .collect()
}
