//! What stands before the screen: the palette, and the dialog that asks before something is changed.
//! Knows nothing of the screen behind.

use ratatui::layout::Rect;

use super::canvas::{Canvas, piece, rows};
use super::table::first;
use crate::model::{Dialog, Entry, Focus, Model, Need, Palette};
use crate::text::{left, visible, wrap};
use crate::theme::Role;
use crate::update::typed::choices;

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, model: &Model) {
    match &model.entry {
        Entry::Palette(palette) => self::palette(canvas, area, model, palette),
        Entry::Confirm(dialog) => self::dialog(canvas, area, dialog),
        Entry::Keys | Entry::Filter | Entry::Lookup(_) => {}
    }
}

/// A place in the middle.
fn middle(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

fn palette(canvas: &mut Canvas<'_>, area: Rect, model: &Model, palette: &Palette) {
    let place = middle(area, 70, area.height.saturating_sub(4).min(20));
    canvas.clear(place);
    let inside = canvas.panel(place, "WHAT TO DO", Role::Accent);
    canvas.line(
        inside,
        &[piece(Role::Accent, ": "), piece(Role::Text, visible(&palette.typed)), piece(Role::Muted, "_")],
    );
    let list = rows(inside, 1, inside.height);
    let choices = choices(model);
    if choices.is_empty() {
        canvas.put(list, "nothing here is called so", Role::Muted);
    }
    let from = first(Some(palette.index), usize::from(list.height), choices.len());
    for (row, (index, choice)) in (0..list.height).zip((from..).zip(&choices[from..])) {
        let place = rows(list, row, 1);
        let text = left(&choice.text, usize::from(list.width).saturating_sub(12));
        canvas
            .line(place, &[piece(Role::Text, format!(" {text} ")), piece(Role::Accent, choice.key.clone())]);
        if index == palette.index {
            canvas.put(Rect { width: 1, ..place }, canvas.theme.pick("▌", ">"), Role::Accent);
            canvas.buffer.set_style(place, canvas.theme.chosen());
        }
    }
}

const DIALOG_WIDTH: u16 = 76;
const NAMES: usize = 11;

fn dialog(canvas: &mut Canvas<'_>, area: Rect, dialog: &Dialog) {
    let columns = usize::from(DIALOG_WIDTH.min(area.width)).saturating_sub(4);
    let lines = lines(dialog, columns);
    let place = middle(area, DIALOG_WIDTH, u16::try_from(lines.len() + 2).unwrap_or(area.height));
    canvas.clear(place);
    let inside = canvas.panel(place, &visible(&dialog.title), Role::Warning);
    // When it does not fit, the end is what must be seen: it holds the buttons.
    let skipped = lines.len().saturating_sub(usize::from(inside.height));
    for (row, line) in (0..inside.height).zip(&lines[skipped..]) {
        let place = Rect { x: inside.x + 1, width: inside.width - 1, ..rows(inside, row, 1) };
        match line {
            Shown::Fact(name, text) => {
                canvas.line(place, &[piece(Role::Muted, left(name, NAMES)), piece(Role::Text, text.clone())]);
            }
            Shown::Field(name, text, is_here) => {
                let role = if *is_here { Role::Accent } else { Role::Muted };
                let caret = if *is_here { "_" } else { "" };
                canvas.line(
                    place,
                    &[piece(role, left(name, NAMES)), piece(Role::Text, format!("{text}{caret}"))],
                );
            }
            Shown::Plain(role, text) => {
                canvas.put(place, text, *role);
            }
            Shown::Buttons => buttons(canvas, place, dialog.focus),
        }
    }
}

enum Shown {
    Fact(&'static str, String),
    Field(&'static str, String, bool),
    Plain(Role, String),
    Buttons,
}

fn lines(dialog: &Dialog, columns: usize) -> Vec<Shown> {
    let mut lines = Vec::new();
    for (name, text) in &dialog.facts {
        for (index, part) in wrap(text, columns.saturating_sub(NAMES)).into_iter().enumerate() {
            lines.push(Shown::Fact(if index == 0 { name } else { "" }, part));
        }
    }
    lines.push(Shown::Plain(Role::Text, String::new()));
    if let Some(count) = dialog.count {
        lines.push(Shown::Plain(Role::Warning, format!("type {count} to show that it is meant")));
        lines.push(Shown::Field("count", visible(&dialog.typed), dialog.focus == Focus::Count));
    }
    let name = if dialog.needs_reason == Need::Required { "reason *" } else { "reason" };
    let reason = visible(&dialog.reason);
    // The end of a long reason is where it is written.
    let shown: String = reason.chars().rev().take(columns.saturating_sub(NAMES + 1)).collect();
    lines.push(Shown::Field(name, shown.chars().rev().collect(), dialog.focus == Focus::Reason));
    lines.push(Shown::Plain(Role::Text, String::new()));
    for part in wrap(&format!("$ {}", dialog.command_line()), columns) {
        lines.push(Shown::Plain(Role::Muted, part));
    }
    for part in wrap(&dialog.complaint, columns).into_iter().filter(|part| !part.is_empty()) {
        lines.push(Shown::Plain(Role::Bad, part));
    }
    lines.push(Shown::Buttons);
    lines
}

fn buttons(canvas: &mut Canvas<'_>, area: Rect, focus: Focus) {
    let labels = [(Focus::Cancel, "[ Cancel ]"), (Focus::DoIt, "[ Do it ]")];
    let mut x = area.x;
    for (which, label) in labels {
        let place = Rect { x, width: 12.min(area.right().saturating_sub(x)), ..area };
        let taken = canvas.put(place, label, Role::Text);
        if which == focus {
            canvas.buffer.set_style(Rect { width: taken, ..place }, canvas.theme.chosen());
        }
        x += 14;
    }
    let hint = "Tab next  Enter choose  Esc cancel";
    canvas.put_right(Rect { x, width: area.right().saturating_sub(x), ..area }, hint, Role::Muted);
}
