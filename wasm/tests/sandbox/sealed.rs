//! WASI is there and has nothing behind it.

use wonce_wasm::Limits;

use crate::support::{NOW, answer, guest, invoke, run, sandbox};

#[tokio::test]
async fn there_are_no_files_no_network_no_environment_and_no_input() {
    let ended = run("system").await;
    let system = answer(&ended);
    assert!(system.contains("passwd Err(") && system.contains("root Err("), "{system}");
    assert!(system.contains("port Err(PermissionDenied)"), "{system}");
    assert!(system.contains("vars 0; args 0; stdin Ok(0)"), "{system}");
}

#[tokio::test]
async fn the_wall_clock_stands_at_the_transactions_start_and_waiting_still_ends() {
    assert_eq!(answer(&run("clock").await), format!("{} true", NOW.0));
}

#[tokio::test]
async fn randomness_is_the_same_for_a_retry_and_another_for_another_event() {
    let sandbox = sandbox();
    let prepared = sandbox.prepare(&guest()).await.unwrap();
    let mut drawn = Vec::new();
    for key in ["k1", "k1", "k2"] {
        let ended = invoke(&sandbox, &prepared, "random", key, Limits::default()).await;
        drawn.push(answer(&ended).to_owned());
    }
    assert_eq!(drawn[0], drawn[1]);
    assert_ne!(drawn[0], drawn[2]);
}
