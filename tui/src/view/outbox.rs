//! Effects in the outbox: what waits to leave and what did not arrive. Knows nothing of the events
//! they belong to but handler and key.

use ratatui::layout::Rect;
use wonce_api::effect::EffectSummary;
use wonce_core::effect::EffectState;

use super::canvas::{Canvas, piece};
use super::page;
use super::table::{Column, Side, column, table};
use super::{Hits, Row};
use crate::desk::{Answer, MAX_ROWS};
use crate::model::{Model, Screen};
use crate::text::{span, time};
use crate::theme::Role;

const EFFECTS: &[Column] = &[
    column("ID", Side::Right, 3),
    column("SINK", Side::Left, 0),
    column("STATE", Side::Left, 0),
    column("TYPE", Side::Left, 4),
    column("HANDLER", Side::Left, 2),
    column("KEY", Side::Flex, 0),
    column("TRIES", Side::Right, 1),
    column("DUE IN", Side::Right, 1),
    column("PLANNED", Side::Left, 5),
    column("ERROR", Side::Flex, 6),
];

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    let (Some(Answer::Effects(list)), Screen::Effects(sink, state)) =
        (model.place().page.answer(), model.screen())
    else {
        return page::nothing(canvas, area, "EFFECTS", model);
    };
    let to = sink.as_ref().map_or_else(|| "all sinks".to_owned(), Clone::clone);
    let which = state.map_or("not confirmed", EffectState::as_str);
    let shown: Vec<Row> = model.effects().map(row).collect();
    let more = if list.next_before.is_some() { format!(", the newest {MAX_ROWS}") } else { String::new() };
    let title = format!("EFFECTS to {to}, {which}  {}{more}", shown.len());
    let inside = canvas.panel(area, &page::titled(model, title), Role::Muted);
    let none = format!("no effect is {which}");
    let empty = if list.effects.is_empty() { none.as_str() } else { "none holds this text; Esc shows all" };
    table(canvas, inside, EFFECTS, &shown, model.chosen_index(), empty)
}

fn row(one: &EffectSummary) -> Row {
    let effect = &one.effect;
    let role = match EffectState::parse(&effect.state) {
        Some(EffectState::Refused | EffectState::Unknown) => Role::Bad,
        Some(EffectState::Confirmed) => Role::Good,
        Some(EffectState::Planned) if effect.last_error.is_some() => Role::Warning,
        Some(EffectState::Planned | EffectState::Sending) | None => Role::Text,
    };
    let cells = vec![
        piece(Role::Text, effect.id.to_string()),
        piece(Role::Text, &effect.sink),
        piece(role, effect.state.clone()),
        piece(Role::Text, &effect.effect_type),
        piece(Role::Text, &one.handler),
        piece(Role::Text, &one.key),
        piece(Role::Text, effect.attempts.to_string()),
        piece(Role::Text, one.due_in_seconds.map_or_else(|| "-".to_owned(), |due| span(due.max(0)))),
        piece(Role::Muted, time(&effect.planned_at)),
        piece(Role::Warning, effect.last_error.as_deref().unwrap_or("-")),
    ];
    Row { id: effect.id.to_string(), cells }
}
