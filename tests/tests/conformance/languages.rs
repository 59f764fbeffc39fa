use super::suite::keeps_every_behaviour;

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_in_rust_keeps_every_behaviour() {
    keeps_every_behaviour("conformance_rust").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_in_c_keeps_every_behaviour() {
    keeps_every_behaviour("conformance_c").await;
}
