//! A long steady load, twice under a transaction that keeps every dead row: what a forgotten report
//! does to a queue in Postgres. The host's memory stays flat, claims are quick again soon after the
//! transaction has ended, and dead rows stay bounded. Runs with `WONCE_SOAK=1` (`make soak`) only,
//! for it takes minutes and looks at the clock.
//!
//! `WONCE_SOAK_EVENTS`, `WONCE_SOAK_RATE` (events/s) and `WONCE_SOAK_HOLD` (s) say how much of it.

use std::time::Duration;

use wonce_tests::child::Host;
use wonce_tests::child::database::Database;
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::setup::Setup;

mod feed;
mod held;
mod metrics;
mod record;

use feed::Feed;
use held::Held;
use record::{Phase, Record};

/// How long the load runs before anything is judged: caches fill, memory is taken for the first time.
const WARM_UP: Duration = Duration::from_secs(20);
/// How soon after the end of the transaction claims must be as quick as before and most dead rows gone.
const RECOVERY: Duration = Duration::from_secs(60);

/// How much of it.
#[derive(Debug, Clone, Copy)]
struct Size {
    events: u64,
    rate: u64,
    hold: Duration,
}

#[tokio::test(flavor = "multi_thread")]
async fn soak_memory_is_flat_and_a_held_snapshot_leaves_no_lasting_trace() {
    if std::env::var_os("WONCE_SOAK").is_none() {
        say("skipped: the long steady load runs with WONCE_SOAK=1 (make soak)");
        return;
    }
    let size = Size {
        events: parameter("WONCE_SOAK_EVENTS", 1_000_000),
        rate: parameter("WONCE_SOAK_RATE", 2_500),
        hold: Duration::from_secs(parameter("WONCE_SOAK_HOLD", 60)),
    };
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let (host, doors) = Host::start(&Setup::new(&database, receiver.address)).await;
    let feed = Feed::start(doors.http, size.events, size.rate);
    let mut record = Record::new(&database, &host, doors.admin).await;

    record.during(Phase::WarmUp, WARM_UP).await;
    record.during(Phase::Before, size.hold).await;
    for (holding, after) in [(Phase::Held, Phase::After), (Phase::HeldAgain, Phase::AfterAgain)] {
        let held = Held::begin(&database).await;
        record.during(holding, size.hold).await;
        held.end().await;
        record.until_recovered(holding, after, RECOVERY).await;
    }
    record.until_settled(Phase::Rest, &feed).await;
    feed.all_accepted().await;

    say(&record.table());
    record.memory_is_flat();
    record.recovers(Phase::Held, Phase::After);
    record.recovers(Phase::HeldAgain, Phase::AfterAgain);
    record.dead_rows_do_not_pile_up();
    let done = database.number("SELECT count(*) FROM wonce.processed_events WHERE outcome = 'done'").await;
    assert_eq!(u64::try_from(done), Ok(size.events), "each event is done once");
    assert_eq!(database.number("SELECT count(*) FROM app.entry").await, done, "and left one row");
    database.books_hold().await;
    host.stop().await;
    database.close().await;
}

fn parameter(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a whole number")))
}

#[expect(clippy::print_stderr, reason = "the figures are what the run is for")]
fn say(text: &str) {
    eprintln!("{text}");
}
