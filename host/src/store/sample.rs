//! A look at the database that one host takes in the name of all: a lock elects who, the row of the
//! last one says whether it is time. Knows nothing of what is looked at.

use std::time::Duration;

use deadpool_postgres::Object;
use serde::Serialize;
use tokio_postgres::Transaction;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::sql::Sql;
use super::{Error, writing};

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Gauges,
    Books,
    Alerts,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Kind::Gauges => "gauges",
            Kind::Books => "books",
            Kind::Alerts => "alerts",
        }
    }

    /// A look is followed by a pause of so many times what it took, however short the wanted one
    /// is: together they cost at most 2 and 0.5 per cent of one connection.
    fn spare_factor(self) -> i64 {
        match self {
            Kind::Gauges | Kind::Alerts => 50,
            Kind::Books => 200,
        }
    }
}

const ELECT: Sql = Sql {
    name: "stand for a sample",
    text: "
        SELECT set_config('statement_timeout', $2, true),
               pg_try_advisory_xact_lock(hashtextextended('wonce sample ' || $1, 0)) AS elected",
    params: &[Type::TEXT, Type::TEXT],
};
/// Looked at behind the lock: whoever had it before has committed.
const IS_DUE: Sql = Sql {
    name: "ask whether a sample is due",
    text: "
        SELECT NOT EXISTS (
            SELECT FROM wonce.sample s
            WHERE s.kind = $1
              AND s.at > clock_timestamp() - greatest($2, s.took_ms * $3) * interval '1 millisecond')",
    params: &[Type::TEXT, Type::INT8, Type::INT8],
};
const WRITE: Sql = Sql {
    name: "write a sample",
    text: "
        INSERT INTO wonce.sample AS s (kind, at, boot_id, took_ms, body)
        VALUES ($1, now(), $2, (extract(epoch FROM clock_timestamp() - now()) * 1000)::bigint, $3)
        ON CONFLICT (kind) DO UPDATE
        SET at = excluded.at, boot_id = excluded.boot_id, took_ms = excluded.took_ms, body = excluded.body",
    params: &[Type::TEXT, Type::UUID, Type::TEXT],
};

pub(super) const STATEMENTS: &[&Sql] = &[&ELECT, &IS_DUE, &WRITE];

/// An elected host's look: dropped unfinished, it was none.
pub(super) struct Sample<'a> {
    tx: Transaction<'a>,
    kind: Kind,
    boot: Uuid,
}

impl<'a> Sample<'a> {
    /// Opens the look, in which no statement takes longer than `limit`; none when another host has
    /// it, or the last one is younger than `pause` or than so many times what it took.
    pub(super) async fn begin(
        client: &'a mut Object,
        kind: Kind,
        boot: Uuid,
        pause: Duration,
        limit: Duration,
    ) -> Result<Option<Self>, Error> {
        let tx = writing(client, "begin a sample").await?;
        let limit = limit.as_millis().to_string();
        let elected: bool = ELECT.query_one(&tx, &[&kind.as_str(), &limit]).await?.get("elected");
        let pause = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
        let due = elected
            && IS_DUE
                .query_one(&tx, &[&kind.as_str(), &pause, &kind.spare_factor()])
                .await?
                .get::<_, bool>(0);
        Ok(due.then_some(Self { tx, kind, boot }))
    }

    pub(super) fn transaction(&self) -> &Transaction<'a> {
        &self.tx
    }

    /// Writes what was seen.
    pub(super) async fn finish(self, seen: &impl Serialize) -> Result<(), Error> {
        let body = serde_json::to_string(seen).map_err(|error| Error::Refused {
            attempt: format!("write the sample \"{}\"", self.kind.as_str()),
            reason: error.to_string(),
        })?;
        WRITE.execute(&self.tx, &[&self.kind.as_str(), &self.boot, &body]).await?;
        self.tx.commit().await.map_err(|source| Error::Statement { attempt: "commit a sample", source })
    }
}
