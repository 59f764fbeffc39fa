//! Makes a handler known: its version, its login role with just the rights that it needs, and the
//! secret of its bookkeeping calls. Everything is derived from the cluster key in the database, so
//! a new host needs nothing but the database URL.
//!
//! Knows nothing of how a component runs.

use std::collections::BTreeMap;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio_postgres::Transaction;
use tokio_postgres::types::{Json, Type};
use uuid::Uuid;
use wonce_core::digest::hex;
use wonce_core::name::HandlerName;

use super::action::{By, handler_target};
use super::connect::DatabaseUrl;
use super::host_boot::SEEN_RECENTLY;
use super::lease::HandlerAccess;
use super::sql::Sql;
use super::{Error, Store, begin};

pub(in crate::store) mod role;

use role::{ensure_role, is_race, secret};

/// Two hosts that deploy at once may collide in the shared catalogs; a few tries settle it.
const DEPLOY_TRIES: u32 = 5;
const DEPLOY_PAUSE: Duration = Duration::from_millis(200);

/// A handler as this host's files describe it.
#[derive(Debug, Clone)]
pub struct DeploySpec {
    pub name: HandlerName,
    pub ordering: Ordering,
    pub component: Vec<u8>,
    pub manifest: String,
    /// What was set with the deploy; part of the version.
    pub settings: BTreeMap<String, String>,
    /// Over component and manifest, as it came.
    pub signature: Option<String>,
    /// The author's version, for people.
    pub label: String,
    pub owner: Option<String>,
    /// The effective policy, for people.
    pub policy: serde_json::Value,
    pub isolation: Isolation,
    /// What the handler's role may touch; `None` leaves what it has.
    pub rights: Option<Rights>,
    /// An idempotent script that the schema's owner runs first.
    pub setup: Option<String>,
    /// The state in which a handler starts that the database does not know yet.
    pub first_state: FirstState,
    pub on_other_version: OnOtherVersion,
    pub chosen_by: ChosenBy,
    pub verb: DeployVerb,
    pub by: By,
    pub boot: Uuid,
}

/// Who chose the active version. What a hand chose stays until a hand changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenBy {
    /// A host's own file, at its start.
    File,
    /// A person, by deploy, rollback or remove.
    Hand,
}

impl ChosenBy {
    /// The word in the table.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ChosenBy::File => "file",
            ChosenBy::Hand => "hand",
        }
    }
}

/// How a version becomes the active one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeployVerb {
    Deploy,
    Rollback,
}

impl DeployVerb {
    fn as_str(self) -> &'static str {
        match self {
            DeployVerb::Deploy => "deploy",
            DeployVerb::Rollback => "rollback",
        }
    }
}

/// What a handler's role is granted. Names and privileges come checked from the configuration.
#[derive(Debug, Clone, Default)]
pub struct Rights {
    pub schemas: Vec<String>,
    pub tables: Vec<TableRight>,
    /// `(schema, name)`.
    pub sequences: Vec<(String, String)>,
}

/// Privileges on one table.
#[derive(Debug, Clone)]
pub struct TableRight {
    pub schema: String,
    pub name: String,
    /// SQL keywords.
    pub privileges: Vec<&'static str>,
}

/// Whether any of a handler's deliveries are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordering {
    Unordered,
    Ordered,
}

/// Whether a new handler may claim at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstState {
    Active,
    /// Deliveries are accepted and wait for `wonce handler resume`.
    Paused,
}

impl FirstState {
    fn as_str(self) -> &'static str {
        match self {
            FirstState::Active => "active",
            FirstState::Paused => "paused",
        }
    }
}

/// How a handler is kept away from everything that is not its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// It logs in as a role of its own.
    Role,
    /// It runs as the host's own user: unsafe, for databases where roles cannot be made.
    Shared,
}

/// What to do when a live host runs another version of the handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnOtherVersion {
    Refuse,
    Replace,
}

/// A handler that may claim.
#[derive(Debug, Clone)]
pub struct Deployed {
    pub access: HandlerAccess,
    pub digest: [u8; 32],
    pub login_role: Option<String>,
    /// The version that was active before, if it was another one.
    pub replaced: Option<Vec<u8>>,
}

pub(super) const CLUSTER_KEY: Sql =
    Sql { name: "read the cluster key", text: "SELECT cluster_key FROM wonce.cluster", params: &[] };
