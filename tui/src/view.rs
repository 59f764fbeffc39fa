//! The model drawn into a buffer: identity, tabs, one sentence of verdict, the screen, the last line.
//! Pure; every number comes from the model and none is made here. Knows no terminal.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::model::{Model, Screen};
use crate::theme::Role;
use canvas::{Canvas, rows};

mod canvas;
mod dead;
mod event;
mod frame;
mod handler;
mod heat;
mod logs;
mod outbox;
mod overlay;
mod overview;
mod page;
mod plain;
mod table;
mod tiles;

/// A row of a table.
#[derive(Debug, Clone, Default)]
struct Row {
    /// By which it is chosen; empty when it cannot be.
    id: String,
    cells: Vec<(Role, String)>,
}

/// Where rows were drawn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hits {
    pub rows: Vec<(Rect, String)>,
    /// How many fit.
    pub fit: usize,
}

impl Hits {
    /// The row at a point of the screen.
    #[must_use]
    pub fn at(&self, x: u16, y: u16) -> Option<&str> {
        let inside = |area: &Rect| area.contains((x, y).into());
        self.rows.iter().find(|(area, _)| inside(area)).map(|(_, id)| id.as_str())
    }
}

/// Smaller ones show the vital signs alone.
const LEAST: (u16, u16) = (60, 16);

/// Draws everything; gives where rows can be clicked.
pub fn draw(model: &Model, buffer: &mut Buffer) -> Hits {
    let area = buffer.area;
    let mut canvas = Canvas { buffer, theme: model.theme };
    if area.width < LEAST.0 || area.height < LEAST.1 {
        frame::vital_signs(&mut canvas, area, model);
        return Hits::default();
    }
    frame::head(&mut canvas, rows(area, 0, 3), model);
    let body = rows(area, 3, area.height - 4);
    let hits = screen(&mut canvas, body, model);
    if model.seen.hello.is_some() && !model.seen.link.is_live() {
        let faded = canvas.theme.style(Role::Muted);
        canvas.buffer.set_style(body, faded);
    }
    frame::foot(&mut canvas, rows(area, area.height - 1, 1), model);
    overlay::draw(&mut canvas, area, model);
    hits
}

fn screen(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    match model.screen() {
        Screen::Overview => overview::draw(canvas, area, model),
        Screen::Handler(name) => handler::draw(canvas, area, model, name),
        Screen::Groups(_) => dead::groups(canvas, area, model),
        Screen::Letters(..) => dead::letters(canvas, area, model),
        Screen::Letter(_) => event::letter(canvas, area, model),
        Screen::Operations => dead::operations(canvas, area, model),
        Screen::Operation(_) => dead::operation(canvas, area, model),
        Screen::Event { .. } => event::event(canvas, area, model),
        Screen::Hosts => plain::hosts(canvas, area, model),
        Screen::Outlets => plain::outlets(canvas, area, model),
        Screen::Changes => plain::changes(canvas, area, model),
        Screen::Effects(..) => outbox::draw(canvas, area, model),
        Screen::Logs { .. } => logs::draw(canvas, area, model),
        Screen::Help => plain::help(canvas, area, model),
    }
}

#[cfg(test)]
mod tests;
