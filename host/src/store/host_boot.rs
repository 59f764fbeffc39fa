//! One row per boot of a host, and what a host leaves behind: whether its last end was clean, and
//! marks on deliveries under which it died.

use std::time::Duration;

use tokio_postgres::types::Type;
use uuid::Uuid;
use wonce_core::name::Key;

use super::lease::HandlerAccess;
use super::sql::Sql;
use super::{Error, Store};

/// A host writes its row this often.
pub const HEARTBEAT: Duration = Duration::from_secs(5);
/// A host whose row is older is taken for dead by everyone who asks.
pub const SEEN_RECENTLY: Duration = Duration::from_secs(20);

/// How the boot before this one ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastEnd {
    /// There was none, or it stopped as it should.
    Clean,
    /// It was killed, or lost its database for good.
    Unclean,
}

const REGISTER: Sql = Sql {
    name: "register this host",
    text: "INSERT INTO wonce.host (boot_id, name, version, follows_versions) VALUES ($1, $2, $3, true)",
    params: &[Type::UUID, Type::TEXT, Type::TEXT],
};
const BEAT: Sql = Sql {
    name: "write this host's heartbeat",
    text: "UPDATE wonce.host SET last_seen = clock_timestamp() WHERE boot_id = $1",
    params: &[Type::UUID],
};
const STOP: Sql = Sql {
    name: "record this host's clean stop",
    text: "UPDATE wonce.host SET last_seen = clock_timestamp(), stopped_at = clock_timestamp() WHERE boot_id = $1",
    params: &[Type::UUID],
};
const LAST_END: Sql = Sql {
    name: "ask how the last boot ended",
    text: "SELECT stopped_at IS NOT NULL FROM wonce.host WHERE boot_id = $1",
    params: &[Type::UUID],
};
const MARK: Sql = Sql {
    name: "mark a delivery for a crash",
    text: "INSERT INTO wonce.crash_mark AS m (handler_id, key) VALUES ($1, $2)
           ON CONFLICT (handler_id, key) DO UPDATE
           SET marks = m.marks + 1, marked_at = clock_timestamp()
           RETURNING marks",
    params: &[Type::INT8, Type::TEXT],
};

pub(super) const STATEMENTS: &[&Sql] = &[&REGISTER, &BEAT, &STOP, &LAST_END, &MARK];

impl Store {
    /// Makes this boot known to the fleet.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn register_host(&self, boot: Uuid, name: &str) -> Result<(), Error> {
        let client = self.client().await?;
        REGISTER.execute(&**client, &[&boot, &name, &env!("CARGO_PKG_VERSION")]).await?;
        Ok(())
    }

    /// Says that this boot is alive.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn beat(&self, boot: Uuid) -> Result<(), Error> {
        let client = self.client().await?;
        BEAT.execute(&**client, &[&boot]).await?;
        Ok(())
    }

    /// Says that this boot ended as it should.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn record_clean_stop(&self, boot: Uuid) -> Result<(), Error> {
        let client = self.client().await?;
        STOP.execute(&**client, &[&boot]).await?;
        Ok(())
    }

    /// How an earlier boot ended. One that the database does not know left nothing behind.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn last_end(&self, boot: Uuid) -> Result<LastEnd, Error> {
        let client = self.client().await?;
        let row = LAST_END.query_opt(&**client, &[&boot]).await?;
        Ok(match row.map(|row| row.get::<_, bool>(0)) {
            None | Some(true) => LastEnd::Clean,
            Some(false) => LastEnd::Unclean,
        })
    }

    /// Commits, on a connection of its own, that a host or backend may die under this delivery.
    /// Returns the marks that it has now; any settlement clears them.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn mark_crash(&self, access: &HandlerAccess, key: &Key) -> Result<i32, Error> {
        let client = self.client().await?;
        let row = MARK.query_one(&**client, &[&access.id, &key.as_str()]).await?;
        Ok(row.get(0))
    }
}