pub(super) const LOCK_HANDLER: Sql = Sql {
    name: "lock a handler for its deploy",
    text: "SELECT pg_advisory_xact_lock(hashtextextended('deploy ' || $1, 0))::text",
    params: &[Type::TEXT],
};
const CURRENT: Sql = Sql {
    name: "read a handler's active version",
    text: "SELECT h.active_version, h.chosen_by, h.state,
                  (SELECT o.name FROM wonce.host o
                   WHERE o.boot_id <> $2 AND o.stopped_at IS NULL
                     AND o.last_seen > clock_timestamp() - $3 * interval '1 second'
                   LIMIT 1) AS other_host
           FROM wonce.handler h WHERE h.name = $1",
    params: &[Type::TEXT, Type::UUID, Type::FLOAT8],
};
const UPSERT_HANDLER: Sql = Sql {
    name: "deploy a handler",
    text: "INSERT INTO wonce.handler AS h
               (name, ordering, active_version, owner, policy, login_role, secret_hash, deployed_by, state,
                chosen_by)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
           ON CONFLICT (name) DO UPDATE SET
               ordering = excluded.ordering,
               previous_version = CASE WHEN h.active_version = excluded.active_version
                                       THEN h.previous_version ELSE h.active_version END,
               active_version = excluded.active_version,
               state = CASE WHEN h.state = 'removed' THEN excluded.state ELSE h.state END,
               chosen_by = CASE WHEN h.active_version = excluded.active_version AND h.chosen_by = 'hand'
                                THEN 'hand' ELSE excluded.chosen_by END,
               owner = excluded.owner, policy = excluded.policy, login_role = excluded.login_role,
               secret_hash = excluded.secret_hash, deployed_by = excluded.deployed_by,
               deployed_at = CASE WHEN h.active_version = excluded.active_version
                                  THEN h.deployed_at ELSE clock_timestamp() END
           RETURNING id",
    params: &[
        Type::TEXT,
        Type::TEXT,
        Type::BYTEA,
        Type::TEXT,
        Type::JSONB,
        Type::TEXT,
        Type::BYTEA,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
    ],
};
const HAS_VERSION: Sql = Sql {
    name: "look for a handler's version",
    text: "SELECT EXISTS (SELECT FROM wonce.handler_version WHERE handler_id = $1 AND digest = $2)",
    params: &[Type::INT8, Type::BYTEA],
};
const INSERT_VERSION: Sql = Sql {
    name: "store a handler's version",
    text: "INSERT INTO wonce.handler_version (handler_id, digest, label, component, manifest, deployed_by, settings,
                                             signature)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
    params: &[
        Type::INT8,
        Type::BYTEA,
        Type::TEXT,
        Type::BYTEA,
        Type::TEXT,
        Type::TEXT,
        Type::JSONB,
        Type::TEXT,
    ],
};
const RECORD: Sql = Sql {
    name: "record a deploy",
    text: "INSERT INTO wonce.action (actor, verb, target, reason, detail)
           VALUES ($1, $2, $3, $4, jsonb_build_object('version', $5::text, 'digest', $6::text))",
    params: &[Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT],
};

pub(super) const STATEMENTS: &[&Sql] = &[
    &CLUSTER_KEY,
    &LOCK_HANDLER,
    &CURRENT,
    &UPSERT_HANDLER,
    &HAS_VERSION,
    &INSERT_VERSION,
    &RECORD,
    &role::ROLE_EXISTS,
];

impl DeploySpec {
    /// The version's one name.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        wonce_core::digest::version(&self.component, &self.manifest, &self.settings)
    }
}

impl Store {
    /// Deploys the handler. `invocation_url` is where its invocations will connect.
    ///
    /// # Errors
    /// When a live host runs another version and `on_other_version` says refuse, when the role
    /// cannot be made, or when the database is out of reach.
    pub async fn deploy(&self, spec: &DeploySpec, invocation_url: &DatabaseUrl) -> Result<Deployed, Error> {
        let mut tries = 1;
        loop {
            match self.deploy_once(spec, invocation_url).await {
                Err(error) if tries < DEPLOY_TRIES && is_race(error.sqlstate()) => {
                    tries += 1;
                    tokio::time::sleep(DEPLOY_PAUSE).await;
                }
                other => return other,
            }
        }
    }

