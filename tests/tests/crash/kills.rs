//! One host, killed again and again at places that a seed chooses.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use tokio::task::JoinSet;
use wonce_host::crash::POINTS;
use wonce_tests::child::database::Database;
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::sender::{Hosts, Sender};
use wonce_tests::child::setup::Setup;
use wonce_tests::child::{CrashAt, Doors, Host, verb, was_killed};
use wonce_tests::wait::{bounded, until};

use crate::load::Load;

/// A point is passed up to this often before it kills.
const LATEST_PASS: u64 = 6;

#[tokio::test]
async fn thirty_kills_over_three_hundred_events_lose_and_repeat_nothing() {
    kills(30, 300).await;
}

#[tokio::test]
async fn soak_two_hundred_kills_over_two_thousand_events_lose_and_repeat_nothing() {
    if std::env::var_os("WONCE_SOAK").is_none() {
        say("skipped: 200 kills over 2,000 events run with WONCE_SOAK=1 (make soak)");
        return;
    }
    kills(200, 2_000).await;
}

/// How a life ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    AtItsPoint,
    /// The point was not passed often enough: killed when there was nothing left to do.
    FromOutside,
}

async fn kills(kills: usize, events: usize) {
    let seed = seed();
    let mut rng = StdRng::seed_from_u64(seed);
    let load = Load::draw(&mut rng, events);
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let setup = Setup::new(&database, receiver.address);
    let (sender, hosts) = Sender::new(&[]);
    let mut sending = JoinSet::new();
    let mut at_points = 0;
    for slice in load.sendings.chunks(load.sendings.len().div_ceil(kills)) {
        Load::send(slice, &sender, &mut sending);
        if life(&setup, draw(&mut rng), &hosts, &database, &mut sending).await == End::AtItsPoint {
            at_points += 1;
        }
    }
    say(&format!("seed {seed}: {at_points} of {kills} deaths at their points"));
    assert!(at_points * 2 > kills, "the points are hardly passed: {at_points} of {kills}");
    let (host, doors) = Host::start(&setup).await;
    hosts.send_replace(vec![doors.http]);
    bounded("every event is answered", async { while sending.join_next().await.is_some() {} }).await;
    until("nothing is pending", async || pending(&database).await == 0).await;
    replay_suspects(&database, doors).await;
    database.settles(1).await;
    host.stop().await;
    load.is_handled_exactly_once(&database, &receiver).await;
    database.close().await;
}

fn draw(rng: &mut StdRng) -> CrashAt {
    let point = POINTS.choose(rng).expect("there are points");
    // Not the first claim of a life: that is the one under which the last life ended, and three
    // such ends would make it a suspect.
    let first = if point.starts_with("intake") || point.starts_with("relay") { 1 } else { 2 };
    CrashAt { point, pass: rng.random_range(first..=LATEST_PASS) }
}

/// From a start to a death.
async fn life(
    setup: &Setup,
    crash: CrashAt,
    hosts: &Hosts,
    database: &Database,
    sending: &mut JoinSet<()>,
) -> End {
    let mut host = Host::launch(setup, Some(crash));
    if let Ok(doors) = host.ready().await {
        hosts.send_replace(vec![doors.http]);
    }
    until("a life ends", async || {
        while let Some(sent) = sending.try_join_next() {
            sent.expect("a sender does not fail");
        }
        host.ended().is_some() || (sending.is_empty() && idle(database).await)
    })
    .await;
    hosts.send_replace(Vec::new());
    match host.ended() {
        Some(status) => {
            assert!(was_killed(status), "{crash:?}: ended with {status}:\n{}", host.log().text());
            End::AtItsPoint
        }
        None => {
            host.kill().await;
            End::FromOutside
        }
    }
}

async fn pending(database: &Database) -> i64 {
    database.number("SELECT count(*) FROM wonce.inbox").await
}

async fn idle(database: &Database) -> bool {
    let open = "SELECT (SELECT count(*) FROM wonce.inbox)
                     + (SELECT count(*) FROM wonce.outbox WHERE state = 'planned')";
    database.number(open).await == 0
}

/// A delivery that was unlucky three times in a row is set aside for people; here they are.
async fn replay_suspects(database: &Database, doors: Doors) {
    let suspects = "SELECT id::text FROM wonce.dead_letter WHERE state = 'dead' AND reason = 'crash_suspect'";
    for id in database.texts(suspects).await {
        let admin = format!("http://{}", doors.admin);
        let output =
            verb(&["dead", "replay", &id, "--reason", "a test killed its hosts", "--connect", &admin]).await;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Of `WONCE_TEST_SEED`, or a new one.
fn seed() -> u64 {
    let seed = std::env::var("WONCE_TEST_SEED").ok();
    let seed = seed.map_or_else(rand::random, |text| text.parse().expect("WONCE_TEST_SEED is a number"));
    say(&format!("WONCE_TEST_SEED={seed} repeats this"));
    seed
}

#[expect(clippy::print_stderr, reason = "a failing test must say its seed")]
fn say(text: &str) {
    eprintln!("{text}");
}
