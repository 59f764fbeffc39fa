use crate::world::World;

#[tokio::test]
async fn upkeep_forgets_crash_marks_whose_delivery_is_gone_and_no_others() {
    let world = World::new().await;
    let (handler, other) =
        (world.handler("orders", "unordered").await, world.handler("bills", "unordered").await);
    world.accept(handler, "pending", None, b"1").await;
    let client = world.client().await;
    for (handler, key) in [(handler, "pending"), (handler, "gone"), (other, "pending")] {
        let mark = "INSERT INTO wonce.crash_mark (handler_id, key) VALUES ($1, $2)";
        client.execute(mark, &[&handler, &key]).await.expect("a mark");
    }
    world.store.upkeep(&[]).await.expect("a round");
    let left = client.query("SELECT handler_id, key FROM wonce.crash_mark", &[]).await.expect("marks");
    let left: Vec<(i64, String)> = left.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(left, [(handler, "pending".to_owned())]);
    world.close().await;
}
