//! Hosts, sources and sinks, changes and alerts, help: screens that the stream alone fills. Knows
//! nothing of dead letters.

use ratatui::layout::Rect;

use super::canvas::{Canvas, piece, rows};
use super::overview::{counted, some_age};
use super::page::{self, Text};
use super::table::{Column, Side, column, table};
use super::{Hits, Row};
use crate::live::{HostRow, HostState, SinkRow, SourceRow};
use crate::model::Model;
use crate::text::{age, number, rate, time};
use crate::theme::{Role, Theme};

const HOSTS: &[Column] = &[
    column("", Side::Left, 0),
    column("HOST", Side::Flex, 0),
    column("STATE", Side::Left, 1),
    column("HEARD", Side::Right, 2),
    column("DONE/S", Side::Right, 1),
    column("PERMITS", Side::Right, 3),
    column("CPU", Side::Right, 3),
    column("MEMORY", Side::Right, 4),
    column("READERS", Side::Right, 7),
    column("LOST TICKS", Side::Right, 8),
    column("VERSION", Side::Left, 6),
    column("STARTED", Side::Left, 9),
    column("WHY", Side::Flex, 5),
];

pub(super) fn hosts(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    hosts_panel(canvas, area, model);
    Hits { rows: Vec::new(), fit: usize::from(area.height) }
}

pub(super) fn hosts_panel(canvas: &mut Canvas<'_>, area: Rect, model: &Model) {
    let title = format!("HOSTS  {} of {} alive", model.seen.totals.hosts_alive, model.seen.totals.hosts);
    let inside = canvas.panel(area, &title, Role::Muted);
    let theme = canvas.theme;
    let shown = model.seen.hosts.iter().filter(|row| model.passes(&[&row.name, &row.boot, &row.why]));
    let rows: Vec<Row> = shown.map(|row| host(theme, row)).collect();
    table(canvas, inside, HOSTS, &rows, None, "no host was heard");
}

fn host(theme: Theme, row: &HostRow) -> Row {
    let (mark, role) = theme.health(row.health);
    let state = match row.state {
        HostState::Alive => "alive",
        HostState::Silent => "silent",
        HostState::Stopped => "stopped",
    };
    let name = if row.is_answering { format!("{} (answers)", row.name) } else { row.name.clone() };
    let cells = vec![
        piece(role, mark),
        piece(Role::Text, name),
        piece(Role::Text, state),
        piece(Role::Text, age(row.heard)),
        piece(Role::Text, rate(row.rates.ended_well())),
        piece(Role::Text, format!("{}/{}", row.permits_in_use, row.permits)),
        piece(Role::Text, row.processors.map_or_else(|| "-".to_owned(), |cpu| format!("{cpu:.2}"))),
        piece(
            Role::Text,
            row.memory_bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{}MiB", bytes >> 20)),
        ),
        piece(Role::Text, row.readers.to_string()),
        piece(Role::Text, number(row.ticks_missed)),
        piece(Role::Muted, &row.version),
        piece(Role::Muted, time(&row.started_at)),
        piece(role, &row.why),
    ];
    Row { id: String::new(), cells }
}

const SINKS: &[Column] = &[
    column("", Side::Left, 0),
    column("SINK", Side::Flex, 0),
    column("SENT/S", Side::Right, 1),
    column("PLANNED", Side::Right, 0),
    column("OLDEST", Side::Right, 1),
    column("SENDING", Side::Right, 4),
    column("REFUSED", Side::Right, 2),
    column("IN DOUBT", Side::Right, 3),
    column("WHY", Side::Flex, 5),
];

pub(super) fn sinks_panel(canvas: &mut Canvas<'_>, area: Rect, model: &Model, chosen: Option<usize>) -> Hits {
    let inside = canvas.panel(area, "SINKS: effects that wait, and what became of others", Role::Muted);
    let theme = canvas.theme;
    let rows: Vec<Row> = model.sinks().map(|row| sink(theme, row)).collect();
    table(canvas, inside, SINKS, &rows, chosen, "no sink has had an effect yet")
}

fn sink(theme: Theme, row: &SinkRow) -> Row {
    let (mark, role) = theme.health(row.health);
    let cells = vec![
        piece(role, mark),
        piece(Role::Text, &row.name),
        piece(Role::Text, rate(row.confirmed_per_second)),
        piece(Role::Text, counted(row.planned)),
        piece(Role::Text, some_age(row.oldest_planned)),
        piece(Role::Text, counted(row.sending)),
        piece(Role::Text, counted(row.refused)),
        piece(Role::Text, counted(row.unknown)),
        piece(role, &row.why),
    ];
    Row { id: row.name.clone(), cells }
}

const SOURCES: &[Column] = &[
    column("", Side::Left, 0),
    column("SOURCE", Side::Flex, 0),
    column("ANSWERS/S", Side::Right, 0),
    column("BY STATUS", Side::Left, 1),
    column("WHY", Side::Flex, 2),
];

