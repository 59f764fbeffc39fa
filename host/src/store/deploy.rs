//! Makes a handler known: its version, its login role with just the rights that it needs, and the
//! secret of its bookkeeping calls. Everything is derived from the cluster key in the database, so
//! a new host needs nothing but the database URL.
//!
//! Knows nothing of how a component runs.

use std::collections::BTreeMap;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use tokio_postgres::Transaction;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{Json, Type};
use uuid::Uuid;
use wonce_core::digest::hex;
use wonce_core::name::HandlerName;

use super::connect::DatabaseUrl;
use super::host_boot::SEEN_RECENTLY;
use super::lease::HandlerAccess;
use super::sql::Sql;
use super::{Error, Store, begin};

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
    /// The author's version, for people.
    pub label: String,
    pub owner: Option<String>,
    /// The effective policy, for people.
    pub policy: serde_json::Value,
    pub isolation: Isolation,
    /// What the handler's role may touch.
    pub rights: Rights,
    /// An idempotent script that the schema's owner runs first.
    pub setup: Option<String>,
    /// The state in which a handler starts that the database does not know yet.
    pub first_state: FirstState,
    pub on_other_version: OnOtherVersion,
    pub actor: String,
    pub boot: Uuid,
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
}

const CLUSTER_KEY: Sql =
    Sql { name: "read the cluster key", text: "SELECT cluster_key FROM wonce.cluster", params: &[] };
const LOCK_HANDLER: Sql = Sql {
    name: "lock a handler for its deploy",
    text: "SELECT pg_advisory_xact_lock(hashtextextended('deploy ' || $1, 0))::text",
    params: &[Type::TEXT],
};
const CURRENT: Sql = Sql {
    name: "read a handler's active version",
    text: "SELECT h.active_version,
                  (SELECT o.name FROM wonce.host o
                   WHERE o.boot_id <> $2 AND o.stopped_at IS NULL
                     AND o.last_seen > clock_timestamp() - $3 * interval '1 second'
                   LIMIT 1)
           FROM wonce.handler h WHERE h.name = $1",
    params: &[Type::TEXT, Type::UUID, Type::FLOAT8],
};
const UPSERT_HANDLER: Sql = Sql {
    name: "deploy a handler",
    text: "INSERT INTO wonce.handler AS h
               (name, ordering, active_version, owner, policy, login_role, secret_hash, deployed_by, state)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
           ON CONFLICT (name) DO UPDATE SET
               ordering = excluded.ordering,
               previous_version = CASE WHEN h.active_version = excluded.active_version
                                       THEN h.previous_version ELSE h.active_version END,
               active_version = excluded.active_version,
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
    ],
};
const INSERT_VERSION: Sql = Sql {
    name: "store a handler's version",
    text: "INSERT INTO wonce.handler_version (handler_id, digest, label, component, manifest, deployed_by)
           VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
    params: &[Type::INT8, Type::BYTEA, Type::TEXT, Type::BYTEA, Type::TEXT, Type::TEXT],
};
const RECORD_DEPLOY: Sql = Sql {
    name: "record a deploy",
    text: "INSERT INTO wonce.action (actor, verb, target, detail)
           VALUES ($1, 'deploy', $2, jsonb_build_object('version', $3::text, 'digest', $4::text))",
    params: &[Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT],
};
const ROLE_EXISTS: Sql = Sql {
    name: "look for a handler's role",
    text: "SELECT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = $1)",
    params: &[Type::TEXT],
};

pub(super) const STATEMENTS: &[&Sql] =
    &[&CLUSTER_KEY, &LOCK_HANDLER, &CURRENT, &UPSERT_HANDLER, &INSERT_VERSION, &RECORD_DEPLOY, &ROLE_EXISTS];

/// What a handler's role may call, and nothing else in the schema.
const OPEN_FUNCTIONS: &str = "wonce.claim, wonce.emit, wonce.settle_done, wonce.settle_retry, \
                              wonce.settle_dead, wonce.settle_repeat";

impl DeploySpec {
    /// The version's one name.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        wonce_core::digest::version(&self.component, &self.manifest, &BTreeMap::new())
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
        refuse_flip_flop(&tx, spec, digest).await?;
        if let Some(script) = &spec.setup {
            run_setup(&tx, spec, script).await?;
        }
        let cluster_key: Vec<u8> = CLUSTER_KEY.query_one(&tx, &[]).await?.get(0);
        let secret = derive(&cluster_key, &format!("secret {name}"));
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
                    &spec.actor,
                    &spec.first_state.as_str(),
                ],
            )
            .await?;
        let id: i64 = row.get(0);
        let stored = INSERT_VERSION
            .execute(
                &tx,
                &[&id, &digest.as_slice(), &spec.label, &spec.component, &spec.manifest, &spec.actor],
            )
            .await?;
        if stored > 0 {
            RECORD_DEPLOY.execute(&tx, &[&spec.actor, &name, &spec.label, &hex(&digest)]).await?;
        }
        tx.commit().await.map_err(|source| Error::Statement { attempt: "commit a deploy", source })?;
        let login = match login {
            Some((role, password)) => invocation_url.with_login(&role, &password),
            None => invocation_url.clone(),
        };
        Ok(Deployed { access: HandlerAccess { id, secret, login }, digest, login_role })
    }
}

