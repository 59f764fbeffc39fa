//! The four or six numbers at the top of the overview, each with its past. Knows nothing of rows.

use ratatui::layout::Rect;

use super::canvas::{Canvas, columns, rows};
use super::overview::{counted, p50, p95, p99, some_age};
use crate::live::Totals;
use crate::model::Model;
use crate::text::{number, percent, rate, slope};
use crate::theme::Role;

struct Tile<'a> {
    title: &'static str,
    /// As many as fit, the most wanted first.
    first: Vec<String>,
    role: Role,
    points: &'a [Option<f64>],
    last: Vec<String>,
}

/// Wide terminals show six.
const WIDE: u16 = 160;
/// So many rows.
pub(super) const HEIGHT: u16 = 5;

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, model: &Model) {
    let tiles = tiles(&model.seen.totals);
    let shown = if area.width >= WIDE { 6 } else { 4 };
    for (tile, place) in tiles.iter().zip(columns(area, shown)) {
        let inside = canvas.panel(place, tile.title, Role::Muted);
        canvas.whole(rows(inside, 0, 1), &tile.first, tile.role);
        canvas.spark(rows(inside, 1, 1), tile.points, tile.role);
        canvas.whole(rows(inside, 2, 1), &tile.last, Role::Muted);
    }
}

fn tiles(totals: &Totals) -> [Tile<'_>; 6] {
    let counts = &totals.counts;
    let done = totals.rates.done + totals.rates.ignored;
    let some = |count: Option<wonce_api::live::Count>| count.map_or_else(|| "?".to_owned(), counted);
    let growing = totals.slope.filter(|slope| slope.abs() >= 0.5);
    [
        Tile {
            title: "RATE",
            first: vec![format!("{}/s done", rate(done))],
            role: Role::Text,
            points: &totals.done_series,
            last: vec![format!("{}/s in", rate(totals.rates.accepted))],
        },
        Tile {
            title: "ERRORS",
            first: vec![errors(counts.error_share()), format!("{}/s", rate(totals.rates.failed))],
            role: if counts.failed > 0 { Role::Warning } else { Role::Text },
            points: &totals.failed_series,
            last: vec![format!("{} failed", number(counts.failed))],
        },
        Tile {
            title: "DURATION run",
            first: vec![format!("p99 {}", p99(&totals.run)), format!("p95 {}", p95(&totals.run))],
            role: Role::Text,
            points: &totals.p99_series,
            last: vec![format!("p50 {}", p50(&totals.run)), format!("wait {}", p99(&totals.wait))],
        },
        Tile {
            title: "BACKLOG",
            first: vec![some(totals.depth), format!("oldest {}", some_age(totals.oldest_due))],
            role: Role::Text,
            points: &totals.depth_series,
            last: vec![
                growing.map_or_else(|| "steady".to_owned(), |growing| format!("{}/s", slope(growing))),
            ],
        },
        Tile {
            title: "RETRIES, DEAD",
            first: vec![
                format!("{}/s", rate(totals.rates.retries)),
                format!("dead {}", some(totals.dead_letters)),
            ],
            role: Role::Text,
            points: &[],
            last: vec![
                format!("{} scheduled", some(totals.scheduled_retries)),
                format!("{} died", number(counts.dead)),
            ],
        },
        Tile {
            title: "DUPLICATES",
            first: vec![format!("{} ignored", number(counts.duplicates()))],
            role: Role::Text,
            points: &[],
            last: vec![
                format!("{} conflicts", number(counts.key_conflicts)),
                format!("{} replays", number(counts.replays)),
            ],
        },
    ]
}

fn errors(share: Option<f64>) -> String {
    share.map_or_else(|| "no run".to_owned(), |share| format!("{}%", percent(Some(share))))
}
