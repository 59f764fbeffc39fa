//! The webhook for alerts: told at least once of each change, in order, whatever it answers.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wonce_api::alert::AlertNotice;
use wonce_api::live::{Alert, AlertState};
use wonce_core::alert::judge::Recent;
use wonce_core::retry::RetryPolicy;
use wonce_host::pipeline::notice::Notices;
use wonce_host::sink::http::{HttpSink, HttpSinkSettings, client};
use wonce_host::store::alert::Tell;
use wonce_host::store::alert::notice::MAX_NOTICES;
use wonce_host::store::gauges::Cap;

use crate::receiver::Receiver;
use crate::world::{HANGS, World};

const AT_ONCE: &str = r#"{"alert": {"limits": {"dead_letters": 2}, "error_window_ms": 300000,
                          "error_min_runs": 20, "for_ms": 0, "calm_ms": 60000}}"#;
const LETTER: &str = "INSERT INTO wonce.dead_letter
        (kind, handler_id, key, reason, state, code, message, fingerprint, accepted_at, first_failed_at,
         last_failed_at, payload_digest, hash_rule,
         via, source, event_type, data)
    SELECT 'delivery', h.id, 'k' || n, 'permanent', 'dead', 'c', 'm', 'f', now(), now(), now(), sha256('p'), 'r', 'v', 's', 't', ''
    FROM wonce.handler h, generate_series(1, 2) AS n";

impl World {
    async fn with_rules() -> Self {
        let world = World::new().await;
        world.execute(&format!("UPDATE wonce.handler SET policy = '{AT_ONCE}'")).await;
        world
    }

    /// One round of the elected host.
    async fn judge(&self, tell: Tell) -> Vec<Alert> {
        self.judge_counted(tell).await.0
    }

    async fn judge_counted(&self, tell: Tell) -> (Vec<Alert>, u64) {
        let boot = Uuid::new_v4();
        // A look is followed by a pause, and tests do not wait.
        self.execute("UPDATE wonce.sample SET at = at - interval '1 hour'").await;
        assert!(self.store.sample_gauges(boot, Cap(100), Duration::ZERO).await.expect("sampled"));
        let recently = |_: &str, _: Duration| Recent::default();
        let judged = self.store.judge_alerts(boot, &recently, tell).await.expect("judged");
        (judged.changes, judged.dropped)
    }