/// Two live hosts whose files disagree must not swap the version back and forth.
async fn refuse_flip_flop(tx: &Transaction<'_>, spec: &DeploySpec, digest: [u8; 32]) -> Result<(), Error> {
    let recently = SEEN_RECENTLY.as_secs_f64();
    let current = CURRENT.query_opt(tx, &[&spec.name.as_str(), &spec.boot, &recently]).await?;
    let Some(row) = current else { return Ok(()) };
    let (active, other_host): (Vec<u8>, Option<String>) = (row.get(0), row.get(1));
    match (spec.on_other_version, other_host) {
        (OnOtherVersion::Refuse, Some(host)) if active != digest => Err(Error::Refused {
            attempt: format!("deploy handler \"{}\" version {}", spec.name, hex(&digest[..6])),
            reason: format!(
                "host \"{host}\" is running version {}; start with --replace to swap it on purpose, or give both hosts the same files",
                hex(&active[..6])
            ),
        }),
        (OnOtherVersion::Refuse | OnOtherVersion::Replace, _) => Ok(()),
    }
}

async fn run_setup(tx: &Transaction<'_>, spec: &DeploySpec, script: &str) -> Result<(), Error> {
    // An idempotent script says "already exists, skipping" for everything it finds.
    let script = format!("SET LOCAL client_min_messages = warning; {script}");
    tx.batch_execute(&script).await.map_err(|e| Error::Refused {
        attempt: format!("run the setup script of handler \"{}\"", spec.name),
        reason: super::error::root_cause(&e),
    })
}

/// Makes the handler's login role if it is missing and gives it its rights. The password is
/// derived, so it never changes and is never stored; the server only ever sees its verifier.
async fn ensure_role(
    tx: &Transaction<'_>,
    spec: &DeploySpec,
    cluster_key: &[u8],
) -> Result<(String, String), Error> {
    let database_mark = hex(&derive(cluster_key, "role")[..4]);
    let role = format!("wonce_{database_mark}_{}", spec.name);
    let password = hex(&derive(cluster_key, &format!("password {role}")));
    let attempt = |what: &str| format!("{what} for handler \"{}\" (role \"{role}\")", spec.name);
    if !ROLE_EXISTS.query_one(tx, &[&role]).await?.get::<_, bool>(0) {
        let verifier = postgres_protocol::password::scram_sha_256(password.as_bytes());
        let create = format!(
            "CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD '{verifier}'",
            quoted(&role)
        );
        tx.batch_execute(&create).await.map_err(|e| role_refused(attempt("create a login role"), e))?;
    }
    tx.batch_execute(&grants(&spec.rights, &role))
        .await
        .map_err(|e| role_refused(attempt("grant rights"), e))?;
    Ok((role, password))
}

/// One script: the rights on tables and sequences are taken back first, so that one that left the
/// configuration leaves the role; then come the functions of a delivery's life, and what the
/// operator granted. In one transaction nobody sees the role without its rights.
fn grants(rights: &Rights, role: &str) -> String {
    let role = quoted(role);
    let mut script = format!(
        "DO $revoke$
         DECLARE granted record;
         BEGIN
             FOR granted IN
                 SELECT DISTINCT c.oid::regclass AS name,
                        CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind
                 FROM pg_catalog.pg_class c, aclexplode(c.relacl) a
                 WHERE a.grantee = {literal}::regrole
             LOOP
                 EXECUTE format('REVOKE ALL ON %s %s FROM {role}', granted.kind, granted.name);
             END LOOP;
         END $revoke$;
         GRANT USAGE ON SCHEMA wonce TO {role}; GRANT EXECUTE ON FUNCTION {OPEN_FUNCTIONS} TO {role};",
        // Handler names hold no quote, so the quoted role is safe inside a literal.
        literal = format_args!("'{role}'"),
    );
    for schema in &rights.schemas {
        script.push_str(&format!(" GRANT USAGE ON SCHEMA {} TO {role};", quoted(schema)));
    }
    for table in &rights.tables {
        let (schema, name) = (quoted(&table.schema), quoted(&table.name));
        let privileges = table.privileges.join(", ");
        script.push_str(&format!(" GRANT {privileges} ON TABLE {schema}.{name} TO {role};"));
    }
    for (schema, name) in &rights.sequences {
        let (schema, name) = (quoted(schema), quoted(name));
        script.push_str(&format!(" GRANT USAGE ON SEQUENCE {schema}.{name} TO {role};"));
    }
    script
}

fn role_refused(attempt: String, error: tokio_postgres::Error) -> Error {
    if is_race(error.code()) {
        return Error::Statement { attempt: "set up a handler's role", source: error };
    }
    let hint = match error.code() {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            "; let wonce's database user make roles (ALTER ROLE … CREATEROLE) and grant on these tables, or write database.isolation = \"shared\" to run handlers unprotected"
        }
        _ => "",
    };
    Error::Refused { attempt, reason: format!("{}{hint}", super::error::root_cause(&error)) }
}

/// "tuple concurrently updated" and its kin: another host changed the same shared catalog row.
fn is_race(code: Option<&SqlState>) -> bool {
    matches!(
        code,
        Some(&SqlState::INTERNAL_ERROR | &SqlState::UNIQUE_VIOLATION | &SqlState::DUPLICATE_OBJECT)
    )
}

fn quoted(identifier: &str) -> String {
    format!("\"{}\"", identifier.replace('"', "\"\""))
}

fn derive(key: &[u8], purpose: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(purpose.as_bytes());
    mac.finalize().into_bytes().to_vec()
}