    async fn deploy_once(&self, spec: &DeploySpec, invocation_url: &DatabaseUrl) -> Result<Deployed, Error> {
        let digest = spec.digest();
        let mut client = self.client().await?;
        let tx = begin(&mut client, "begin a deploy").await?;
        let name = spec.name.as_str();
        LOCK_HANDLER.query_one(&tx, &[&name]).await?;
        let current = current(&tx, spec).await?;
        if let Some(current) = &current {
            current.refuse_flip_flop(spec, digest)?;
        }
        if let Some(script) = &spec.setup {
            run_setup(&tx, spec, script).await?;
        }
        let cluster_key: Vec<u8> = CLUSTER_KEY.query_one(&tx, &[]).await?.get(0);
        let secret = secret(&cluster_key, name);
        let login = match spec.isolation {
            Isolation::Role => Some(ensure_role(&tx, spec, &cluster_key).await?),
            Isolation::Shared => None,
        };
        let ordering = match spec.ordering {
            Ordering::Unordered => "unordered",
            Ordering::Ordered => "ordered",
        };
        let login_role = login.as_ref().map(|(role, _)| role.clone());
        let secret_hash = Sha256::digest(&secret).to_vec();
        let row = UPSERT_HANDLER
            .query_one(
                &tx,
                &[
                    &name,
                    &ordering,
                    &digest.as_slice(),
                    &spec.owner,
                    &Json(&spec.policy),
                    &login_role,
                    &secret_hash,
                    &spec.by.actor(),
                    &spec.first_state.as_str(),
                    &spec.chosen_by.as_str(),
                ],
            )
            .await?;
        let id: i64 = row.get(0);
        store_version(&tx, id, spec, digest).await?;
        if current.as_ref().is_none_or(|current| current.is_removed || current.active != digest) {
            record(&tx, spec, digest).await?;
        }
        tx.commit().await.map_err(|source| Error::Statement { attempt: "commit a deploy", source })?;
        let login = match login {
            Some((role, password)) => invocation_url.with_login(&role, &password),
            None => invocation_url.clone(),
        };
        let replaced = current.map(|current| current.active).filter(|active| *active != digest);
        Ok(Deployed { access: HandlerAccess { id, secret, login }, digest, login_role, replaced })
    }
}

/// What the database has of a handler that is deployed again.
struct Current {
    active: Vec<u8>,
    by_hand: bool,
    is_removed: bool,
    /// A live host other than this one.
    other_host: Option<String>,
}

async fn current(tx: &Transaction<'_>, spec: &DeploySpec) -> Result<Option<Current>, Error> {
    let recently = SEEN_RECENTLY.as_secs_f64();
    let row = CURRENT.query_opt(tx, &[&spec.name.as_str(), &spec.boot, &recently]).await?;
    Ok(row.map(|row| Current {
        active: row.get("active_version"),
        by_hand: row.get::<_, &str>("chosen_by") == ChosenBy::Hand.as_str(),
        is_removed: row.get::<_, &str>("state") == "removed",
        other_host: row.get("other_host"),
    }))
}

impl Current {
    /// Two live hosts whose files disagree must not swap the version back and forth, and no file takes
    /// back what a hand chose.
    fn refuse_flip_flop(&self, spec: &DeploySpec, digest: [u8; 32]) -> Result<(), Error> {
        let differs = self.active != digest || self.is_removed;
        if spec.on_other_version == OnOtherVersion::Replace || !differs {
            return Ok(());
        }
        let active = hex(&self.active[..6]);
        let reason = match &self.other_host {
            _ if self.by_hand => format!(
                "version {active} was chosen by hand while this host started; start it again, or with --replace to put its file's in place on purpose"
            ),
            Some(host) => format!(
                "host \"{host}\" is running version {active}; start with --replace to swap it on purpose, or give both hosts the same files"
            ),
            None => return Ok(()),
        };
        let attempt = format!("deploy handler \"{}\" version {}", spec.name, hex(&digest[..6]));
        Err(Error::Refused { attempt, reason })
    }
}

/// Large components cross the wire once.
async fn store_version(
    tx: &Transaction<'_>,
    id: i64,
    spec: &DeploySpec,
    digest: [u8; 32],
) -> Result<(), Error> {
    let digest = digest.as_slice();
    if HAS_VERSION.query_one(tx, &[&id, &digest]).await?.get(0) {
        return Ok(());
    }
    let (actor, settings) = (spec.by.actor(), Json(&spec.settings));
    INSERT_VERSION
        .execute(
            tx,
            &[&id, &digest, &spec.label, &spec.component, &spec.manifest, &actor, &settings, &spec.signature],
        )
        .await?;
    Ok(())
}

async fn record(tx: &Transaction<'_>, spec: &DeploySpec, digest: [u8; 32]) -> Result<(), Error> {
    let (target, digest) = (handler_target(spec.name.as_str()), hex(&digest));
    let (actor, verb, reason) = (spec.by.actor(), spec.verb.as_str(), spec.by.reason());
    RECORD.execute(tx, &[&actor, &verb, &target, &reason, &spec.label, &digest]).await?;
    Ok(())
}

async fn run_setup(tx: &Transaction<'_>, spec: &DeploySpec, script: &str) -> Result<(), Error> {
    // An idempotent script says "already exists, skipping" for everything it finds.
    let script = format!("SET LOCAL client_min_messages = warning; {script}");
    tx.batch_execute(&script).await.map_err(|e| Error::Refused {
        attempt: format!("run the setup script of handler \"{}\"", spec.name),
        reason: super::error::root_cause(&e),
    })
}
