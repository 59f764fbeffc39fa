//! Two hosts of which one dies, and hosts whose Postgres is restarted, both under load.

use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::task::JoinSet;
use wonce_tests::child::Host;
use wonce_tests::child::database::Database;
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::sender::Sender;
use wonce_tests::child::setup::Setup;
use wonce_tests::wait::{bounded, until};

use crate::load::Load;

const EVENTS: usize = 200;
/// Enough to be in the middle of it.
const SETTLED_FIRST: i64 = 20;

#[tokio::test]
async fn when_one_of_two_hosts_dies_for_good_the_other_finishes_everything() {
    let load = Load::draw(&mut StdRng::seed_from_u64(1), EVENTS);
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let setups = [Setup::new(&database, receiver.address), Setup::new(&database, receiver.address)];
    let (mut victim, victims) = Host::start(&setups[0]).await;
    let (survivor, survivors) = Host::start(&setups[1]).await;
    let (sender, hosts) = Sender::new(&[victims.http, survivors.http]);
    let mut sending = JoinSet::new();
    Load::send(&load.sendings, &sender, &mut sending);
    until_some_are_settled(&database, SETTLED_FIRST).await;
    victim.kill().await;
    hosts.send_replace(vec![survivors.http]);
    all_answered(&mut sending).await;
    database.settles(1).await;
    survivor.stop().await;
    load.is_handled_exactly_once(&database, &receiver).await;
    database.close().await;
}

#[tokio::test]
async fn a_postgres_that_is_restarted_under_load_loses_and_repeats_nothing() {
    let load = Load::draw(&mut StdRng::seed_from_u64(2), EVENTS);
    let (mut database, receiver) = (Database::with_server().await, Receiver::start().await);
    let setup = Setup::new(&database, receiver.address);
    let (host, doors) = Host::start(&setup).await;
    let (sender, _hosts) = Sender::new(&[doors.http]);
    let mut sending = JoinSet::new();
    let (first, rest) = load.sendings.split_at(load.sendings.len() / 2);
    Load::send(first, &sender, &mut sending);
    until_some_are_settled(&database, SETTLED_FIRST).await;
    database.restart_server().await;
    Load::send(rest, &sender, &mut sending);
    until_some_are_settled(&database, SETTLED_FIRST + 100).await;
    database.restart_server().await;
    all_answered(&mut sending).await;
    database.settles(1).await;
    host.stop().await;
    load.is_handled_exactly_once(&database, &receiver).await;
    database.close().await;
}

async fn until_some_are_settled(database: &Database, some: i64) {
    let settled = "SELECT count(*) FROM wonce.processed_events";
    until("some are settled", async || database.number(settled).await >= some).await;
}

async fn all_answered(sending: &mut JoinSet<()>) {
    bounded("every event is answered", async {
        while let Some(sent) = sending.join_next().await {
            sent.expect("a sender does not fail");
        }
    })
    .await;
}