pub(super) fn outlets(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    let upper = area.height / 2;
    let theme = canvas.theme;
    let inside =
        canvas.panel(rows(area, 0, upper), "SOURCES: what was answered to those who send", Role::Muted);
    let shown: Vec<Row> = model
        .seen
        .sources
        .iter()
        .filter(|row| model.passes(&[&row.name, &row.why]))
        .map(|row| source(theme, row))
        .collect();
    table(canvas, inside, SOURCES, &shown, None, "no source was asked yet");
    sinks_panel(canvas, rows(area, upper, area.height), model, model.chosen_index())
}

fn source(theme: Theme, row: &SourceRow) -> Row {
    let (mark, role) = theme.health(row.health);
    let answers: Vec<String> = row.answers.iter().map(|(status, n)| format!("{status} x{n}")).collect();
    let cells = vec![
        piece(role, mark),
        piece(Role::Text, &row.name),
        piece(Role::Text, rate(row.answers_per_second)),
        piece(Role::Text, answers.join(", ")),
        piece(role, &row.why),
    ];
    Row { id: String::new(), cells }
}

pub(super) fn changes(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    page::text(canvas, area, "ALERTS AND CHANGES", &happened(model), model.place().scroll)
}

pub(super) fn changes_panel(canvas: &mut Canvas<'_>, area: Rect, model: &Model) {
    page::text(canvas, area, "ALERTS AND CHANGES", &happened(model), 0);
}

fn happened(model: &Model) -> Text {
    let mut text = Text::default();
    text.heading(format!("Alerts that fire: {}", model.seen.alerts.len()));
    for alert in &model.seen.alerts {
        text.line(Role::Bad, format!("  since {}  {}", time(&alert.since), alert.text));
    }
    text.heading("What people did, the latest first");
    let shown =
        model.seen.changes.iter().filter(|c| model.passes(&[&c.verb, &c.target, &c.actor, &c.reason]));
    let before = text.lines.len();
    for change in shown {
        text.line(
            Role::Text,
            format!(
                "  {}  {} {} by {}  {}",
                time(&change.at),
                change.verb,
                change.target,
                change.actor,
                change.reason
            ),
        );
    }
    if text.lines.len() == before {
        text.line(Role::Muted, "  nothing that is remembered");
    }
    text
}

pub(super) fn help(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    let mut text = Text::default();
    text.line(
        Role::Text,
        "Keys of the screen that you came from come first; nothing is changed without a question.",
    );
    let from = model.places.iter().rev().nth(1).map(|place| place.screen.contexts()).unwrap_or_default();
    let all = crate::keys::TABLE.iter().map(|binding| binding.context);
    let mut contexts: Vec<crate::keys::Context> = from;
    for context in all {
        if !contexts.contains(&context) {
            contexts.push(context);
        }
    }
    for context in contexts {
        let here = [context];
        let shown: Vec<_> = model
            .keymap
            .of(&here)
            .filter(|(binding, _)| model.passes(&[binding.text, binding.name]))
            .collect();
        if shown.is_empty() {
            continue;
        }
        text.heading(heading(context));
        for (binding, keys) in shown {
            let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
            text.lines.push(vec![
                piece(Role::Accent, format!("  {:<22}", keys.join(" "))),
                piece(Role::Text, binding.text),
                piece(Role::Muted, format!("  {}", binding.name)),
            ]);
        }
    }
    signs(&mut text, model.theme);
    page::text(canvas, area, "HELP", &text, model.place().scroll)
}

const fn heading(context: crate::keys::Context) -> &'static str {
    use crate::keys::Context as C;
    match context {
        C::Everywhere => "Everywhere",
        C::List => "Moving",
        C::Sorted => "Order",
        C::Rows => "Rows",
        C::Handler => "A handler",
        C::HandlerPage => "One handler's screen",
        C::Dead => "Dead letters and their groups",
        C::DeadList => "A list of dead letters",
        C::Discarded => "A discarded dead letter",
        C::DiscardedList => "A list of discarded dead letters",
        C::Shelf => "Open and discarded",
        C::Entry => "One dead letter",
        C::Operation => "An operation",
        C::Effects => "Effects",
        C::Logs => "The log",
    }
}

fn signs(text: &mut Text, theme: Theme) {
    use crate::live::Health;
    text.heading("Signs");
    let signs = [
        (Health::Fine, "all is well"),
        (Health::Warning, "worth a look"),
        (Health::Bad, "broken"),
        (Health::Paused, "paused by a person"),
        (Health::Unknown, "nothing is heard, or it has stopped"),
    ];
    for (health, said) in signs {
        let (mark, role) = theme.health(health);
        text.lines.push(vec![piece(role, format!("  {mark}  ")), piece(Role::Text, said)]);
    }
    text.line(Role::Text, "  -  does not apply   ?  not known   ~  an estimate, or a guess from few samples");
}
