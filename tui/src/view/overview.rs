//! The first screen: is anything wrong, where, since when, is it growing? Knows nothing of the frame
//! around it.

use std::time::Duration;

use ratatui::layout::Rect;
use wonce_api::live::{Count, Method};

use super::canvas::{Canvas, columns, piece, rows, spark};
use super::page::{self, Text};
use super::table::{Column, Side, column, table};
use super::{Hits, Row, plain, tiles};
use crate::live::distribution::{FEW_SAMPLES, SOME_SAMPLES};
use crate::live::{Counts, HandlerRow, Quantiles, Window};
use crate::model::{Model, Order};
use crate::text::{age, micros, number, percent, rate, time_of_day};
use crate::theme::{Role, Theme};

/// So wide is the past of a handler in its row.
const TREND: usize = 20;
/// From this height on the sinks and hosts have tables of their own.
const TALL: u16 = 30;
const FACTS: u16 = 6;

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    if model.seen.hello.is_none() {
        // Of a fleet that nobody has spoken of no number is true, not even zero.
        let mut text = Text::default();
        text.line(Role::Muted, &model.seen.verdict.text);
        return page::text(canvas, area, "NOTHING WAS HEARD YET", &text, 0);
    }
    tiles::draw(canvas, rows(area, 0, tiles::HEIGHT), model);
    let rest = rows(area, tiles::HEIGHT, area.height);
    let below =
        if area.height >= TALL { FACTS + (rest.height / 4).max(5) } else { FACTS.min(rest.height / 2) };
    let hits = handlers(canvas, rows(rest, 0, rest.height - below), model);
    let bottom = rows(rest, rest.height - below, below);
    if area.height >= TALL {
        let facts_height = FACTS.min(bottom.height);
        facts(canvas, rows(bottom, 0, facts_height), model);
        let under = rows(bottom, facts_height, bottom.height);
        let parts = columns(under, if under.width >= 160 { 3 } else { 2 });
        plain::hosts_panel(canvas, parts[0], model);
        plain::sinks_panel(canvas, parts[1], model, None);
        if let Some(third) = parts.get(2) {
            plain::changes_panel(canvas, *third, model);
        }
    } else {
        facts(canvas, bottom, model);
    }
    hits
}

const COLUMNS: &[Column] = &[
    column("", Side::Left, 0),
    column("HANDLER", Side::Flex, 0),
    column("VERSION", Side::Left, 9),
    column("IN/S", Side::Right, 5),
    column("DONE/S", Side::Right, 1),
    column("ERR%", Side::Right, 0),
    column("TREND", Side::Left, 8),
    column("RETRIES", Side::Right, 4),
    column("P50", Side::Right, 3),
    column("P95", Side::Right, 7),
    column("P99", Side::Right, 1),
    column("WAIT P99", Side::Right, 10),
    column("DEPTH", Side::Right, 0),
    column("OLDEST", Side::Right, 2),
    column("DEAD", Side::Right, 0),
    column("DUP", Side::Right, 11),
    column("CONFLICTS", Side::Right, 12),
    column("WHY", Side::Flex, 13),
];

fn handlers(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    let order = if model.order == Order::Reversed { ", reversed" } else { "" };
    let filter = model.place().filter.as_str();
    let held = if filter.is_empty() { String::new() } else { format!(" holding \"{filter}\"") };
    let rows: Vec<Row> = model.handlers().map(|row| handler(canvas.theme, row)).collect();
    let title = format!("HANDLERS {}{order}{held}  {}", model.sort.label(), rows.len());
    let inside = canvas.panel(area, &title, Role::Muted);
    let empty = if model.seen.handlers.is_empty() {
        "no handler has done anything yet: send an event with `wonce send`"
    } else {
        "no handler holds this text; Esc shows all of them"
    };
    table(canvas, inside, COLUMNS, &rows, model.chosen_index(), empty)
}

fn handler(theme: Theme, row: &HandlerRow) -> Row {
    let (mark, role) = theme.health(row.health);
    let counts = &row.counts;
    let errors = if counts.failed > 0 { Role::Warning } else { Role::Text };
    let dead = if row.dead_letters.is_some_and(|dead| dead.n > 0) { Role::Warning } else { Role::Text };
    let cells = vec![
        piece(role, mark),
        piece(Role::Text, &row.name),
        piece(Role::Muted, &row.version),
        piece(Role::Text, rate(row.rates.accepted)),
        piece(Role::Text, rate(row.rates.ended_well())),
        piece(errors, percent(counts.error_share())),
        piece(Role::Accent, spark(theme, &row.done_series, TREND)),
        piece(Role::Text, number(counts.retries)),
        piece(Role::Text, p50(&row.run)),
        piece(Role::Text, p95(&row.run)),
        piece(Role::Text, p99(&row.run)),
        piece(Role::Text, p99(&row.wait)),
        piece(Role::Text, counted(row.depth)),
        piece(Role::Text, some_age(row.oldest_due)),
        piece(dead, counted(row.dead_letters)),
        piece(Role::Text, number(counts.duplicates())),
        piece(Role::Text, number(counts.key_conflicts)),
        piece(role, &row.why),
    ];
    Row { id: row.name.clone(), cells }
}

