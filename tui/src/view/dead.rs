//! Dead letters by cause and one by one, and what is done to many of them at once. Knows nothing of
//! single events.

use ratatui::layout::Rect;
use wonce_api::dead_letter::{DeadLetterSummary, Group, RESTORABLE_DAYS};
use wonce_api::operation::Operation;

use super::canvas::{Canvas, piece};
use super::page::{self, Text};
use super::table::{Column, Side, column, table};
use super::{Hits, Row};
use crate::desk::{Answer, MAX_ROWS, Shelf};
use crate::model::{Model, Screen};
use crate::text::{number, span, time};
use crate::theme::Role;

const GROUPS: &[Column] = &[
    column("HANDLER", Side::Left, 0),
    column("REASON", Side::Left, 4),
    column("CODE", Side::Left, 1),
    column("ENTRIES", Side::Right, 0),
    column("LAST HOUR", Side::Right, 3),
    column("NEWEST", Side::Left, 2),
    column("OLDEST", Side::Left, 6),
    column("VERSIONS", Side::Left, 5),
    column("MESSAGE", Side::Flex, 0),
];

pub(super) fn groups(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    let Some(Answer::Groups(list)) = model.place().page.answer() else {
        return page::nothing(canvas, area, "DEAD LETTERS BY CAUSE", model);
    };
    let rows: Vec<Row> = model.groups().map(group).collect();
    let entries: i64 = model.groups().map(|group| group.entries).sum();
    let more =
        if list.next_before.is_some() { format!(", the newest {MAX_ROWS} causes") } else { String::new() };
    let title =
        page::titled(model, format!("DEAD LETTERS BY CAUSE  {} causes, {entries} open{more}", rows.len()));
    let inside = canvas.panel(area, &title, Role::Muted);
    let empty = if list.groups.is_empty() {
        "no open dead letter"
    } else {
        "no cause holds this text; Esc shows all"
    };
    table(canvas, inside, GROUPS, &rows, model.chosen_index(), empty)
}

fn group(group: &Group) -> Row {
    let versions: Vec<String> =
        group.versions.iter().map(|v| format!("{} x{}", v.label, v.entries)).collect();
    let fresh = if group.last_hour > 0 { Role::Warning } else { Role::Text };
    let cells = vec![
        piece(Role::Text, group.handler.as_deref().unwrap_or("-")),
        piece(Role::Text, group.reason.clone()),
        piece(Role::Text, &group.code),
        piece(Role::Strong, group.entries.to_string()),
        piece(fresh, group.last_hour.to_string()),
        piece(Role::Text, time(&group.last_failed_at)),
        piece(Role::Muted, time(&group.first_failed_at)),
        piece(Role::Muted, versions.join(", ")),
        piece(Role::Text, &group.message),
    ];
    Row { id: group.fingerprint.clone(), cells }
}

const LETTERS: &[Column] = &[
    column("ID", Side::Right, 0),
    column("STATE", Side::Left, 4),
    column("HANDLER", Side::Left, 2),
    column("KEY", Side::Flex, 0),
    column("REASON", Side::Left, 3),
    column("CODE", Side::Left, 1),
    column("TRIES", Side::Right, 5),
    column("FAILED", Side::Left, 1),
    column("MESSAGE", Side::Flex, 6),
];

pub(super) fn letters(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    let (Some(Answer::Letters(list)), Screen::Letters(selection, shelf)) =
        (model.place().page.answer(), model.screen())
    else {
        return page::nothing(canvas, area, "DEAD LETTERS", model);
    };
    let name = match shelf {
        Shelf::Open => "DEAD LETTERS".to_owned(),
        Shelf::Discarded => format!("DISCARDED, for {RESTORABLE_DAYS} days to be restored"),
    };
    let rows: Vec<Row> = model.letters().map(letter).collect();
    let title = page::titled(model, format!("{name}: {selection}  {} of {}", rows.len(), list.total));
    let inside = canvas.panel(area, &title, Role::Muted);
    let none = format!("no {} dead letter matches", shelf.label());
    let empty =
        if list.dead_letters.is_empty() { none.as_str() } else { "none holds this text; Esc shows all" };
    table(canvas, inside, LETTERS, &rows, model.chosen_index(), empty)
}

fn letter(letter: &DeadLetterSummary) -> Row {
    let cells = vec![
        piece(Role::Text, letter.id.to_string()),
        piece(Role::Muted, letter.state.clone()),
        piece(Role::Text, letter.handler.as_deref().unwrap_or("-")),
        piece(Role::Text, letter.key.as_deref().unwrap_or("-")),
        piece(Role::Text, letter.reason.clone()),
        piece(Role::Text, &letter.code),
        piece(Role::Text, letter.attempts.to_string()),
        piece(Role::Text, time(&letter.last_failed_at)),
        piece(Role::Text, &letter.message),
    ];
    Row { id: letter.id.to_string(), cells }
}

