//! The alerts that fire, for every page that shows them.

use wonce_api::live::Alert;

use super::table::{Side, Table, cell, toned};
use super::text::{time, visible};
use super::{Paint, Tone};

/// One row each; nothing when none fires.
pub(super) fn alerts(firing: &[Alert], paint: Paint) -> String {
    let mut table = Table::new(&[("ALERT", Side::Left), ("SINCE", Side::Left), ("WHAT", Side::Left)]);
    for alert in firing {
        table.row(vec![
            toned(Tone::Bad, visible(&alert.id)),
            cell(time(&alert.since)),
            cell(visible(&alert.text)),
        ]);
    }
    if firing.is_empty() { String::new() } else { table.render(paint) }
}
