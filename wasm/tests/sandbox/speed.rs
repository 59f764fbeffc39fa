//! Prints what preparing and invoking cost; asserts nothing about time. Run it alone, in
//! release, with `--nocapture`.
#![expect(clippy::print_stderr, reason = "figures for people are this test's second purpose")]

use std::time::Instant;

use wonce_core::outcome::Outcome;
use wonce_wasm::{Sandbox, Settings};

use crate::support::{Fake, call, guest};

const CALLS: u32 = 2_000;

#[tokio::test]
async fn many_events_in_a_row_each_get_a_fresh_instance() {
    let home = tempfile::tempdir().unwrap();
    let settings = Settings { slots: 4, cache_dir: Some(home.path().join("cache")), ..Settings::default() };
    let bytes = guest();
    let sandbox = Sandbox::new(settings).unwrap();
    let since = Instant::now();
    let prepared = sandbox.prepare(&bytes).await.unwrap();
    let compiled = since.elapsed();
    let since = Instant::now();
    sandbox.prepare(&bytes).await.unwrap();
    let loaded = since.elapsed();
    for script in ["done", "sql select 1"] {
        let mut taken = Vec::new();
        for number in 0..CALLS {
            let (call, since) = (call(script, &number.to_string()), Instant::now());
            let ended = sandbox.invoke(&prepared, call, Fake::default()).await;
            taken.push(since.elapsed());
            assert!(matches!(ended.outcome, Outcome::Done | Outcome::Ignored(_)), "{:?}", ended.outcome);
        }
        taken.sort();
        let at = |share: usize| taken[taken.len() * share / 100];
        eprintln!("{script}: p50 {:?}, p99 {:?}", at(50), at(99));
    }
    eprintln!("{} KiB: compiled in {compiled:?}, from the cache in {loaded:?}", bytes.len() >> 10);
}
