//! Which version of a handler is active and which ones there are, for hosts that follow; what each
//! host runs; and the end of a handler.
//!
//! Knows nothing of how a component runs. What makes a version active is `deploy`.

use std::collections::BTreeMap;

use tokio_postgres::types::{Json, Type};
use uuid::Uuid;
use wonce_core::name::HandlerName;

use super::action::{By, handler_target};
use super::connect::DatabaseUrl;
use super::deploy::{CLUSTER_KEY, ChosenBy, LOCK_HANDLER, role};
use super::host_boot::SEEN_RECENTLY;
use super::lease::HandlerAccess;
use super::sql::Sql;
use super::{Error, Store, writing};

const POINTERS: Sql = Sql {
    name: "look which versions are active",
    text: "SELECT id, name, state, chosen_by, active_version, previous_version FROM wonce.handler ORDER BY id",
    params: &[],
};
const LOAD: Sql = Sql {
    name: "load a handler's version",
    text: "SELECT v.component, v.manifest, v.settings, v.signature, h.login_role, h.name
           FROM wonce.handler_version v JOIN wonce.handler h ON h.id = v.handler_id
           WHERE v.handler_id = $1 AND v.digest = $2",
    params: &[Type::INT8, Type::BYTEA],
};
/// A row of a boot that the database forgot meanwhile is not written.
const RUNS: Sql = Sql {
    name: "say which version this host runs",
    text: "INSERT INTO wonce.host_version AS v (boot_id, handler_id, digest, problem, wanted)
           SELECT o.boot_id, h.id, $3, $4, $5 FROM wonce.host o, wonce.handler h WHERE o.boot_id = $1 AND h.id = $2
           ON CONFLICT (boot_id, handler_id) DO UPDATE
           SET digest = excluded.digest, problem = excluded.problem, wanted = excluded.wanted,
               since = clock_timestamp()",
    params: &[Type::UUID, Type::INT8, Type::BYTEA, Type::TEXT, Type::BYTEA],
};
const TO_FOLLOW: Sql = Sql {
    name: "count the hosts that do not run the active version yet",
    text: "SELECT count(*) FROM wonce.host o
           LEFT JOIN wonce.host_version v ON v.boot_id = o.boot_id AND v.handler_id = $1
           WHERE o.stopped_at IS NULL AND o.last_seen > clock_timestamp() - $3 * interval '1 second'
             AND o.follows_versions AND v.wanted IS DISTINCT FROM $2",
    params: &[Type::INT8, Type::BYTEA, Type::FLOAT8],
};
const STOPPED: Sql = Sql {
    name: "say that this host runs a handler no longer",
    text: "DELETE FROM wonce.host_version WHERE boot_id = $1 AND handler_id = $2",
    params: &[Type::UUID, Type::INT8],
};
const FIND: Sql = Sql {
    name: "find a handler's versions by their first digits",
    text: "SELECT h.id, h.state, h.active_version, h.previous_version,
                  ARRAY(SELECT v.digest FROM wonce.handler_version v
                        WHERE v.handler_id = h.id AND starts_with(encode(v.digest, 'hex'), $2)
                        ORDER BY v.digest LIMIT 2) AS found
           FROM wonce.handler h WHERE h.name = $1",
    params: &[Type::TEXT, Type::TEXT],
};
const PENDING: Sql = Sql {
    name: "count what is pending for a handler",
    text: "SELECT count(*) FROM wonce.inbox i JOIN wonce.handler h ON h.id = i.handler_id WHERE h.name = $1",
    params: &[Type::TEXT],
};
const REMOVE: Sql = Sql {
    name: "remove a handler",
    text: "UPDATE wonce.handler SET state = 'removed', chosen_by = 'hand' WHERE name = $1",
    params: &[Type::TEXT],
};
const RECORD_REMOVE: Sql = Sql {
    name: "record a remove",
    text: "INSERT INTO wonce.action (actor, verb, target, reason, detail)
           VALUES ($1, 'remove', $2, $3, jsonb_build_object('pending', $4::bigint))",
    params: &[Type::TEXT, Type::TEXT, Type::TEXT, Type::INT8],
};

pub(super) const STATEMENTS: &[&Sql] =
    &[&POINTERS, &LOAD, &RUNS, &TO_FOLLOW, &STOPPED, &FIND, &PENDING, &REMOVE, &RECORD_REMOVE];

/// Where a handler's hosts are to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    pub id: i64,
    pub name: HandlerName,
    pub is_removed: bool,
    pub chosen_by: ChosenBy,
    pub active: [u8; 32],
    pub previous: Option<[u8; 32]>,
}

/// A version with everything that running it takes.
#[derive(Debug)]
pub struct StoredVersion {
    pub access: HandlerAccess,
    pub component: Vec<u8>,
    pub manifest: String,
    pub settings: BTreeMap<String, String>,
    pub signature: Option<String>,
}

impl StoredVersion {
    /// What its name must be.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        wonce_core::digest::version(&self.component, &self.manifest, &self.settings)
    }
}

/// A version that somebody wants to go back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// It is there and not the active one.
    Version {
        handler: i64,
        digest: [u8; 32],
    },
    /// It is the active one.
    Active([u8; 32]),
    UnknownHandler,
    /// There was no version before the active one.
    NoPrevious,
    /// No version begins so.
    NoSuch,
    /// More than one does.
    Several,
}

/// What removing a handler came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// With this many deliveries that wait for its return.
    Removed {
        pending: i64,
    },
    Unchanged,
    UnknownHandler,
    /// It has so much to do, and nobody said to leave it.
    Pending(i64),
}

/// What becomes of deliveries that a removed handler has not settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsettled {
    /// The handler stays until there are none.
    Refuse,
    /// They wait for its return.
    Keep,
}

