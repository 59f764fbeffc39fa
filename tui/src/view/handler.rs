//! One handler: where its time goes, what fails and since when, on which hosts, what waits behind
//! what, and what people did to it. Knows nothing of other handlers.

use ratatui::layout::Rect;
use wonce_api::handler::HandlerDetail as Facts;
use wonce_api::live::Stage;

use super::canvas::{Canvas, columns, piece, rows, spark};
use super::overview::{counted, p50, p95, p99, some_age};
use super::page::{self, Text};
use super::table::{Column, Side, column, table};
use super::{Hits, Row, heat};
use crate::desk::Answer;
use crate::live::{ClassRow, HandlerDetail, StageRow};
use crate::model::Model;
use crate::text::{digest, number, percent, rate, time, visible};
use crate::theme::Role;

const FACTS: u16 = 4;

pub(super) fn draw(canvas: &mut Canvas<'_>, area: Rect, model: &Model, name: &str) -> Hits {
    let Some(detail) = &model.detail else {
        let mut page = Text::default();
        page.line(Role::Muted, format!("nothing was heard of a handler {} yet", visible(name)));
        return page::text(canvas, area, name, &page, 0);
    };
    facts(canvas, rows(area, 0, FACTS), detail);
    let rest = rows(area, FACTS, area.height);
    let picture = (rest.height / 2).clamp(5, 18);
    latency(canvas, rows(rest, 0, picture), detail, model);
    let bottom = rows(rest, picture, rest.height);
    let parts = columns(bottom, if area.width >= 160 { 3 } else { 2 });
    if let [first, second, third] = parts.as_slice() {
        stages(canvas, *first, detail);
        classes(canvas, *second, detail);
        return more(canvas, *third, detail, model);
    }
    // With less room the person scrolls through what would stand beside.
    classes(canvas, parts[0], detail);
    more(canvas, parts[1], detail, model)
}

fn facts(canvas: &mut Canvas<'_>, area: Rect, detail: &HandlerDetail) {
    let (row, counts) = (&detail.row, &detail.row.counts);
    let (mark, role) = canvas.theme.health(row.health);
    let state = match row.state {
        crate::live::HandlerState::Paused => "paused",
        crate::live::HandlerState::Active => "active",
        crate::live::HandlerState::Unknown => "state unknown",
    };
    let why = if row.why.is_empty() { String::new() } else { format!("  {}", visible(&row.why)) };
    let some = |count: Option<wonce_api::live::Count>| count.map_or_else(|| "?".to_owned(), counted);
    let head = [vec![
        piece(role, mark),
        piece(Role::Strong, format!(" {}", visible(&row.name))),
        piece(
            Role::Text,
            format!(
                "  {}  {}  {state}  {}",
                visible(&row.version),
                digest(&row.digest),
                visible(&row.ordering)
            ),
        ),
        piece(role, why),
    ]];
    for (top, line) in (0..).zip(head) {
        canvas.line(rows(area, top, 1), &line);
    }
    let now = [
        format!("{}/s in", rate(row.rates.accepted)),
        format!("{}/s done", rate(row.rates.done + row.rates.ignored)),
        format!("{}% errors", percent(counts.error_share())),
        format!("{} waiting, oldest {}", some(row.depth), some_age(row.oldest_due)),
        format!("{} dead letters, oldest {}", some(row.dead_letters), some_age(row.oldest_dead)),
        format!("{} retries scheduled", some(row.scheduled_retries)),
    ];
    canvas.whole(rows(area, 1, 1), &now, Role::Text);
    let counted = [
        (counts.accepted, "accepted"),
        (counts.done, "done"),
        (counts.failed, "failed"),
        (counts.retries, "retries"),
        (counts.dead, "dead"),
        (counts.duplicates(), "dup"),
        (counts.key_conflicts, "conflicts"),
        (counts.ignored, "ignored"),
        (counts.replays, "replays"),
        (counts.effects_committed, "effects"),
    ];
    let window = std::iter::once(format!("in {}:", detail.window.label()));
    let all: Vec<String> = window.chain(counted.map(|(n, name)| format!("{n} {name}"))).collect();
    canvas.whole(rows(area, 2, 1), &all, Role::Text);
    if let Some(alert) = detail.alerts.first() {
        canvas.put(rows(area, 3, 1), &format!("ALERT {}", visible(&alert.text)), Role::Bad);
    }
}

/// The words for a stage.
const fn said(stage: Stage) -> &'static str {
    match stage {
        Stage::PoolWait => "waiting for a connection",
        Stage::Claim => "claiming",
        Stage::Guest => "inside the guest",
        Stage::Commit => "committing",
        Stage::Wait => "accepted to claimed",
        Stage::EndToEnd => "accepted to committed",
        Stage::Batch => "deliveries per batch",
    }
}

/// The stages in the order in which they are shown: what the guest does first.
fn ordered(detail: &HandlerDetail) -> Vec<&StageRow> {
    let order = [
        Stage::Guest,
        Stage::EndToEnd,
        Stage::Wait,
        Stage::Claim,
        Stage::Commit,
        Stage::PoolWait,
        Stage::Batch,
    ];
    order.iter().filter_map(|stage| detail.stage(*stage)).collect()
}

