//! The whole fleet on one page.

use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};
use wonce_api::status::{Database, Host, OutboxCount, Status};

use super::{READ_LIMIT, handler, snapshot, time};
use crate::store::sql::Sql;
use crate::store::{Error, Store, alert};

/// A host that was not seen for so long is silent: it died or lost the database.
const SILENT_AFTER_SECONDS: i64 = 15;
/// Hosts that were last seen longer ago are history.
const FORGET_AFTER_SECONDS: i64 = 24 * 60 * 60;
/// How many hosts one answer lists.
const HOSTS_LIMIT: i64 = 100;

const DATABASE: Sql = Sql {
    name: "describe the database",
    text: "
        SELECT current_database()::text AS name, current_setting('server_version') AS version,
               (SELECT coalesce(max(number), 0) FROM wonce.migration) AS schema,
               (SELECT count(*) FROM wonce.dead_letter WHERE kind = 'parked' AND state = 'dead') AS parked,
               (SELECT count(*) FROM wonce.submitted) AS submitted",
    params: &[],
};
const HOSTS: Sql = Sql {
    name: "list hosts",
    text: "
        SELECT boot_id::text AS boot_id, name, version, started_at,
               CASE WHEN stopped_at IS NOT NULL THEN 'stopped'
                    WHEN now() - last_seen > make_interval(secs => $1) THEN 'silent'
                    ELSE 'alive' END AS state,
               greatest(0, floor(extract(epoch FROM now() - last_seen)))::bigint AS seen_seconds_ago
        FROM wonce.host
        WHERE now() - last_seen <= make_interval(secs => $2)
        ORDER BY last_seen DESC LIMIT $3",
    params: &[Type::INT8, Type::INT8, Type::INT8],
};
const OUTBOX: Sql = Sql {
    name: "count effects by sink and state",
    text: "SELECT sink, state, count(*) AS effects FROM wonce.outbox GROUP BY sink, state ORDER BY sink, state",
    params: &[],
};

pub(in crate::store) const STATEMENTS: &[&Sql] = &[&DATABASE, &HOSTS, &OUTBOX];

impl Store {
    /// Hosts, handlers, outbox and database.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn status(&self) -> Result<Status, Error> {
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, READ_LIMIT).await?;
        let about = DATABASE.query_one(&tx, &[]).await?;
        let hosts = HOSTS.query(&tx, &[&SILENT_AFTER_SECONDS, &FORGET_AFTER_SECONDS, &HOSTS_LIMIT]).await?;
        Ok(Status {
            taken,
            database: Database {
                name: about.get("name"),
                version: about.get("version"),
                schema: about.get("schema"),
            },
            hosts: hosts.iter().map(host).collect(),
            handlers: handler::summaries(&tx).await?,
            alerts: alert::firing(&tx).await?,
            outbox: outbox_counts(&tx).await?,
            parked: about.get("parked"),
            submitted: about.get("submitted"),
        })
    }
}

pub(in crate::store) async fn outbox_counts(tx: &Transaction<'_>) -> Result<Vec<OutboxCount>, Error> {
    let rows = OUTBOX.query(tx, &[]).await?;
    Ok(rows
        .iter()
        .map(|row| OutboxCount {
            sink: row.get("sink"),
            state: row.get("state"),
            effects: row.get("effects"),
        })
        .collect())
}

fn host(row: &Row) -> Host {
    Host {
        boot_id: row.get("boot_id"),
        name: row.get("name"),
        version: row.get("version"),
        state: row.get("state"),
        started_at: time(row, "started_at"),
        seen_seconds_ago: row.get("seen_seconds_ago"),
    }
}
