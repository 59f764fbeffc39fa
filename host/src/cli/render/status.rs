//! `wonce status`.

use wonce_api::status::{Host, OutboxCount, Status};

use super::alert::alerts;
use super::handler::summaries;
use super::table::{Side, Table, cell, toned};
use super::text::{count, span, time, visible};
use super::{Paint, Tone};

/// Hosts, handlers and outbox on one page.
#[must_use]
pub fn status(status: &Status, paint: Paint) -> String {
    let database = &status.database;
    let mut page = format!(
        "{}{} on Postgres {}, schema {}, counted {}\n",
        paint.heading("DATABASE"),
        visible(&database.name),
        visible(&database.version),
        database.schema,
        time(&status.taken.at)
    );
    if !status.alerts.is_empty() {
        page.push('\n');
        page.push_str(&alerts(&status.alerts, paint));
    }
    page.push('\n');
    page.push_str(&hosts(&status.hosts, paint));
    page.push('\n');
    page.push_str(&summaries(&status.handlers, paint));
    page.push('\n');
    page.push_str(&outbox(&status.outbox, paint));
    if status.parked > 0 {
        let line =
            format!("{} could not become deliveries: wonce dead list", count(status.parked, "parked event"));
        page.push_str(&format!("\n{}\n", paint.tone(Tone::Warning, &line)));
    }
    if status.submitted > 0 {
        page.push_str(&format!("\n{} from SQL waiting to be routed\n", count(status.submitted, "event")));
    }
    page
}

fn hosts(hosts: &[Host], paint: Paint) -> String {
    if hosts.is_empty() {
        return "No host was seen within a day: start one with `wonce run`.\n".to_owned();
    }
    let columns = [
        ("HOST", Side::Left),
        ("STATE", Side::Left),
        ("SEEN", Side::Right),
        ("VERSION", Side::Left),
        ("SINCE", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for host in hosts {
        let tone = match host.state.as_str() {
            "alive" => Tone::Good,
            "silent" => Tone::Bad,
            _ => Tone::Usual,
        };
        table.row(vec![
            cell(visible(&host.name)),
            toned(tone, visible(&host.state)),
            cell(format!("{} ago", span(host.seen_seconds_ago))),
            cell(visible(&host.version)),
            cell(time(&host.started_at)),
        ]);
    }
    table.render(paint)
}

/// Effects by sink and state.
pub(super) fn outbox(counts: &[OutboxCount], paint: Paint) -> String {
    if counts.is_empty() {
        return "No effects in the outbox.\n".to_owned();
    }
    let mut table = Table::new(&[("SINK", Side::Left), ("STATE", Side::Left), ("EFFECTS", Side::Right)]);
    for row in counts {
        let tone = match row.state.as_str() {
            "refused" | "unknown" => Tone::Bad,
            _ => Tone::Usual,
        };
        table.row(vec![
            cell(visible(&row.sink)),
            toned(tone, visible(&row.state)),
            cell(row.effects.to_string()),
        ]);
    }
    table.render(paint)
}
