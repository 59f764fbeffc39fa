//! `wonce operation …`.

use wonce_api::operation::{ItemList, Operation, OperationDetail, OperationList};

use super::table::{Side, Table, cell, toned};
use super::text::{cut, facts, span, time, visible};
use super::{Paint, Tone};

const SELECTION_WIDTH: usize = 40;
const KEY_WIDTH: usize = 40;
const RESULT_WIDTH: usize = 60;

#[must_use]
pub fn list(list: &OperationList, paint: Paint) -> String {
    if list.operations.is_empty() {
        return "No operations.\n".to_owned();
    }
    let columns = [
        ("OPERATION", Side::Right),
        ("VERB", Side::Left),
        ("STATE", Side::Left),
        ("TOTAL", Side::Right),
        ("DONE", Side::Right),
        ("REFUSED", Side::Right),
        ("LEFT", Side::Right),
        ("RATE", Side::Right),
        ("BEGUN", Side::Left),
        ("BY", Side::Left),
        ("SELECTION", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for operation in &list.operations {
        table.row(vec![
            cell(operation.id.to_string()),
            cell(visible(&operation.verb)),
            toned(tone(operation), visible(&operation.state)),
            cell(operation.total.to_string()),
            cell(operation.succeeded.to_string()),
            toned(refused_tone(operation), operation.refused.to_string()),
            cell(operation.waiting.to_string()),
            cell(operation.rate.to_string()),
            cell(time(&operation.created_at)),
            cell(cut(&operation.actor, KEY_WIDTH)),
            cell(cut(&operation.filter.to_string(), SELECTION_WIDTH)),
        ]);
    }
    let mut page = table.render(paint);
    if let Some(before) = list.next_before {
        page.push_str(&format!("\nthe next page: --before {before}\n"));
    }
    page
}

#[must_use]
pub fn detail(detail: &OperationDetail, paint: Paint) -> String {
    let operation = &detail.operation;
    let state = paint.tone(tone(operation), &visible(&operation.state));
    let progress = format!(
        "{} of {} done, {} refused, {} left",
        operation.succeeded, operation.total, operation.refused, operation.waiting
    );
    let left = (operation.waiting > 0 && operation.ended_at.is_none()).then(|| span(operation.seconds_left));
    let mut text = format!("operation {}: {} is {state}\n", operation.id, visible(&operation.verb));
    text.push_str(&facts(
        2,
        &[
            ("selection", Some(visible(&operation.filter.to_string()))),
            ("frozen at", Some(format!("dead letter {}", operation.as_of))),
            ("progress", Some(progress)),
            ("rate", Some(format!("{} a second", operation.rate))),
            ("takes still", left),
            ("by", Some(visible(&operation.actor))),
            ("reason", Some(visible(&operation.reason)).filter(|reason| !reason.is_empty())),
            ("begun", Some(time(&operation.created_at))),
            ("ended", operation.ended_at.as_deref().map(time)),
        ],
    ));
    if !detail.refusals.is_empty() {
        let mut table = Table::new(&[("REFUSED", Side::Right), ("WHY", Side::Left)]);
        for refusal in &detail.refusals {
            table.row(vec![cell(refusal.items.to_string()), cell(cut(&refusal.result, RESULT_WIDTH))]);
        }
        text.push_str(&format!("\n{}", table.render(paint)));
    }
    text
}

#[must_use]
pub fn items(list: &ItemList, paint: Paint) -> String {
    if list.items.is_empty() {
        return "No items.\n".to_owned();
    }
    let columns = [
        ("DEAD LETTER", Side::Right),
        ("STATE", Side::Left),
        ("HANDLER", Side::Left),
        ("KEY", Side::Left),
        ("RESULT", Side::Left),
        ("NOW", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for item in &list.items {
        let tone = if item.state == "refused" { Tone::Warning } else { Tone::Usual };
        table.row(vec![
            cell(item.dead_letter.to_string()),
            toned(tone, visible(&item.state)),
            cell(cut(item.handler.as_deref().unwrap_or("-"), KEY_WIDTH)),
            cell(cut(item.key.as_deref().unwrap_or("-"), KEY_WIDTH)),
            cell(cut(&item.result, RESULT_WIDTH)),
            cell(visible(item.standing.as_deref().unwrap_or("-"))),
        ]);
    }
    let mut page = table.render(paint);
    if let Some(after) = list.next_after {
        page.push_str(&format!("\nthe next page: --after {after}\n"));
    }
    page
}

fn tone(operation: &Operation) -> Tone {
    match operation.state.as_str() {
        "finished" => Tone::Good,
        "paused" | "aborted" => Tone::Warning,
        _ => Tone::Usual,
    }
}

fn refused_tone(operation: &Operation) -> Tone {
    if operation.refused > 0 { Tone::Warning } else { Tone::Usual }
}
