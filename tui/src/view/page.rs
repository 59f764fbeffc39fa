//! Pages of text that are read: lines in roles, wrapped and scrolled; and what stands in the place of a
//! document that is not here. Knows nothing of what is written.

use ratatui::layout::Rect;
use wonce_api::action::Action;

use super::Hits;
use super::canvas::{Canvas, Line, piece, rows};
use crate::model::{Model, Page};
use crate::text::{age, time, visible, width, wrap};
use crate::theme::Role;

/// Lines that grow downwards. What is put in may come from outside: it is made visible here.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) lines: Vec<Line>,
}

impl Text {
    /// A heading, apart from what was before.
    pub(super) fn heading(&mut self, text: impl Into<String>) {
        if !self.lines.is_empty() {
            self.lines.push(Line::new());
        }
        self.lines.push(vec![piece(Role::Strong, text)]);
    }

    pub(super) fn line(&mut self, role: Role, text: impl Into<String>) {
        self.lines.push(vec![piece(role, visible(&text.into()))]);
    }

    /// `name  value`.
    pub(super) fn fact(&mut self, name: &str, value: impl Into<String>) {
        self.lines.push(vec![
            piece(Role::Muted, format!("  {name:<14}")),
            piece(Role::Text, visible(&value.into())),
        ]);
    }

    /// One line for each thing that people did to the subject of the page.
    pub(super) fn actions(&mut self, actions: &[Action]) {
        for Action { at, verb, actor, reason, .. } in actions {
            let said = format!("  {}  {verb} by {actor}  {reason}", time(at));
            self.line(Role::Text, said);
        }
    }

    pub(super) fn some_fact(&mut self, name: &str, value: Option<&String>) {
        if let Some(value) = value {
            self.fact(name, value.clone());
        }
    }
}

/// A title that says when what is below could not be asked for again.
pub(super) fn titled(model: &Model, title: String) -> String {
    match missing(model) {
        Some((_, reason)) => format!("{title}  OLD: {reason}"),
        None => title,
    }
}

/// Draws the lines from the place's scroll on; says how much is above and below.
pub(super) fn text(canvas: &mut Canvas<'_>, area: Rect, title: &str, text: &Text, scroll: usize) -> Hits {
    let inside = canvas.panel(area, title, Role::Muted);
    let columns = usize::from(inside.width);
    let lines: Vec<Line> = text.lines.iter().flat_map(|line| broken(line, columns)).collect();
    let fit = usize::from(inside.height);
    let from = scroll.min(lines.len().saturating_sub(fit));
    for (row, line) in (0..inside.height).zip(&lines[from..]) {
        canvas.line(rows(inside, row, 1), line);
    }
    if lines.len() > fit && area.width > 20 {
        let said = format!(" {}-{} of {} lines ", from + 1, (from + fit).min(lines.len()), lines.len());
        let edge = Rect { y: area.bottom() - 1, height: 1, width: area.width - 2, ..area };
        canvas.put_right(edge, &said, Role::Muted);
    }
    Hits { rows: Vec::new(), fit }
}

/// A line in as many as it needs. What follows a name goes on below the value.
fn broken(line: &Line, columns: usize) -> Vec<Line> {
    let taken: usize = line.iter().map(|(_, text)| width(text)).sum();
    let (Some((role, last)), true) = (line.last(), taken > columns) else { return vec![line.clone()] };
    let before = &line[..line.len() - 1];
    let blanks = last.len() - last.trim_start_matches(' ').len();
    let indent: usize = before.iter().map(|(_, text)| width(text)).sum::<usize>() + blanks;
    let parts = wrap(&last[blanks..], columns.saturating_sub(indent));
    let first = before.iter().cloned().chain([piece(Role::Text, " ".repeat(blanks))]);
    parts
        .into_iter()
        .enumerate()
        .map(|(index, part)| match index {
            0 => first.clone().chain([piece(*role, part)]).collect(),
            _ => vec![piece(Role::Text, " ".repeat(indent)), piece(*role, part)],
        })
        .collect()
}

/// What stands where a document should be: it is waited for, or it could not be had, and why.
pub(super) fn missing(model: &Model) -> Option<(Role, String)> {
    match &model.place().page {
        Page::Waiting => Some((Role::Muted, "asking the host".to_owned())),
        Page::Failed(at, reason, _) => {
            Some((Role::Bad, format!("{reason} (tried {} ago)", age(model.now.since(*at)))))
        }
        Page::Here(..) => None,
    }
}

/// A panel that says why there is nothing in it.
pub(super) fn nothing(canvas: &mut Canvas<'_>, area: Rect, title: &str, model: &Model) -> Hits {
    let (role, said) = missing(model).unwrap_or((Role::Muted, "the host said nothing of it".to_owned()));
    let mut page = Text::default();
    page.line(role, said);
    text(canvas, area, title, &page, 0)
}