const OPERATIONS: &[Column] = &[
    column("ID", Side::Right, 0),
    column("VERB", Side::Left, 0),
    column("STATE", Side::Left, 0),
    column("TOTAL", Side::Right, 1),
    column("SUCCEEDED", Side::Right, 2),
    column("REFUSED", Side::Right, 2),
    column("WAITING", Side::Right, 0),
    column("LEFT", Side::Right, 3),
    column("BEGUN", Side::Left, 5),
    column("BY", Side::Left, 4),
    column("REASON", Side::Flex, 6),
];

pub(super) fn operations(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    let Some(Answer::Operations(list)) = model.place().page.answer() else {
        return page::nothing(canvas, area, "OPERATIONS", model);
    };
    let rows: Vec<Row> = model.operations().map(operation_row).collect();
    let title =
        page::titled(model, format!("OPERATIONS on many dead letters, the latest first  {}", rows.len()));
    let inside = canvas.panel(area, &title, Role::Muted);
    let empty = if list.operations.is_empty() {
        "none yet: R or X in a list of dead letters begins one"
    } else {
        "none holds this text; Esc shows all"
    };
    table(canvas, inside, OPERATIONS, &rows, model.chosen_index(), empty)
}

fn operation_row(operation: &Operation) -> Row {
    let role = if operation.state == "running" { Role::Good } else { Role::Text };
    let refused = if operation.refused > 0 { Role::Warning } else { Role::Text };
    let cells = vec![
        piece(Role::Text, operation.id.to_string()),
        piece(Role::Text, operation.verb.clone()),
        piece(role, operation.state.clone()),
        piece(Role::Text, operation.total.to_string()),
        piece(Role::Text, operation.succeeded.to_string()),
        piece(refused, operation.refused.to_string()),
        piece(Role::Text, operation.waiting.to_string()),
        piece(Role::Text, left(operation)),
        piece(Role::Muted, time(&operation.created_at)),
        piece(Role::Muted, &operation.actor),
        piece(Role::Muted, &operation.reason),
    ];
    Row { id: operation.id.to_string(), cells }
}

fn left(operation: &Operation) -> String {
    if operation.waiting > 0 && operation.state == "running" {
        span(operation.seconds_left)
    } else {
        "-".to_owned()
    }
}

pub(super) fn operation(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    let Some(Answer::Operation(detail)) = model.place().page.answer() else {
        return page::nothing(canvas, area, "OPERATION", model);
    };
    let operation = &detail.operation;
    let mut text = Text::default();
    let acted = operation.total - operation.waiting;
    text.line(
        Role::Strong,
        format!("{} of {} dead letters, {}", operation.verb, operation.total, operation.state),
    );
    text.line(Role::Good, bar(canvas, acted, operation.total, usize::from(area.width).saturating_sub(24)));
    text.fact(
        "acted on",
        format!(
            "{acted} of {}: {} succeeded, {} refused",
            operation.total, operation.succeeded, operation.refused
        ),
    );
    text.fact(
        "waiting",
        format!("{}, {} left at {} a second", operation.waiting, left(operation), operation.rate),
    );
    text.fact("begun", format!("{} by {}", time(&operation.created_at), operation.actor));
    if let Some(ended) = &operation.ended_at {
        text.fact("ended", time(ended));
    }
    text.fact("reason", &operation.reason);
    text.fact("frozen at", format!("dead letter {}", operation.as_of));
    text.heading("Why items were refused");
    if detail.refusals.is_empty() {
        text.line(Role::Muted, "  none was");
    }
    for refusal in &detail.refusals {
        text.line(
            Role::Warning,
            format!("  {}  {}", number(u64::try_from(refusal.items).unwrap_or(0)), refusal.result),
        );
    }
    text.heading("What people did to it");
    text.actions(&detail.actions);
    page::text(
        canvas,
        area,
        &page::titled(model, format!("OPERATION {}", operation.id)),
        &text,
        model.place().scroll,
    )
}

fn bar(canvas: &Canvas<'_>, done: i64, total: i64, columns: usize) -> String {
    let [done, total] = [done, total].map(|n| usize::try_from(n).unwrap_or(0));
    let filled = (done * columns).checked_div(total).unwrap_or(0).min(columns);
    let [full, empty] = [canvas.theme.pick("█", "#"), canvas.theme.pick("·", ".")];
    format!("  {}{}", full.repeat(filled), empty.repeat(columns - filled))
}
