//! `wonce top --once`.

use std::time::Duration;

use wonce_api::live::{Count, Method};
use wonce_tui::live::{
    HandlerRow, Health, HostRow, HostState, Overview, Quantiles, Severity, SinkRow, SourceRow, Totals,
};

use super::alert::alerts;
use super::table::{Cell, Side, Table, cell, toned};
use super::text::{duration_us, span, time, visible};
use super::{Paint, Tone};

/// Changes that a page shows.
const SHOWN_CHANGES: usize = 5;

/// The fleet on one page: what is wrong first, then the evidence.
#[must_use]
pub fn overview(seen: &Overview, paint: Paint) -> String {
    let mut page = head(seen, paint);
    page.push_str(&totals(&seen.totals, seen.window.label()));
    if let Some(books) = &seen.books {
        let tone = if books.holds { Tone::Good } else { Tone::Bad };
        let age = books.age.map_or_else(String::new, |age| format!("  ({} ago)", spent(age)));
        page.push_str(&format!("books     {}{age}\n", paint.tone(tone, &books.equation())));
    }
    for part in [
        alerts(&seen.alerts, paint),
        handlers(&seen.handlers, paint),
        hosts(&seen.hosts, paint),
        sinks(&seen.sinks, paint),
        sources(&seen.sources, paint),
        changes(seen, paint),
    ] {
        if !part.is_empty() {
            page.push('\n');
            page.push_str(&part);
        }
    }
    page
}

fn head(seen: &Overview, paint: Paint) -> String {
    let (mark, tone) = match seen.verdict.severity {
        Severity::Fine => ("●", Tone::Good),
        Severity::Unknown => ("◌", Tone::Warning),
        Severity::Warning => ("▲", Tone::Warning),
        Severity::Bad => ("✗", Tone::Bad),
    };
    let others = match seen.verdict.others {
        0 => String::new(),
        n => format!(" (and {n} more)"),
    };
    let verdict = format!("{mark} {}{others}", visible(&seen.verdict.text));
    let who = seen
        .hello
        .as_ref()
        .map_or_else(String::new, |hello| format!("{} {}", visible(&hello.host), visible(&hello.version)));
    let known = if seen.known < seen.window.span() {
        format!(" ({} known)", spent(seen.known))
    } else {
        String::new()
    };
    let hosts = format!("{} of {} hosts", seen.totals.hosts_alive, seen.totals.hosts);
    let line =
        format!("{hosts}, as {who} sees them, window {}{known}, {}\n", seen.window.label(), time(&seen.now));
    format!("{line}{}\n\n", paint.tone(tone, &verdict))
}

fn totals(totals: &Totals, window: &str) -> String {
    let rates = &totals.rates;
    let counts = &totals.counts;
    let share = counts.error_share().map_or_else(|| "-".to_owned(), |share| format!("{:.2}%", share * 100.0));
    let slope =
        totals.slope.filter(|slope| slope.abs() >= 0.5).map_or_else(String::new, |s| format!(" {s:+.0}/s"));
    let lost = match totals.samples_lost {
        0 => String::new(),
        n => format!("  ({n} samples lost)"),
    };
    [
        format!(
            "rate      {} in/s  {} done/s  {} failed/s  {} retries/s\n",
            per_second(rates.accepted),
            per_second(rates.done + rates.ignored),
            per_second(rates.failed),
            per_second(rates.retries)
        ),
        format!(
            "in {window:<6} {} accepted  {} done  {} ignored  {} failed ({share})  {} retries  {} dead\n",
            counts.accepted, counts.done, counts.ignored, counts.failed, counts.retries, counts.dead
        ),
        format!(
            "          {} duplicates  {} key conflicts  {} replays\n",
            counts.duplicates(),
            counts.key_conflicts,
            counts.replays
        ),
        format!(
            "latency   run {}  wait {}  end to end {}{lost}\n",
            times(&totals.run),
            times(&totals.wait),
            times(&totals.end_to_end)
        ),
        format!(
            "backlog   {}{slope}  oldest due {}  retries scheduled {}  dead letters {}\n",
            number(totals.depth),
            totals.oldest_due.map_or_else(|| "-".to_owned(), spent),
            number(totals.scheduled_retries),
            number(totals.dead_letters)
        ),
    ]
    .concat()
}

/// p50, p95 and p99; too few samples say nothing of the slowest.
fn times(quantiles: &Quantiles) -> String {
    if quantiles.is_empty() {
        return "-".to_owned();
    }
    format!("{}/{}/{}", micros(quantiles.p50), micros(quantiles.p95), micros(quantiles.p99))
}

