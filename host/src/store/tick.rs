//! What hosts tell each other once a second: each writes its own tick and reads what the others
//! wrote, what was sampled for all, who is there and what people did. Knows nothing of what is in a
//! tick.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{GenericClient, Row};
use uuid::Uuid;
use wonce_api::Time;
use wonce_api::action::Action;
use wonce_api::live::Op;

use super::sql::{Param, Sql};
use super::view::{operation, time};
use super::{Error, Store};

/// Ticks of a boot that stay: five minutes.
pub const KEPT_TICKS: i64 = 300;
/// Ticks of boots that are gone stay for so long, for those who ask what they did last.
const KEPT_OF_THE_DEAD: Duration = Duration::from_secs(600);
/// Ticks that one look takes: five minutes of many hosts.
const MAX_TICKS: i64 = 20_000;
/// Boots that one look lists.
const MAX_HOSTS: i64 = 64;
/// How long a boot that is gone and has no successor is listed.
const LISTED: Duration = Duration::from_secs(3_600);
/// Actions that one look takes.
const MAX_ACTIONS: i64 = 100;
/// Of the latest so many operations those that run, wait or have just ended are looked at.
const MAX_OPERATIONS: i64 = 200;
/// How long an operation that has ended is told of.
const TOLD_AFTER_ITS_END: Duration = Duration::from_secs(10);

const WRITE: Sql = Sql {
    name: "write this host's tick",
    text: "
        WITH old AS (DELETE FROM wonce.tick WHERE boot_id = $1 AND seq <= $2 - $4)
        INSERT INTO wonce.tick (boot_id, seq, body) VALUES ($1, $2, $3)",
    params: &[Type::UUID, Type::INT8, Type::TEXT, Type::INT8],
};
const FORGET: Sql = Sql {
    name: "forget ticks of hosts that are gone",
    text: "DELETE FROM wonce.tick WHERE at < clock_timestamp() - $1 * interval '1 second'",
    params: &[Type::FLOAT8],
};
const READ: Sql = Sql {
    name: "read other hosts' ticks",
    text: "
        SELECT boot_id::text AS boot, seq, body FROM wonce.tick
        WHERE at > now() - $2 * interval '1 second' AND boot_id <> $1
        ORDER BY boot_id, seq LIMIT $3",
    params: &[Type::UUID, Type::FLOAT8, Type::INT8],
};
/// A boot that is gone and was followed by another of the same name is nobody's concern any more.
const HOSTS: Sql = Sql {
    name: "list hosts by when they were heard",
    text: "
        SELECT h.boot_id::text AS boot, h.name, h.version, h.started_at,
               h.stopped_at IS NOT NULL AS stopped, t.at IS NOT NULL AS ticks,
               extract(epoch FROM clock_timestamp() - coalesce(t.at, h.last_seen))::float8 AS silence
        FROM wonce.host h
        LEFT JOIN LATERAL (
            SELECT at FROM wonce.tick WHERE boot_id = h.boot_id ORDER BY seq DESC LIMIT 1) t ON true
        WHERE h.last_seen > clock_timestamp() - $1 * interval '1 second'
          AND NOT EXISTS (
              SELECT FROM wonce.host n
              WHERE n.name = h.name AND n.started_at > coalesce(h.stopped_at, t.at, h.last_seen))
        ORDER BY h.name, h.started_at LIMIT $2",
    params: &[Type::FLOAT8, Type::INT8],
};
const SAMPLES: Sql = Sql {
    name: "read what was sampled for all hosts",
    text: "
        SELECT kind, at, boot_id::text AS boot, took_ms, body,
               (extract(epoch FROM clock_timestamp() - at) * 1000)::bigint AS age_ms
        FROM wonce.sample",
    params: &[],
};
const ACTIONS: Sql = Sql {
    name: "list the latest actions",
    text: "
        SELECT id, at, actor, verb, target, reason FROM (
            SELECT * FROM wonce.action WHERE id > $1 ORDER BY id DESC LIMIT $2) latest
        ORDER BY id",
    params: &[Type::INT8, Type::INT8],
};
const DATABASE: Sql = Sql {
    name: "ask which database this is",
    text: "
        SELECT left(encode(sha256('wonce database ' || cluster_key), 'hex'), 16) FROM wonce.cluster",
    params: &[],
};

pub(super) const STATEMENTS: &[&Sql] = &[&WRITE, &FORGET, &READ, &HOSTS, &SAMPLES, &ACTIONS, &DATABASE];

