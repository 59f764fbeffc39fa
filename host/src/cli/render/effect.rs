//! Effects in the outbox.

use wonce_api::effect::EffectList;
use wonce_api::event::EffectSeen;

use super::table::{Side, Table, cell, toned};
use super::text::{cut, span, time, visible};
use super::{Paint, Tone};

const KEY_WIDTH: usize = 40;
const ERROR_WIDTH: usize = 60;

/// `wonce effect list`.
#[must_use]
pub fn list(list: &EffectList, paint: Paint) -> String {
    if list.effects.is_empty() {
        return "No effects.\n".to_owned();
    }
    let columns = [
        ("EFFECT", Side::Right),
        ("SINK", Side::Left),
        ("STATE", Side::Left),
        ("TYPE", Side::Left),
        ("HANDLER", Side::Left),
        ("KEY", Side::Left),
        ("TRIES", Side::Right),
        ("PLANNED", Side::Left),
        ("DUE IN", Side::Right),
        ("ERROR", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for one in &list.effects {
        let effect = &one.effect;
        let due = one.due_in_seconds.map_or_else(|| "-".to_owned(), |due| span(due.max(0)));
        table.row(vec![
            cell(effect.id.to_string()),
            cell(visible(&effect.sink)),
            toned(tone(effect), visible(&effect.state)),
            cell(visible(&effect.effect_type)),
            cell(visible(&one.handler)),
            cell(cut(&one.key, KEY_WIDTH)),
            cell(effect.attempts.to_string()),
            cell(time(&effect.planned_at)),
            cell(due),
            cell(cut(effect.last_error.as_deref().unwrap_or("-"), ERROR_WIDTH)),
        ]);
    }
    let mut page = table.render(paint);
    if let Some(before) = list.next_before {
        page.push_str(&format!("\nthe next page: --before {before}\n"));
    }
    page
}

/// The effects of one event.
pub(super) fn of_event(effects: &[EffectSeen], paint: Paint) -> String {
    let columns = [
        ("EFFECT", Side::Right),
        ("SINK", Side::Left),
        ("TYPE", Side::Left),
        ("STATE", Side::Left),
        ("TRIES", Side::Right),
        ("DEDUP KEY", Side::Left),
        ("ERROR", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for effect in effects {
        table.row(vec![
            cell(effect.id.to_string()),
            cell(visible(&effect.sink)),
            cell(visible(&effect.effect_type)),
            toned(tone(effect), visible(&effect.state)),
            cell(effect.attempts.to_string()),
            cell(visible(&effect.dedup_key)),
            cell(cut(effect.last_error.as_deref().unwrap_or("-"), ERROR_WIDTH)),
        ]);
    }
    table.render(paint)
}

fn tone(effect: &EffectSeen) -> Tone {
    match effect.state.as_str() {
        "confirmed" => Tone::Good,
        "refused" | "unknown" => Tone::Bad,
        _ => Tone::Usual,
    }
}