/// The law of the books, what was counted, the worst sink, what people did last.
fn facts(canvas: &mut Canvas<'_>, area: Rect, model: &Model) {
    let inside = canvas.panel(area, "BOOKS, SINKS, LAST CHANGE", Role::Muted);
    let seen = &model.seen;
    match &seen.books {
        None => drop(canvas.put(rows(inside, 0, 1), "books not counted yet", Role::Muted)),
        Some(books) => {
            let role = if books.holds { Role::Good } else { Role::Bad };
            let ago = books.age.map_or_else(String::new, |ago| format!("  {} ago", age(ago)));
            canvas.line(rows(inside, 0, 1), &[piece(role, books.equation()), piece(Role::Muted, ago)]);
        }
    }
    canvas.whole(rows(inside, 1, 1), &counts(seen.window, &seen.totals.counts, None), Role::Text);
    worst_sink(canvas, rows(inside, 2, 1), model);
    last_change(canvas, rows(inside, 3, 1), model);
}

/// What was counted in the window, the most wanted first. Failed runs are said where `failed` is.
pub(super) fn counts(window: Window, counts: &Counts, failed: Option<u64>) -> Vec<String> {
    let first = [(counts.accepted, "accepted"), (counts.done, "done")];
    let rest = [
        (counts.retries, "retries"),
        (counts.dead, "dead"),
        (counts.duplicates(), "dup"),
        (counts.key_conflicts, "conflicts"),
        (counts.ignored, "ignored"),
        (counts.replays, "replays"),
        (counts.effects_committed, "effects"),
    ];
    let failed = failed.map(|failed| (failed, "failed"));
    let all = first.into_iter().chain(failed).chain(rest);
    let window = std::iter::once(format!("in {}:", window.label()));
    window.chain(all.map(|(n, name)| format!("{n} {name}"))).collect()
}

fn worst_sink(canvas: &mut Canvas<'_>, area: Rect, model: &Model) {
    let Some(sink) = model.seen.sinks.iter().max_by_key(|sink| sink.health) else {
        canvas.put(area, "no sink has had an effect yet", Role::Muted);
        return;
    };
    let (mark, role) = canvas.theme.health(sink.health);
    let planned = counted(sink.planned);
    let taken = canvas.line(area, &[piece(role, mark), piece(Role::Text, format!(" {}  ", sink.name))]);
    let rest = Rect { x: area.x + taken, width: area.width - taken, ..area };
    let said = [
        format!("{planned} planned"),
        format!("oldest {}", some_age(sink.oldest_planned)),
        format!("{} sent/s", rate(sink.confirmed_per_second)),
    ];
    canvas.whole(rest, &said, Role::Text);
}

fn last_change(canvas: &mut Canvas<'_>, area: Rect, model: &Model) {
    if let Some(alert) = model.seen.alerts.first() {
        canvas.put(area, &format!("ALERT {}", alert.text), Role::Bad);
        return;
    }
    let said = model.seen.changes.first().map_or_else(
        || "nobody has changed anything".to_owned(),
        |change| {
            let (verb, target) = (&change.verb, &change.target);
            format!("{} {verb} {target} by {}", time_of_day(&change.at), change.actor)
        },
    );
    canvas.put(area, &said, Role::Muted);
}

/// A number of rows, if it is known; an estimate says that it is one.
pub(super) fn counted(count: Option<Count>) -> String {
    match count {
        None => "?".to_owned(),
        Some(Count { n, method: Method::Exact }) => number(n),
        Some(Count { n, method: Method::Estimate }) => format!("~{}", number(n)),
    }
}

pub(super) fn some_age(time: Option<Duration>) -> String {
    time.map_or_else(|| "-".to_owned(), age)
}

pub(super) fn p50(quantiles: &Quantiles) -> String {
    if quantiles.is_empty() { "-".to_owned() } else { micros(quantiles.p50) }
}

pub(super) fn p95(quantiles: &Quantiles) -> String {
    told(quantiles, micros(quantiles.p95))
}

pub(super) fn p99(quantiles: &Quantiles) -> String {
    told(quantiles, micros(quantiles.p99))
}

/// A value of the slowest: of few samples nothing is said, of some it is said to be a guess.
pub(super) fn told(quantiles: &Quantiles, value: String) -> String {
    match quantiles.samples {
        ..FEW_SAMPLES => "-".to_owned(),
        FEW_SAMPLES..SOME_SAMPLES => format!("~{value}"),
        SOME_SAMPLES.. => value,
    }
}
