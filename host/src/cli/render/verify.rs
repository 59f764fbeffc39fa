//! `wonce verify`: the equation per handler, term by term.

use wonce_api::verify::{Account, Verification};

use super::status::outbox;
use super::table::{Side, Table, alarming, cell, toned};
use super::text::{count, time, visible};
use super::{Paint, Tone};

const LAW: &str = "accepted = pending + done + ignored + dead + discarded + duplicates found late + expired";

#[must_use]
pub fn verification(verification: &Verification, paint: Paint) -> String {
    let mut page = format!("{LAW}\n\n{}", accounts(&verification.handlers, paint));
    for account in &verification.handlers {
        page.push_str(&remarks(account, paint));
    }
    page.push_str(&format!(
        "\noutside the equation: {}, {}\n\n{}",
        count(verification.key_conflicts, "key conflict"),
        count(verification.parked, "parked event"),
        outbox(&verification.outbox, paint)
    ));
    for finding in &verification.findings {
        page.push_str(&format!("\n{}\n", paint.tone(Tone::Bad, &visible(finding))));
    }
    let verdict =
        if verification.holds { paint.tone(Tone::Good, "holds") } else { paint.tone(Tone::Bad, "differs") };
    page.push_str(&format!("\n{verdict} (one snapshot, {})\n", time(&verification.taken.at)));
    page
}

fn accounts(accounts: &[Account], paint: Paint) -> String {
    if accounts.is_empty() {
        return "No handler has accepted anything.\n".to_owned();
    }
    let columns = [
        ("HANDLER", Side::Left),
        ("ACCEPTED", Side::Right),
        ("PENDING", Side::Right),
        ("DONE", Side::Right),
        ("IGNORED", Side::Right),
        ("DEAD", Side::Right),
        ("DISCARDED", Side::Right),
        ("DUP LATE", Side::Right),
        ("EXPIRED", Side::Right),
        ("BOOKS", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for account in accounts {
        let numbers = [account.accepted, account.pending, account.done, account.ignored];
        let mut cells = vec![cell(visible(&account.handler))];
        cells.extend(numbers.iter().map(|n| cell(n.to_string())));
        cells.push(alarming(Tone::Bad, account.dead));
        cells.extend(
            [account.discarded, account.duplicate_late, account.expired].iter().map(|n| cell(n.to_string())),
        );
        cells.push(if account.holds { toned(Tone::Good, "holds") } else { toned(Tone::Bad, "differs") });
        table.row(cells);
    }
    table.render(paint)
}

fn remarks(account: &Account, paint: Paint) -> String {
    let mut lines = Vec::new();
    match account.difference {
        0 => {}
        missing @ ..0 => {
            lines.push((Tone::Bad, format!("{} accepted and nowhere: lost", deliveries(-missing))))
        }
        surplus => {
            lines.push((Tone::Bad, format!("{} never accepted, or counted twice", deliveries(surplus))))
        }
    }
    lines.extend(account.findings.iter().map(|finding| (Tone::Bad, visible(finding))));
    if account.late_to_come > 0 {
        let note =
            format!("{} will end as duplicates found late (no fault)", deliveries(account.late_to_come));
        lines.push((Tone::Usual, note));
    }
    lines
        .iter()
        .map(|(tone, line)| format!("  {}: {}\n", visible(&account.handler), paint.tone(*tone, line)))
        .collect()
}

fn deliveries(number: i64) -> String {
    if number == 1 { "1 delivery".to_owned() } else { format!("{number} deliveries") }
}