    /// Waits until no notice is left.
    async fn all_told(&self) {
        let told = async {
            while self.text("SELECT count(*)::text FROM wonce.alert_notice").await != "0" {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(HANGS, told).await.expect("every notice goes");
    }

    fn notices(&self, receiver: &Receiver) -> RunningNotices {
        let settings = HttpSinkSettings {
            url: receiver.url.clone(),
            headers: Vec::new(),
            timeout: Duration::from_secs(60),
        };
        let webhook = HttpSink::new(client().expect("a client"), &settings).expect("a sink");
        let soon = Duration::from_millis(5);
        let retry = RetryPolicy { max_attempts: 3, first: soon, ceiling: soon, ..RetryPolicy::default() };
        let retry = RetryPolicy { jitter: Duration::ZERO, ..retry };
        let notices = Notices { store: self.store.clone(), webhook: Arc::new(webhook), poll: soon, retry };
        let stop = CancellationToken::new();
        let task = tokio::spawn(notices.run(stop.clone()));
        RunningNotices { stop, task }
    }
}

struct RunningNotices {
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl RunningNotices {
    async fn end(self) {
        self.stop.cancel();
        self.task.await.expect("it ends well");
    }
}

fn states(alerts: &[Alert]) -> Vec<(&str, AlertState)> {
    alerts.iter().map(|alert| (alert.id.as_str(), alert.state)).collect()
}

#[tokio::test]
async fn an_alert_that_fires_and_ends_is_told_twice_in_order_though_the_first_answer_is_no() {
    let world = World::with_rules().await;
    assert_eq!(world.judge(Tell::Webhook).await, []);
    world.execute(LETTER).await;
    let began = world.judge(Tell::Webhook).await;
    assert_eq!(states(&began), [("payments/dead_letters", AlertState::Firing)]);
    assert_eq!(world.judge(Tell::Webhook).await, [], "it fires already");
    world.execute("UPDATE wonce.dead_letter SET state = 'discarded', acted_at = now()").await;
    let ended = world.judge(Tell::Webhook).await;
    assert_eq!(states(&ended), [("payments/dead_letters", AlertState::Resolved)]);

    let mut receiver = Receiver::start().await;
    let notices = world.notices(&receiver);
    let first = receiver.next().await;
    let key = first.header("idempotency-key").to_owned();
    assert_eq!(first.header("ce-type"), "wonce.alert.firing");
    let firing: AlertNotice = serde_json::from_slice(&first.body).expect("the document");
    assert_eq!((firing.alert.clone(), firing.fired_at.clone()), (began[0].clone(), began[0].since.clone()));
    first.answer(404);
    let again = receiver.next().await;
    assert_eq!(again.header("idempotency-key"), key, "the same notice, not the next");
    again.answer(204);
    let second = receiver.next().await;
    assert_eq!(second.header("ce-type"), "wonce.alert.resolved");
    assert_ne!(second.header("idempotency-key"), key);
    let resolved: AlertNotice = serde_json::from_slice(&second.body).expect("the document");
    assert_eq!((resolved.alert, resolved.fired_at), (ended[0].clone(), firing.fired_at));
    second.answer(204);
    world.all_told().await;
    notices.end().await;
    world.close().await;
}

#[tokio::test]
async fn a_notice_is_given_up_after_its_attempts_and_the_next_one_is_sent() {
    let world = World::with_rules().await;
    world.execute(LETTER).await;
    world.judge(Tell::Webhook).await;
    world.execute("UPDATE wonce.dead_letter SET state = 'discarded', acted_at = now()").await;
    world.judge(Tell::Webhook).await;
    let mut receiver = Receiver::start().await;
    let notices = world.notices(&receiver);
    for _ in 0..3 {
        let request = receiver.next().await;
        assert_eq!(request.header("ce-type"), "wonce.alert.firing");
        request.answer(500);
    }
    let next = receiver.next().await;
    assert_eq!(next.header("ce-type"), "wonce.alert.resolved");
    next.answer(200);
    world.all_told().await;
    notices.end().await;
    world.close().await;
}

#[tokio::test]
async fn a_notice_that_a_host_took_and_never_finished_is_sent_by_the_next() {
    let world = World::with_rules().await;
    world.execute(LETTER).await;
    world.judge(Tell::Webhook).await;
    let lease = Duration::from_secs(3_600);
    let taken = world.store.take_alert_notice(lease).await.expect("asked").expect("one is due");
    assert_eq!(world.store.take_alert_notice(lease).await.expect("asked"), None, "it is being sent");
    world.execute("UPDATE wonce.alert_notice SET due_at = now()").await;
    let again = world.store.take_alert_notice(lease).await.expect("asked").expect("its lease is over");
    assert_eq!((again.name, again.attempt), (taken.name, 2));
    world.close().await;
}

#[tokio::test]
async fn without_a_webhook_nothing_is_queued_and_a_full_queue_drops_its_oldest() {
    let world = World::with_rules().await;
    world.execute(LETTER).await;
    assert_eq!(world.judge(Tell::Nobody).await.len(), 1);
    assert_eq!(world.text("SELECT count(*)::text FROM wonce.alert_notice").await, "0");
    let full = format!(
        "INSERT INTO wonce.alert_notice (alert, fired_at, state, body)
         SELECT 'old/' || n, now(), 'firing', '' FROM generate_series(1, {MAX_NOTICES}) AS n"
    );
    world.execute(&full).await;
    world.execute("UPDATE wonce.dead_letter SET state = 'discarded', acted_at = now()").await;
    let (changes, dropped) = world.judge_counted(Tell::Webhook).await;
    assert_eq!((changes.len(), dropped), (1, 1));
    let left = "SELECT count(*) || ' ' || bool_or(alert = 'old/1') FROM wonce.alert_notice";
    assert_eq!(world.text(left).await, format!("{MAX_NOTICES} false"));
    world.close().await;
}
