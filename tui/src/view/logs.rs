//! The log of the hosts, newest at the bottom, and the chosen line whole below. Knows nothing of how
//! lines come here.

use ratatui::layout::Rect;
use wonce_api::live::{LogLevel, LogLine};

use super::canvas::{Canvas, piece, rows};
use super::page::{self, Text};
use super::table::{Column, Side, column, table};
use super::{Hits, Row};
use crate::live::{Line, Said};
use crate::model::{Model, Screen};
use crate::text::{number, time_of_day};
use crate::theme::Role;

const LINES: &[Column] = &[
    column("TIME", Side::Left, 2),
    column("LEVEL", Side::Left, 0),
    column("HOST", Side::Left, 4),
    column("HANDLER", Side::Left, 3),
    column("MESSAGE", Side::Flex, 0),
];
/// The chosen line has this much room where the log keeps as much for itself.
const WHOLE_HEIGHT: u16 = 8;
/// Fields that the columns show already.
const SHOWN_FIELDS: [&str; 1] = ["handler"];

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    let Screen::Logs { handler, level } = model.screen() else { return Hits::default() };
    let upper = if area.height > 2 * WHOLE_HEIGHT { area.height - WHOLE_HEIGHT } else { area.height };
    let list: Vec<&Line> = model.log_lines().collect();
    let of = handler.as_ref().map_or_else(|| "all handlers".to_owned(), Clone::clone);
    let title = format!("LOG of {of}, {} and worse  {} lines{}", level.as_str(), list.len(), away(model));
    let inside = canvas.panel(rows(area, 0, upper), &title, Role::Muted);
    let shown: Vec<Row> = list.iter().map(|line| row(line)).collect();
    let chosen = model.chosen_index();
    let empty = if model.place().filter.is_empty() {
        "no line yet"
    } else {
        "no line holds this text; Esc shows all"
    };
    let hits = table(canvas, inside, LINES, &shown, chosen, empty);
    if upper < area.height {
        let whole = chosen.and_then(|index| list.get(index)).map_or_else(Text::default, |line| whole(line));
        page::text(canvas, rows(area, upper, area.height), "THE CHOSEN LINE", &whole, 0);
    }
    hits
}

/// Hosts whose lines do not come, with the reason of the first.
fn away(model: &Model) -> String {
    let mut reasons = model.logs.feeds().filter_map(|feed| feed.link.reason());
    match (reasons.next(), reasons.count()) {
        (None, _) => String::new(),
        (Some(reason), 0) => format!("  INCOMPLETE: {reason}"),
        (Some(reason), more) => format!("  INCOMPLETE: {reason} (and {more} more)"),
    }
}

fn row(line: &Line) -> Row {
    let id = line.number.to_string();
    let cells = match &line.said {
        Said::Line(said) => vec![
            piece(Role::Muted, time_of_day(&said.at)),
            piece(role(&said.level), said.level.clone()),
            piece(Role::Muted, line.host.clone()),
            piece(Role::Text, said.fields.get("handler").map_or("-", String::as_str)),
            piece(Role::Text, format!("{}{}", said.message, fields(said))),
        ],
        Said::Missed(lines) => vec![
            piece(Role::Muted, ""),
            piece(Role::Warning, "-"),
            piece(Role::Muted, line.host.clone()),
            piece(Role::Muted, "-"),
            piece(Role::Warning, missed(*lines)),
        ],
    };
    Row { id, cells }
}

fn missed(lines: u64) -> String {
    format!("{} lines were not sent here, because there were too many", number(lines))
}

fn role(level: &str) -> Role {
    match LogLevel::parse(level) {
        Some(LogLevel::Error) => Role::Bad,
        Some(LogLevel::Warn) => Role::Warning,
        Some(LogLevel::Info) | None => Role::Muted,
    }
}

fn fields(line: &LogLine) -> String {
    let others = line.fields.iter().filter(|(name, _)| !SHOWN_FIELDS.contains(&name.as_str()));
    others.map(|(name, value)| format!("  {name}={value}")).collect()
}

fn whole(line: &Line) -> Text {
    let mut text = Text::default();
    match &line.said {
        Said::Line(said) => {
            text.line(role(&said.level), format!("{} {} at {}", said.level, said.message, line.host));
            text.fact("time", &said.at);
            for (name, value) in &said.fields {
                text.fact(name, value);
            }
        }
        Said::Missed(lines) => text.line(Role::Warning, missed(*lines)),
    }
    text
}