fn handlers(rows: &[HandlerRow], paint: Paint) -> String {
    if rows.is_empty() {
        return "No handler was heard of yet.\n".to_owned();
    }
    let mut table = Table::new(&[
        ("", Side::Left),
        ("HANDLER", Side::Left),
        ("VERSION", Side::Left),
        ("IN/S", Side::Right),
        ("DONE/S", Side::Right),
        ("ERR%", Side::Right),
        ("RETRIES", Side::Right),
        ("P50", Side::Right),
        ("P95", Side::Right),
        ("P99", Side::Right),
        ("DEPTH", Side::Right),
        ("OLDEST", Side::Right),
        ("DEAD", Side::Right),
        ("WHY", Side::Left),
    ]);
    for row in rows {
        let share = row.counts.error_share();
        let run = |micro: u64| if row.run.is_empty() { "-".to_owned() } else { micros(micro) };
        table.row(vec![
            mark(row.health),
            cell(visible(&row.name)),
            cell(visible(&row.version)),
            cell(per_second(row.rates.accepted)),
            cell(per_second(row.rates.done + row.rates.ignored)),
            cell(share.map_or_else(|| "-".to_owned(), |share| format!("{:.1}", share * 100.0))),
            cell(row.counts.retries.to_string()),
            cell(run(row.run.p50)),
            cell(run(row.run.p95)),
            cell(run(row.run.p99)),
            cell(number(row.depth)),
            cell(row.oldest_due.map_or_else(|| "-".to_owned(), spent)),
            cell(number(row.dead_letters)),
            cell(visible(&row.why)),
        ]);
    }
    table.render(paint)
}

fn hosts(rows: &[HostRow], paint: Paint) -> String {
    let mut table = Table::new(&[
        ("", Side::Left),
        ("HOST", Side::Left),
        ("STATE", Side::Left),
        ("HEARD", Side::Right),
        ("DONE/S", Side::Right),
        ("PERMITS", Side::Right),
        ("CPU", Side::Right),
        ("MEMORY", Side::Right),
        ("WHY", Side::Left),
    ]);
    for row in rows {
        let state = match row.state {
            HostState::Alive => "alive",
            HostState::Silent => "silent",
            HostState::Stopped => "stopped",
        };
        table.row(vec![
            mark(row.health),
            cell(visible(&row.name)),
            cell(state),
            cell(format!("{} ago", spent(row.heard))),
            cell(per_second(row.rates.done + row.rates.ignored)),
            cell(format!("{}/{}", row.permits_in_use, row.permits)),
            cell(row.processors.map_or_else(|| "-".to_owned(), |cpu| format!("{cpu:.2}"))),
            cell(row.memory_bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{} MiB", bytes >> 20))),
            cell(visible(&row.why)),
        ]);
    }
    if rows.is_empty() { String::new() } else { table.render(paint) }
}

fn sinks(rows: &[SinkRow], paint: Paint) -> String {
    let mut table = Table::new(&[
        ("", Side::Left),
        ("SINK", Side::Left),
        ("SENT/S", Side::Right),
        ("PLANNED", Side::Right),
        ("OLDEST", Side::Right),
        ("REFUSED", Side::Right),
        ("IN DOUBT", Side::Right),
        ("WHY", Side::Left),
    ]);
    for row in rows {
        table.row(vec![
            mark(row.health),
            cell(visible(&row.name)),
            cell(per_second(row.confirmed_per_second)),
            cell(number(row.planned)),
            cell(row.oldest_planned.map_or_else(|| "-".to_owned(), spent)),
            cell(number(row.refused)),
            cell(number(row.unknown)),
            cell(visible(&row.why)),
        ]);
    }
    if rows.is_empty() { String::new() } else { table.render(paint) }
}

fn sources(rows: &[SourceRow], paint: Paint) -> String {
    let mut table = Table::new(&[
        ("", Side::Left),
        ("SOURCE", Side::Left),
        ("ANSWERS/S", Side::Right),
        ("BY STATUS", Side::Left),
    ]);
    for row in rows {
        let answers: Vec<String> =
            row.answers.iter().map(|(status, n)| format!("{} {n}", visible(status))).collect();
        table.row(vec![
            mark(row.health),
            cell(visible(&row.name)),
            cell(per_second(row.answers_per_second)),
            cell(answers.join(", ")),
        ]);
    }
    if rows.is_empty() { String::new() } else { table.render(paint) }
}

fn changes(seen: &Overview, paint: Paint) -> String {
    let mut table =
        Table::new(&[("CHANGED", Side::Left), ("WHAT", Side::Left), ("BY", Side::Left), ("WHY", Side::Left)]);
    for change in seen.changes.iter().take(SHOWN_CHANGES) {
        table.row(vec![
            cell(time(&change.at)),
            cell(format!("{} {}", visible(&change.verb), visible(&change.target))),
            cell(visible(&change.actor)),
            cell(visible(&change.reason)),
        ]);
    }
    if seen.changes.is_empty() { String::new() } else { table.render(paint) }
}

fn mark(health: Health) -> Cell {
    match health {
        Health::Fine => toned(Tone::Good, "●"),
        Health::Warning => toned(Tone::Warning, "▲"),
        Health::Bad => toned(Tone::Bad, "✗"),
        Health::Paused => toned(Tone::Warning, "‖"),
        Health::Unknown => cell("◌"),
    }
}

/// A number of rows; an estimate says that it is one.
fn number(count: Option<Count>) -> String {
    count.map_or_else(
        || "?".to_owned(),
        |count| match count.method {
            Method::Exact => count.n.to_string(),
            Method::Estimate => format!("~{}", count.n),
        },
    )
}

fn per_second(rate: f64) -> String {
    if rate == 0.0 || rate >= 10.0 { format!("{rate:.0}") } else { format!("{rate:.1}") }
}

fn micros(micros: u64) -> String {
    duration_us(i64::try_from(micros).unwrap_or(i64::MAX))
}

fn spent(time: Duration) -> String {
    span(i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
}
