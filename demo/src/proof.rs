//! The end of the story: what happened, in figures from the business tables, the mailbox and the books,
//! each beside what the stream must lead to.

use crate::events::{
    ABORTS, CANCELLED_ORDERS, CONFLICTS, CREDIT_CENTS, CREDIT_DUPLICATES, CREDITS, LATE_ORDERS, LOOPS,
    ORDERS, PAYMENT_DUPLICATES, POISON, SHIPMENT_VERSIONS, SHIPMENTS, WRONG_AMOUNTS,
};
use crate::host::Host;
use crate::mailbox::Mailbox;
use crate::say;
use crate::shop::Shop;

const PAID: usize = ORDERS + LATE_ORDERS;
const ACCEPTED: usize = PAID
    + CANCELLED_ORDERS
    + WRONG_AMOUNTS
    + POISON
    + CREDITS
    + SHIPMENTS * SHIPMENT_VERSIONS
    + LOOPS
    + ABORTS;

/// One line of the proof.
struct Line {
    what: &'static str,
    query: &'static str,
    expected: usize,
}

const fn line(what: &'static str, query: &'static str, expected: usize) -> Line {
    Line { what, query, expected }
}

/// What must be in the tables, exactly.
const LINES: &[Line] = &[
    line(
        "deliveries accepted, those found to be duplicates later aside",
        "SELECT sum(accepted - duplicate_late)::bigint FROM wonce.tally",
        ACCEPTED,
    ),
    line(
        "duplicates, each counted and none handled",
        "SELECT sum(duplicate_early + duplicate_late)::bigint FROM wonce.tally",
        PAYMENT_DUPLICATES + CREDIT_DUPLICATES,
    ),
    line(
        "key conflicts, kept beside the original",
        "SELECT sum(key_conflict)::bigint FROM wonce.tally",
        CONFLICTS,
    ),
    line("orders paid", "SELECT count(*) FROM shop.orders WHERE status = 'paid'", PAID),
    line(
        "of them by more than one payment",
        "SELECT count(*) FROM (SELECT payment_id FROM shop.orders WHERE payment_id IS NOT NULL GROUP BY 1 HAVING count(*) > 1) x",
        0,
    ),
    line(
        "cents on all wallets",
        "SELECT sum(balance_cents)::bigint FROM wallet.wallets",
        CREDITS * CREDIT_CENTS,
    ),
    line("bookings in the wallets' journal", "SELECT count(*) FROM wallet.journal", CREDITS),
    line(
        "shipments that show their newest state",
        "SELECT count(*) FROM shipping.shipments WHERE status = 'delivered'",
        SHIPMENTS,
    ),
    line(
        "dead: payload not acceptable",
        "SELECT count(*) FROM wonce.dead_letter WHERE reason = 'invalid_payload'",
        POISON,
    ),
    line(
        "dead: wrong amount or cancelled order",
        "SELECT count(*) FROM wonce.dead_letter WHERE reason = 'permanent'",
        WRONG_AMOUNTS + CANCELLED_ORDERS,
    ),
    line(
        "dead: endless loop cut off at its deadline",
        "SELECT count(*) FROM wonce.dead_letter WHERE reason = 'budget'",
        LOOPS,
    ),
    line("dead: guest aborted", "SELECT count(*) FROM wonce.dead_letter WHERE reason = 'trap'", ABORTS),
    line(
        "late orders that were retried until paid",
        "SELECT count(DISTINCT key) FROM wonce.attempt WHERE code = 'order-missing'",
        LATE_ORDERS,
    ),
    line("effects confirmed", "SELECT count(*) FROM wonce.outbox WHERE state = 'confirmed'", PAID),
    line("deliveries without an outcome", "SELECT count(*) FROM wonce.inbox", 0),
];

/// Prints the proof and says whether all of it holds.
pub(crate) async fn judge(host: &Host, mailbox: &Mailbox, shop: &Shop) -> anyhow::Result<bool> {
    let mut fine = true;
    for line in LINES {
        fine &= show(line.what, shop.count(line.query).await?, line.expected);
    }
    let mail = mailbox.count();
    fine &= show("receipts in the mailbox, by idempotency key", mail.letters, PAID);
    say(&format!("\n   the mailbox was asked {} times; it fails every third time", mail.requests));
    let retried = "SELECT class, count(*) FROM wonce.attempt WHERE decision = 'retry' GROUP BY 1 ORDER BY 1";
    for (class, attempts) in shop.counts(retried).await? {
        say(&format!("   retried for {class}: {attempts} attempts"));
    }
    say("\n$ wonce dead list --limit 5");
    host.verb(&["dead", "list", "--limit", "5"]).await?;
    say("\n$ wonce verify");
    fine &= host.verb(&["verify"]).await?;
    say(if fine {
        "\nEverything holds."
    } else {
        "\nSomething does not hold: see the lines marked with ✗."
    });
    Ok(fine)
}

fn show(what: &str, found: usize, expected: usize) -> bool {
    let fine = found == expected;
    let mark = if fine { "✓" } else { "✗" };
    let wanted = if fine { String::new() } else { format!("   expected {expected}") };
    say(&format!(" {mark} {found:>7}  {what}{wanted}"));
    fine
}
