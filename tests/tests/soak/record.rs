//! What was seen of a host and its database, window by window, and what must be true of it.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::Instant;
use tokio_postgres::Client;
use wonce_tests::child::Host;
use wonce_tests::child::database::Database;

use crate::feed::Feed;
use crate::metrics::Histogram;

/// One look at everything.
const WINDOW: Duration = Duration::from_secs(5);
/// The tail that counts.
const TAIL: f64 = 0.99;
/// A claim's tail may be this much longer than before and still be as before: windows are short
/// and buckets are wide.
const AS_BEFORE: f64 = 1.5;
/// What memory may grow by between the beginning and the end, over what it is.
const GROWTH: f64 = 1.10;
/// What a second held snapshot may leave over what the first one left.
const SECOND: f64 = 1.5;
/// How much of the dead rows at the peak may be there when the recovery is over.
const LEFT: f64 = 0.5;

const DEAD: &str = "SELECT coalesce(sum(n_dead_tup), 0)::bigint, sum(pg_total_relation_size(relid))::bigint
                    FROM pg_stat_user_tables WHERE schemaname = 'wonce' AND relname = 'inbox'";

/// What goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    WarmUp,
    Before,
    Held,
    After,
    HeldAgain,
    AfterAgain,
    Rest,
}

#[derive(Debug)]
struct Window {
    phase: Phase,
    events: u64,
    claim: Option<f64>,
    end_to_end: Option<f64>,
    resident_kib: u64,
    dead_rows: i64,
    inbox_bytes: i64,
}

/// All windows.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    host: &'a Host,
    admin: SocketAddr,
    http: reqwest::Client,
    database: Client,
    claims: Histogram,
    ends: Histogram,
    windows: Vec<Window>,
}

impl<'a> Record<'a> {
    pub(crate) async fn new(database: &Database, host: &'a Host, admin: SocketAddr) -> Self {
        Self {
            host,
            admin,
            http: wonce_host::sink::http::client().expect("a client"),
            database: database.client().await,
            claims: Histogram::default(),
            ends: Histogram::default(),
            windows: Vec::new(),
        }
    }

    /// Looks on for a time.
    pub(crate) async fn during(&mut self, phase: Phase, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            tokio::time::sleep(WINDOW).await;
            self.look(phase).await;
        }
    }

    /// Looks on until everything is as it was before `held`, and no longer than `limit`.
    pub(crate) async fn until_recovered(&mut self, held: Phase, after: Phase, limit: Duration) {
        let end = Instant::now() + limit;
        while Instant::now() < end && !self.has_recovered(held, after) {
            tokio::time::sleep(WINDOW).await;
            self.look(after).await;
        }
    }

    /// Looks on until nothing comes any more and nothing is pending.
    pub(crate) async fn until_settled(&mut self, phase: Phase, feed: &Feed) {
        loop {
            tokio::time::sleep(WINDOW).await;
            self.look(phase).await;
            let pending = self.database.query_one("SELECT EXISTS (SELECT FROM wonce.inbox)", &[]).await;
            if feed.is_over() && !pending.expect("the server answers").get::<_, bool>(0) {
                return;
            }
        }
    }

    async fn look(&mut self, phase: Phase) {
        let url = format!("http://{}/metrics", self.admin);
        let answer = self.http.get(url).send().await.expect("the host answers");
        let text = answer.text().await.expect("the whole answer");
        let claims = Histogram::read(&text, "wonce_claim_seconds");
        let ends = Histogram::read(&text, "wonce_end_to_end_seconds");
        let since = ends.since(&self.ends);
        let row = self.database.query_one(DEAD, &[]).await.expect("the server answers");
        self.windows.push(Window {
            phase,
            events: since.count(),
            claim: claims.since(&self.claims).percentile(TAIL),
            end_to_end: since.percentile(TAIL),
            resident_kib: self.host.resident_kib(),
            dead_rows: row.get(0),
            inbox_bytes: row.get(1),
        });
        (self.claims, self.ends) = (claims, ends);
    }

    fn of(&self, phase: Phase) -> impl Iterator<Item = &Window> {
        self.windows.iter().filter(move |window| window.phase == phase)
    }

    /// The tail of a phase's middle window.
    fn usual_claim(&self, phase: Phase) -> f64 {
        let mut tails: Vec<f64> = self.of(phase).filter_map(|window| window.claim).collect();
        tails.sort_by(f64::total_cmp);
        *tails.get(tails.len() / 2).expect("something was claimed")
    }

    fn most_dead(&self, phase: Phase) -> i64 {
        self.of(phase).map(|window| window.dead_rows).max().expect("there are windows")
    }

    pub(crate) fn memory_is_flat(&self) {
        let most = |phase| self.of(phase).map(|window| window.resident_kib).max().unwrap_or(0);
        let (before, last) = (most(Phase::Before), most(Phase::Rest).max(most(Phase::AfterAgain)));
        assert!(last as f64 <= before as f64 * GROWTH, "memory grew from {before} to {last} KiB");
    }

    pub(crate) fn recovers(&self, held: Phase, after: Phase) {
        let before = self.usual_claim(Phase::Before);
        let peak = self.most_dead(held).max(self.most_dead(after));
        assert!(
            self.has_recovered(held, after),
            "{after:?}: claims did not come back to {AS_BEFORE} times {before} s, or of {peak} dead rows too many are left"
        );
    }

    /// A window's claims are as quick as before, and most of the dead rows are gone.
    fn has_recovered(&self, held: Phase, after: Phase) -> bool {
        let quick = self.usual_claim(Phase::Before) * AS_BEFORE;
        let peak = self.of(held).chain(self.of(after)).map(|window| window.dead_rows).max();
        let few = peak.unwrap_or(0) as f64 * LEFT;
        self.of(after).any(|window| window.claim.is_some_and(|tail| tail <= quick))
            && self.of(after).any(|window| window.dead_rows as f64 <= few)
    }

    pub(crate) fn dead_rows_do_not_pile_up(&self) {
        let peaks = [(Phase::Held, Phase::After), (Phase::HeldAgain, Phase::AfterAgain)];
        let [first, second] = peaks.map(|(held, after)| self.most_dead(held).max(self.most_dead(after)));
        assert!(second as f64 <= first as f64 * SECOND, "dead rows grew from {first} to {second}");
    }

    /// For people.
    pub(crate) fn table(&self) -> String {
        let mut text =
            "phase        events/s  claim p99  end to end p99  memory     dead rows  inbox\n".to_owned();
        for window in &self.windows {
            let milliseconds =
                |tail: Option<f64>| tail.map_or("-".to_owned(), |s| format!("{:.1} ms", s * 1e3));
            let _ = writeln!(
                text,
                "{:<11}  {:>8}  {:>9}  {:>14}  {:>5} MiB  {:>9}  {} MiB",
                format!("{:?}", window.phase),
                window.events / WINDOW.as_secs(),
                milliseconds(window.claim),
                milliseconds(window.end_to_end),
                window.resident_kib / 1024,
                window.dead_rows,
                window.inbox_bytes / (1024 * 1024),
            );
        }
        text
    }
}
