//! `wonce dead groups`.

use wonce_api::dead_letter::{Group, GroupList};

use super::table::{Side, Table, cell, toned};
use super::text::{cut, time, visible};
use super::{Paint, Tone};

const HANDLER_WIDTH: usize = 24;
const MESSAGE_WIDTH: usize = 60;
/// Versions that a row names; the rest is in `--json`.
const VERSIONS: usize = 2;

#[must_use]
pub fn list(list: &GroupList, paint: Paint) -> String {
    if list.groups.is_empty() {
        return "No open dead letters.\n".to_owned();
    }
    let columns = [
        ("GROUP", Side::Left),
        ("HANDLER", Side::Left),
        ("REASON", Side::Left),
        ("CODE", Side::Left),
        ("COUNT", Side::Right),
        ("LAST HOUR", Side::Right),
        ("FIRST FAILED", Side::Left),
        ("LAST FAILED", Side::Left),
        ("VERSIONS", Side::Left),
        ("LATEST MESSAGE", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for group in &list.groups {
        let tone = if group.last_hour > 0 { Tone::Bad } else { Tone::Usual };
        table.row(vec![
            cell(visible(&group.fingerprint)),
            cell(cut(group.handler.as_deref().unwrap_or("-"), HANDLER_WIDTH)),
            cell(visible(&group.reason)),
            cell(cut(&group.code, HANDLER_WIDTH)),
            cell(group.entries.to_string()),
            toned(tone, group.last_hour.to_string()),
            cell(time(&group.first_failed_at)),
            cell(time(&group.last_failed_at)),
            cell(versions(group)),
            cell(cut(&group.message, MESSAGE_WIDTH)),
        ]);
    }
    let mut page = table.render(paint);
    if let Some(before) = list.next_before {
        page.push_str(&format!("\nthe next page: --before {before}\n"));
    }
    page
}

fn versions(group: &Group) -> String {
    if group.versions.is_empty() {
        return "-".to_owned();
    }
    let named: Vec<String> = group
        .versions
        .iter()
        .take(VERSIONS)
        .map(|v| format!("{} ×{}", visible(&v.label), v.entries))
        .collect();
    let more = group.versions.len().saturating_sub(VERSIONS);
    let rest = if more > 0 { format!(" +{more}") } else { String::new() };
    format!("{}{rest}", named.join(" "))
}
