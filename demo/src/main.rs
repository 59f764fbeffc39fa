//! `make demo`: starts a host on a private Postgres, feeds it a stream with duplicates, poison, key
//! conflicts, late orders and a flaky dependency in it, and proves from the business tables, the mailbox
//! and `wonce verify` that each event was handled exactly once. Exit status 0 only when all of it holds.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

mod events;
mod host;
mod mailbox;
mod proof;
mod shop;

use host::Host;
use mailbox::Mailbox;
use shop::Shop;

#[tokio::main]
async fn main() -> ExitCode {
    match story().await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("the demo could not be played to its end: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

async fn story() -> anyhow::Result<bool> {
    let here = &std::path::absolute("demo").context("find the demo's folder")?;
    let config = here.join("wonce.toml");
    anyhow::ensure!(config.is_file(), "there is no \"{}\"; play it with `make demo`", config.display());
    let data = here.join(".data");
    if data.exists() {
        std::fs::remove_dir_all(&data).with_context(|| format!("clear \"{}\"", data.display()))?;
    }
    std::fs::create_dir_all(&data)?;

    say("1. a mailbox that fails every third time");
    let mailbox = Mailbox::open().await?;
    say("2. a host on a private Postgres, with four handlers (the first start makes the cluster)");
    let host = Host::start(here, &data, &mailbox.url()).await?;
    let ended = play(&host, &mailbox, &data).await;
    host.stop().await?;
    ended
}

async fn play(host: &Host, mailbox: &Mailbox, data: &Path) -> anyhow::Result<bool> {
    let shop = Shop::open(data).await?;
    shop.stock().await?;
    let stream = events::stream();
    say(&format!("3. {} events: duplicates, poison, late orders, older news after newer", stream.len()));
    host.send(data, "stream.jsonl", &stream).await?;
    let conflicts = events::conflicts();
    say(&format!("4. {} payments again under a known key, but for another amount", conflicts.len()));
    host.send(data, "conflicts.jsonl", &conflicts).await?;
    host.wait("the payments of late orders are being retried", |status| {
        status.retries >= events::LATE_ORDERS
    })
    .await?;
    say("5. the late orders arrive");
    shop.late_orders().await?;
    host.wait("everything is settled", |status| status.pending == 0).await?;
    host.wait("every effect is confirmed", |status| status.effects_open == 0).await?;
    say("6. what happened\n");
    proof::judge(host, mailbox, &shop).await
}

/// The demo's own words.
#[expect(clippy::print_stdout, reason = "the demo speaks to the one who started it")]
fn say(text: &str) {
    println!("{text}");
}
