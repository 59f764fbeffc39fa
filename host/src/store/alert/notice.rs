//! What the webhook is still to be told of alerts: written in the transaction that changes an alert,
//! taken by one host at a time, gone when it was told. Knows nothing of HTTP.

use std::time::Duration;

use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};
use wonce_api::alert::AlertNotice;
use wonce_api::live::AlertState;

use crate::store::sql::Sql;
use crate::store::view::time;
use crate::store::{Error, Store};

/// Notices that wait at once; beyond this the oldest are dropped.
pub const MAX_NOTICES: i64 = 1_000;

const PUT: Sql = Sql {
    name: "queue an alert's notice",
    text: "
        INSERT INTO wonce.alert_notice (alert, fired_at, state, body)
        VALUES ($1, $2::text::timestamptz, $3, $4) ON CONFLICT (alert, fired_at, state) DO NOTHING",
    params: &[Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT],
};
const DROP: Sql = Sql {
    name: "drop the oldest notices beyond the limit",
    text: "
        DELETE FROM wonce.alert_notice
        WHERE id <= (SELECT n.id FROM wonce.alert_notice n ORDER BY n.id DESC OFFSET $1 LIMIT 1)",
    params: &[Type::INT8],
};
/// Its due time is the lease: when the host dies, another one sends it again after that. A later
/// notice of an alert waits for the earlier one.
const TAKE: Sql = Sql {
    name: "take a due notice",
    text: "
        UPDATE wonce.alert_notice n
        SET attempt = n.attempt + 1, due_at = clock_timestamp() + $1 * interval '1 second'
        WHERE n.id = (
            SELECT d.id FROM wonce.alert_notice d
            WHERE d.due_at <= clock_timestamp()
              AND NOT EXISTS (SELECT FROM wonce.alert_notice e WHERE e.alert = d.alert AND e.id < d.id)
            ORDER BY d.id LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING n.id, n.alert, n.fired_at, n.state, n.body, n.attempt",
    params: &[Type::FLOAT8],
};
const TOLD: Sql = Sql {
    name: "forget a notice",
    text: "DELETE FROM wonce.alert_notice WHERE id = $1",
    params: &[Type::INT8],
};
const LATER: Sql = Sql {
    name: "put a notice off",
    text: "
        UPDATE wonce.alert_notice SET due_at = clock_timestamp() + $2 * interval '1 second'
        WHERE id = $1 AND attempt = $3",
    params: &[Type::INT8, Type::FLOAT8, Type::INT4],
};

pub(in crate::store) const STATEMENTS: &[&Sql] = &[&PUT, &DROP, &TAKE, &TOLD, &LATER];

/// A notice that this host is to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    pub id: i64,
    /// `<handler>/<rule>`
    pub alert: String,
    /// The same for every attempt, and for no other notice.
    pub name: String,
    /// `firing` or `resolved`.
    pub state: String,
    pub body: String,
    /// From 1.
    pub attempt: u32,
}

/// Queues them, and answers how many older ones had to go.
pub(super) async fn put(tx: &Transaction<'_>, notices: &[AlertNotice]) -> Result<u64, Error> {
    for notice in notices {
        let body = serde_json::to_string(notice).map_err(|error| Error::Refused {
            attempt: format!("write the notice of alert \"{}\"", notice.alert.id),
            reason: error.to_string(),
        })?;
        let state = state(notice.alert.state);
        PUT.execute(tx, &[&notice.alert.id, &notice.fired_at, &state, &body]).await?;
    }
    if notices.is_empty() { Ok(0) } else { DROP.execute(tx, &[&MAX_NOTICES]).await }
}

impl Store {
    /// Takes the earliest due notice; nobody else does so before `lease` is over.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn take_alert_notice(&self, lease: Duration) -> Result<Option<Taken>, Error> {
        let client = self.client().await?;
        let row = TAKE.query_opt(&**client, &[&lease.as_secs_f64()]).await?;
        Ok(row.as_ref().map(taken))
    }

    /// It was told, or is given up.
    ///
    /// # Errors
    /// When the database is out of reach; it is told again then.
    pub async fn forget_alert_notice(&self, id: i64) -> Result<(), Error> {
        let client = self.client().await?;
        TOLD.execute(&**client, &[&id]).await.map(|_| ())
    }

    /// It is to be told again after this wait.
    ///
    /// # Errors
    /// When the database is out of reach; its lease says when then.
    pub async fn postpone_alert_notice(&self, notice: &Taken, wait: Duration) -> Result<(), Error> {
        let client = self.client().await?;
        let attempt = i32::try_from(notice.attempt).unwrap_or(i32::MAX);
        LATER.execute(&**client, &[&notice.id, &wait.as_secs_f64(), &attempt]).await.map(|_| ())
    }
}

fn taken(row: &Row) -> Taken {
    let (alert, state): (String, String) = (row.get("alert"), row.get("state"));
    Taken {
        id: row.get("id"),
        name: format!("{alert}@{}:{state}", time(row, "fired_at")),
        alert,
        state,
        body: row.get("body"),
        attempt: u32::try_from(row.get::<_, i32>("attempt")).unwrap_or(u32::MAX),
    }
}

fn state(state: AlertState) -> &'static str {
    match state {
        AlertState::Firing => "firing",
        AlertState::Resolved => "resolved",
    }
}