/// What others have written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Heard {
    /// Oldest first within a boot; some may have been read before.
    pub ticks: Vec<TickRow>,
    /// By name, then by start.
    pub hosts: Vec<HostRow>,
    /// By kind: `gauges`, `books`, `alerts`.
    pub samples: BTreeMap<String, SampleRow>,
    /// Oldest first; some may have been read before.
    pub actions: Vec<Action>,
    /// Operations that have not ended, or only just.
    pub ops: Vec<Op>,
}

/// A tick as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TickRow {
    pub boot: String,
    pub seq: u64,
    pub body: String,
}

/// A boot and when it was last heard.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRow {
    pub boot: String,
    pub name: String,
    pub version: String,
    pub started_at: Time,
    pub stopped: bool,
    /// Whether it writes ticks; an older build only has a heartbeat.
    pub ticks: bool,
    pub silence_seconds: f64,
}

/// A sample as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleRow {
    pub at: Time,
    pub boot: String,
    pub took_ms: u64,
    pub age_ms: u64,
    pub body: String,
}

/// From where on to read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Since {
    /// Ticks of the last so many seconds.
    pub seconds: f64,
    /// Actions with a greater id.
    pub action: i64,
}

impl Store {
    /// A name of the database that no other has, for who compares what hosts say.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn database_id(&self) -> Result<String, Error> {
        let client = self.client().await?;
        Ok(DATABASE.query_one(&**client, &[]).await?.get(0))
    }

    /// Writes this host's tick, when it has one, and reads what there is to hear.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn exchange_ticks(
        &self,
        boot: Uuid,
        own: Option<(u64, &str)>,
        since: Since,
    ) -> Result<Heard, Error> {
        let client = self.client().await?;
        let client = &**client;
        if let Some((seq, body)) = own {
            let seq = i64::try_from(seq).unwrap_or(i64::MAX);
            WRITE.execute(client, &[&boot, &seq, &body, &KEPT_TICKS]).await?;
        }
        let listed = LISTED.as_secs_f64();
        let told = TOLD_AFTER_ITS_END.as_secs_f64();
        let (read, hosts, actions): ([Param<'_>; 3], [Param<'_>; 2], [Param<'_>; 2]) =
            ([&boot, &since.seconds, &MAX_TICKS], [&listed, &MAX_HOSTS], [&since.action, &MAX_ACTIONS]);
        let ops: [Param<'_>; 2] = [&MAX_OPERATIONS, &told];
        // Sent at once: all of them are one round trip.
        let (ticks, hosts, samples, actions, ops) = futures_util::try_join!(
            READ.query(client, &read),
            HOSTS.query(client, &hosts),
            SAMPLES.query(client, &[]),
            ACTIONS.query(client, &actions),
            operation::LIVE.query(client, &ops),
        )?;
        Ok(Heard {
            ticks: ticks.iter().map(tick).collect(),
            hosts: hosts.iter().map(host).collect(),
            samples: samples.iter().map(|row| (row.get("kind"), sample(row))).collect(),
            actions: actions.iter().map(action).collect(),
            ops: ops.iter().map(operation::live).collect(),
        })
    }

    /// Drops the ticks of boots that are long gone.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn forget_ticks(&self) -> Result<(), Error> {
        let client = self.client().await?;
        forget(&**client).await
    }
}

async fn forget(client: &impl GenericClient) -> Result<(), Error> {
    FORGET.execute(client, &[&KEPT_OF_THE_DEAD.as_secs_f64()]).await.map(|_| ())
}

fn tick(row: &Row) -> TickRow {
    TickRow { boot: row.get("boot"), seq: unsigned(row.get("seq")), body: row.get("body") }
}

fn host(row: &Row) -> HostRow {
    HostRow {
        boot: row.get("boot"),
        name: row.get("name"),
        version: row.get("version"),
        started_at: time(row, "started_at"),
        stopped: row.get("stopped"),
        ticks: row.get("ticks"),
        silence_seconds: row.get("silence"),
    }
}

fn sample(row: &Row) -> SampleRow {
    SampleRow {
        at: time(row, "at"),
        boot: row.get("boot"),
        took_ms: unsigned(row.get("took_ms")),
        age_ms: unsigned(row.get("age_ms")),
        body: row.get("body"),
    }
}

fn action(row: &Row) -> Action {
    Action {
        id: row.get("id"),
        at: time(row, "at"),
        actor: row.get("actor"),
        verb: row.get("verb"),
        target: row.get("target"),
        reason: row.get("reason"),
    }
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
