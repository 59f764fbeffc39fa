//! Each way in which a guest can end: its class, its attempts, its dead letter, and that the next
//! event on the same handler is none the worse.

use serde_json::{Value as Json, json};
use wonce_tests::world::{Handler, Setup, World};

const ENTRY: &str = "insert into lab.entry (name) values ('booked')";

/// How a delivery died: reason, class, code, attempts.
const DEATH: &str = "select format('%s %s %s %s', reason, class, code, attempts) from wonce.dead_letter";
const MESSAGE: &str = "select message from wonce.dead_letter";

fn impatient() -> Setup {
    Setup::default().with(Handler::probe().limit("deadline", "\"700ms\""))
}

/// Runs a script to its death, then a good event, and says how the first died.
async fn death(setup: Setup, steps: Json) -> (World, String) {
    let world = World::running(setup).await;
    world.probe("bad", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "bad").await, "dead");
    world.probe("good", json!({"steps": [{"sql": ENTRY}]})).await;
    assert_eq!(world.outcome("probe", "good").await, "done");
    assert_eq!(world.value::<i64>("select count(*) from lab.entry").await, 1);
    let death = world.value(DEATH).await;
    (world, death)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_loop_ends_at_the_deadline() {
    let (world, death) = death(impatient(), json!([{"sql": ENTRY}, {"loop": true}])).await;
    assert_eq!(death, "budget budget deadline 3");
    let message: String = world.value(MESSAGE).await;
    assert!(message.contains("700") && message.contains("limits.deadline"), "{message}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_bomb_ends_at_the_memory_limit() {
    let (world, death) = death(Setup::probe(), json!([{"sql": ENTRY}, {"alloc_mib": 512}])).await;
    assert_eq!(death, "budget budget memory 3");
    let message: String = world.value(MESSAGE).await;
    assert!(message.contains("limits.memory"), "{message}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bottomless_recursion_is_a_trap() {
    let (world, death) = death(Setup::probe(), json!([{"sql": ENTRY}, {"recurse": true}])).await;
    assert!(death.starts_with("trap trap ") && death.ends_with(" 3"), "{death}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abort_is_a_trap() {
    let (world, death) = death(Setup::probe(), json!([{"sql": ENTRY}, {"abort": true}])).await;
    assert!(death.starts_with("trap trap ") && death.ends_with(" 3"), "{death}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exit_is_a_trap_even_with_zero() {
    let (world, death) = death(Setup::probe(), json!([{"sql": ENTRY}, {"exit": 0}])).await;
    assert!(death.starts_with("trap trap ") && death.ends_with(" 3"), "{death}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_a_trap_that_keeps_its_message() {
    let (world, death) = death(Setup::probe(), json!([{"sql": ENTRY}, {"panic": "the moon is full"}])).await;
    assert!(death.starts_with("trap trap ") && death.ends_with(" 3"), "{death}");
    let kept = "select concat_ws(' ', d.message, a.log_tail) from wonce.dead_letter d
                join wonce.attempt a on a.key = d.key order by a.id desc limit 1";
    let kept: String = world.value(kept).await;
    assert!(kept.contains("the moon is full"), "{kept}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn done_after_a_failed_statement_is_never_committed() {
    let missing =
        json!([{"sql": ENTRY}, {"sql": "insert into lab.nowhere values (1)", "ignore_error": true}]);
    let (world, death) = death(Setup::probe(), missing).await;
    assert_eq!(death, "attempts_exhausted database 42P01 3");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_sql_error_that_is_passed_on_keeps_its_class_and_the_guests_words() {
    let steps = json!([{"sql": ENTRY}, {"sql": "insert into lab.nowhere values (1)"}]);
    let (world, death) = death(Setup::probe(), steps).await;
    assert_eq!(death, "attempts_exhausted database 42P01 3");
    let message: String = world.value(MESSAGE).await;
    assert!(message.starts_with("PostgreSQL refused the statement:"), "{message}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn done_after_a_unique_violation_is_retried_until_it_is_true() {
    let world = World::running(Setup::probe()).await;
    world.sql("insert into lab.once values ('taken')").await;
    let steps = json!([{"sql": "insert into lab.once values ('taken')", "ignore_error": true}]);
    world.probe("e1", json!({"steps": steps})).await;
    assert_eq!(world.outcome("probe", "e1").await, "dead");
    assert_eq!(world.value::<String>(DEATH).await, "attempts_exhausted database 23505 3");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_text_of_30_mib_is_too_much_to_copy() {
    let world = World::running(Setup::probe()).await;
    world.probe("e1", json!({"end": {"error_bytes": 30 * 1024 * 1024}})).await;
    assert_eq!(world.outcome("probe", "e1").await, "dead");
    assert_eq!(world.value::<String>(DEATH).await, "budget budget copied-bytes 3");
    let message: String = world.value(MESSAGE).await;
    assert!(message.contains("limits.host_call_bytes"), "{message}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_text_of_1_mib_is_cut_and_kept() {
    let world = World::running(Setup::probe()).await;
    world.probe("e1", json!({"end": {"error_bytes": 1024 * 1024}})).await;
    assert_eq!(world.outcome("probe", "e1").await, "dead");
    assert_eq!(world.value::<String>(DEATH).await, "permanent permanent probe-large 1");
    let message: String = world.value(MESSAGE).await;
    assert!(message.starts_with("xxx") && message.len() < 64 * 1024, "{} bytes", message.len());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deferred_constraint_is_a_fault_like_any_other() {
    let steps = json!([{"sql": ENTRY}, {"sql": "insert into lab.child values (1, 404)"}]);
    let (world, death) = death(Setup::probe(), steps).await;
    assert_eq!(death, "attempts_exhausted database 23503 3");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longest_wait_that_a_guest_can_ask_for_is_the_ceiling() {
    let setup = Setup::default().with(Handler::probe().ceiling("1h"));
    let world = World::running(setup).await;
    world.probe("e1", json!({"end": {"retry": {"after_ms": u64::MAX}}})).await;
    world.until("select count(*) = 1 from wonce.inbox where attempt = 1").await;
    let wait = "select due_at - failed_at between interval '59 minutes' and interval '61 minutes'
                from wonce.inbox i join wonce.attempt a using (key)";
    assert!(world.value::<bool>(wait).await, "the retry is due in an hour");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_sleeps_past_the_deadline_is_cancelled() {
    let setup = Setup::default().with(Handler::probe().limit("deadline", "\"700ms\"").concurrency(1));
    let (world, death) = death(setup, json!([{"sql": ENTRY}, {"query": "select pg_sleep(600)"}])).await;
    assert_eq!(death, "budget budget deadline 3");
    let running = "select count(*) from pg_stat_activity where datname = current_database() and query like '%pg_sleep(600)%'
                   and state = 'active' and pid <> pg_backend_pid()";
    assert_eq!(world.value::<i64>(running).await, 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_statements_ends_at_its_limit() {
    let setup = Setup::default().with(Handler::probe().limit("statements", "5"));
    let steps: Vec<Json> = (0..11).map(|_| json!({"sql": ENTRY, "ignore_error": true})).collect();
    let (world, death) = death(setup, json!(steps)).await;
    assert_eq!(death, "budget budget statements 3");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_log_lines_costs_the_lines_and_not_the_event() {
    let world = World::running(Setup::probe()).await;
    world
        .probe("e1", json!({"steps": [{"sql": ENTRY}, {"log_flood": 20_000}, {"big_log": 4_000_000}]}))
        .await;
    assert_eq!(world.outcome("probe", "e1").await, "done");
    assert_eq!(world.value::<i64>("select count(*) from lab.entry").await, 1);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_script_is_the_producers_fault() {
    let world = World::running(Setup::probe()).await;
    world.probe("e1", json!({"steps": [{"dance": true}]})).await;
    assert_eq!(world.outcome("probe", "e1").await, "dead");
    let death: String = world.value(DEATH).await;
    assert_eq!(death, "invalid_payload invalid_payload undecodable-payload 1");
    world.end().await;
}