fn latency(canvas: &mut Canvas<'_>, area: Rect, detail: &HandlerDetail, model: &Model) {
    let stages = ordered(detail);
    let Some(row) = stages.get(model.stage.checked_rem(stages.len()).unwrap_or(0)) else {
        let inside = canvas.panel(area, "LATENCY", Role::Muted);
        canvas.put(inside, &format!("no run in the last {}", detail.window.label()), Role::Muted);
        return;
    };
    let over = if row.over > 0 { format!("  {} above an hour", row.over) } else { String::new() };
    let title = format!("LATENCY {}, all hosts merged{over}", said(row.stage));
    let inside = canvas.panel(area, &title, Role::Muted);
    heat::draw(canvas, inside, row, detail.window);
}

const STAGES: &[Column] = &[
    column("STAGE", Side::Flex, 0),
    column("P50", Side::Right, 0),
    column("P95", Side::Right, 2),
    column("P99", Side::Right, 1),
    column("N", Side::Right, 3),
];

fn stages(canvas: &mut Canvas<'_>, area: Rect, detail: &HandlerDetail) {
    let inside = canvas.panel(area, "WHERE THE TIME GOES", Role::Muted);
    let row = |row: &&StageRow| {
        let q = &row.quantiles;
        let texts = match row.stage {
            Stage::Batch => [q.p50.to_string(), q.p95.to_string(), q.p99.to_string()],
            _ => [p50(q), p95(q), p99(q)],
        };
        let name = [piece(Role::Text, said(row.stage))];
        let cells = name.into_iter().chain(texts.map(|text| piece(Role::Text, text)));
        Row { id: String::new(), cells: cells.chain([piece(Role::Text, number(q.samples))]).collect() }
    };
    let rows: Vec<Row> = ordered(detail).iter().map(row).collect();
    table(canvas, inside, STAGES, &rows, None, "no run in this window");
}

const CLASSES: &[Column] = &[
    column("WHAT", Side::Left, 0),
    column("CLASS", Side::Flex, 0),
    column("COUNT", Side::Right, 0),
    column("/S", Side::Right, 1),
    column("TREND", Side::Left, 2),
];

fn classes(canvas: &mut Canvas<'_>, area: Rect, detail: &HandlerDetail) {
    let inside = canvas.panel(area, "FAULTS AND DEAD, BY CLASS", Role::Muted);
    let theme = canvas.theme;
    let row = |what: &str, role: Role, class: &ClassRow| Row {
        id: String::new(),
        cells: vec![
            piece(role, what),
            piece(Role::Text, visible(&class.name)),
            piece(Role::Text, number(class.count)),
            piece(Role::Text, rate(class.per_second)),
            piece(role, spark(theme, &class.series, 15)),
        ],
    };
    let faults = detail.faults.iter().map(|class| row("fault", Role::Warning, class));
    let dead = detail.dead.iter().map(|class| row("dead", Role::Bad, class));
    let rows: Vec<Row> = faults.chain(dead).collect();
    table(canvas, inside, CLASSES, &rows, None, "nothing failed in this window");
}

/// Blocked keys, hosts, changes, policy: a page to scroll through.
fn more(canvas: &mut Canvas<'_>, area: Rect, detail: &HandlerDetail, model: &Model) -> Hits {
    let mut page = Text::default();
    match (model.place().page.answer(), page::missing(model)) {
        (Some(Answer::Handler(facts)), _) => blocked(&mut page, facts),
        (_, Some((role, said))) => page.line(role, said),
        (_, None) => {}
    }
    page.heading("By host, since its boot");
    for share in &detail.hosts {
        let counts = &share.since_boot;
        page.line(
            Role::Text,
            format!(
                "  {}  {}/s  {} done  {} failed",
                visible(&share.host),
                rate(share.rates.done + share.rates.ignored),
                counts.done + counts.ignored,
                counts.failed
            ),
        );
    }
    page.heading("What people did");
    if detail.changes.is_empty() {
        page.line(Role::Muted, "  nothing that is remembered");
    }
    for change in &detail.changes {
        page.line(
            Role::Text,
            format!(
                "  {}  {} by {}  {}",
                time(&change.at),
                visible(&change.verb),
                visible(&change.actor),
                visible(&change.reason)
            ),
        );
    }
    if let Some(Answer::Handler(facts)) = model.place().page.answer() {
        policy(&mut page, facts);
    }
    page::text(canvas, area, "KEYS, HOSTS, CHANGES, POLICY", &page, model.place().scroll)
}

fn blocked(page: &mut Text, facts: &Facts) {
    page.heading("Ordering keys that wait for their head");
    if facts.blocked.is_empty() {
        page.line(Role::Muted, "  none");
    }
    for key in &facts.blocked {
        let message = key.message.as_deref().unwrap_or_default();
        page.line(
            Role::Warning,
            format!(
                "  {}: {} failed {} times, {} wait behind it, due {}  {}",
                visible(&key.ordering_key),
                visible(&key.head),
                key.attempts,
                key.followers,
                time(&key.due_at),
                visible(message)
            ),
        );
    }
}

fn policy(page: &mut Text, facts: &Facts) {
    page.heading("Version and policy");
    page.fact("deployed", format!("{} by {}", time(&facts.deployed_at), visible(&facts.deployed_by)));
    if let Some(before) = &facts.previous_version {
        page.fact("before", format!("{} {}", visible(&before.label), digest(&before.digest)));
    }
    page.some_fact("owner", facts.summary.owner.as_ref());
    page.some_fact("login role", facts.login_role.as_ref());
    if let Some(fields) = facts.policy.as_object() {
        for (name, value) in fields {
            page.fact(name, value.to_string());
        }
    }
}