impl Store {
    /// Every handler's active version.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn pointers(&self) -> Result<Vec<Pointer>, Error> {
        let client = self.client().await?;
        let rows = POINTERS.query(&**client, &[]).await?;
        let pointer = |row: &tokio_postgres::Row| {
            Some(Pointer {
                id: row.get("id"),
                name: HandlerName::parse(row.get::<_, String>("name")).ok()?,
                is_removed: row.get::<_, &str>("state") == "removed",
                chosen_by: match row.get::<_, &str>("chosen_by") {
                    "hand" => ChosenBy::Hand,
                    _ => ChosenBy::File,
                },
                active: digest(row.get("active_version"))?,
                previous: row.get::<_, Option<Vec<u8>>>("previous_version").and_then(digest),
            })
        };
        Ok(rows.iter().filter_map(pointer).collect())
    }

    /// A version whole, or `None` when there is none of this name.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn load_version(
        &self,
        handler: i64,
        digest: [u8; 32],
        invocation_url: &DatabaseUrl,
    ) -> Result<Option<StoredVersion>, Error> {
        let client = self.client().await?;
        let Some(row) = LOAD.query_opt(&**client, &[&handler, &digest.as_slice()]).await? else {
            return Ok(None);
        };
        let cluster_key: Vec<u8> = CLUSTER_KEY.query_one(&**client, &[]).await?.get(0);
        let login = match row.get::<_, Option<&str>>("login_role") {
            Some(login) => invocation_url.with_login(login, &role::password(&cluster_key, login)),
            None => invocation_url.clone(),
        };
        let secret = role::secret(&cluster_key, row.get("name"));
        Ok(Some(StoredVersion {
            access: HandlerAccess { id: handler, secret, login },
            component: row.get("component"),
            manifest: row.get("manifest"),
            settings: row.get::<_, Json<BTreeMap<String, String>>>("settings").0,
            signature: row.get("signature"),
        }))
    }

    /// Says which version this boot runs, and why not the active one.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn says_it_runs(
        &self,
        boot: Uuid,
        handler: i64,
        wanted: [u8; 32],
        digest: Option<[u8; 32]>,
        problem: Option<&str>,
    ) -> Result<(), Error> {
        let client = self.client().await?;
        let digest = digest.map(|digest| digest.to_vec());
        RUNS.execute(&**client, &[&boot, &handler, &digest, &problem, &wanted.as_slice()]).await?;
        Ok(())
    }

    /// How many live hosts have neither taken this version nor said why not.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn hosts_to_follow(&self, handler: i64, active: [u8; 32]) -> Result<i64, Error> {
        let client = self.client().await?;
        let recently = SEEN_RECENTLY.as_secs_f64();
        let row = TO_FOLLOW.query_one(&**client, &[&handler, &active.as_slice(), &recently]).await?;
        Ok(row.get(0))
    }

    /// Says that this boot does not run a handler any more.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn says_it_stopped(&self, boot: Uuid, handler: i64) -> Result<(), Error> {
        let client = self.client().await?;
        STOPPED.execute(&**client, &[&boot, &handler]).await?;
        Ok(())
    }

    /// The version that begins with these hexadecimal digits, or the one before the active one.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn find_version(&self, handler: &str, digits: Option<&str>) -> Result<Found, Error> {
        let client = self.client().await?;
        let digits_text = digits.unwrap_or_default().to_ascii_lowercase();
        let Some(row) = FIND.query_opt(&**client, &[&handler, &digits_text]).await? else {
            return Ok(Found::UnknownHandler);
        };
        let (id, is_removed) = (row.get("id"), row.get::<_, &str>("state") == "removed");
        let active = digest(row.get("active_version"));
        let wanted = match (digits, row.get::<_, Vec<Vec<u8>>>("found").as_slice()) {
            (None, _) if is_removed => active,
            (None, _) => match row.get::<_, Option<Vec<u8>>>("previous_version").and_then(digest) {
                None => return Ok(Found::NoPrevious),
                previous => previous,
            },
            (Some(_), []) => return Ok(Found::NoSuch),
            (Some(_), [one]) => digest(one.clone()),
            (Some(_), [..]) => return Ok(Found::Several),
        };
        Ok(match wanted {
            Some(digest) if Some(digest) == active && !is_removed => Found::Active(digest),
            Some(digest) => Found::Version { handler: id, digest },
            None => Found::NoSuch,
        })
    }

    /// Ends a handler on every host, and records who did it. Its books stay.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn remove_handler(&self, name: &str, unsettled: Unsettled, by: &By) -> Result<Removal, Error> {
        let mut client = self.client().await?;
        let tx = writing(&mut client, "begin to remove a handler").await?;
        LOCK_HANDLER.query_one(&tx, &[&name]).await?;
        let Some(row) = FIND.query_opt(&tx, &[&name, &""]).await? else {
            return Ok(Removal::UnknownHandler);
        };
        if row.get::<_, &str>("state") == "removed" {
            return Ok(Removal::Unchanged);
        }
        let pending: i64 = PENDING.query_one(&tx, &[&name]).await?.get(0);
        if pending > 0 && unsettled == Unsettled::Refuse {
            return Ok(Removal::Pending(pending));
        }
        REMOVE.execute(&tx, &[&name]).await?;
        RECORD_REMOVE.execute(&tx, &[&by.actor(), &handler_target(name), &by.reason(), &pending]).await?;
        tx.commit().await.map_err(|source| Error::Statement { attempt: "commit a remove", source })?;
        Ok(Removal::Removed { pending })
    }
}

fn digest(bytes: Vec<u8>) -> Option<[u8; 32]> {
    bytes.try_into().ok()
}
