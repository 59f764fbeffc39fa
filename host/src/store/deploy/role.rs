//! A handler's login role with just the rights that it needs, and the secrets that are derived for
//! it. Knows nothing of versions.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tokio_postgres::Transaction;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use wonce_core::digest::hex;

use super::{DeploySpec, Rights};
use crate::store::Error;
use crate::store::sql::Sql;

pub(super) const ROLE_EXISTS: Sql = Sql {
    name: "look for a handler's role",
    text: "SELECT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = $1)",
    params: &[Type::TEXT],
};

/// What a handler's role may call, and nothing else in the schema.
const OPEN_FUNCTIONS: &str = "wonce.claim, wonce.emit, wonce.settle_done, wonce.settle_retry, \
                              wonce.settle_dead, wonce.settle_repeat";

/// Makes the handler's login role if it is missing and gives it its rights. The password is
/// derived, so it never changes and is never stored; the server only ever sees its verifier.
pub(super) async fn ensure_role(
    tx: &Transaction<'_>,
    spec: &DeploySpec,
    cluster_key: &[u8],
) -> Result<(String, String), Error> {
    let database_mark = hex(&derive(cluster_key, "role")[..4]);
    let role = format!("wonce_{database_mark}_{}", spec.name);
    let password = password(cluster_key, &role);
    let attempt = |what: &str| format!("{what} for handler \"{}\" (role \"{role}\")", spec.name);
    if !ROLE_EXISTS.query_one(tx, &[&role]).await?.get::<_, bool>(0) {
        let verifier = postgres_protocol::password::scram_sha_256(password.as_bytes());
        let create = format!(
            "CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD '{verifier}'",
            quoted(&role)
        );
        tx.batch_execute(&create).await.map_err(|e| role_refused(attempt("create a login role"), e))?;
    }
    tx.batch_execute(&grants(spec.rights.as_ref(), &role))
        .await
        .map_err(|e| role_refused(attempt("grant rights"), e))?;
    Ok((role, password))
}

/// One script: the rights on tables and sequences are taken back first, so that one that left the
/// configuration leaves the role; then come the functions of a delivery's life, and what the
/// operator granted. In one transaction nobody sees the role without its rights.
fn grants(rights: Option<&Rights>, role: &str) -> String {
    let role = quoted(role);
    let functions = format!(
        "GRANT USAGE ON SCHEMA wonce TO {role}; GRANT EXECUTE ON FUNCTION {OPEN_FUNCTIONS} TO {role};"
    );
    let Some(rights) = rights else { return functions };
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
         END $revoke$; {functions}",
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
    Error::Refused { attempt, reason: format!("{}{hint}", crate::store::error::root_cause(&error)) }
}

/// "tuple concurrently updated" and its kin: another host changed the same shared catalog row.
pub(super) fn is_race(code: Option<&SqlState>) -> bool {
    matches!(
        code,
        Some(&SqlState::INTERNAL_ERROR | &SqlState::UNIQUE_VIOLATION | &SqlState::DUPLICATE_OBJECT)
    )
}

/// The password of a handler's role.
pub(in crate::store) fn password(cluster_key: &[u8], role: &str) -> String {
    hex(&derive(cluster_key, &format!("password {role}")))
}

/// The secret of a handler's bookkeeping calls.
pub(in crate::store) fn secret(cluster_key: &[u8], handler: &str) -> Vec<u8> {
    derive(cluster_key, &format!("secret {handler}"))
}

fn quoted(identifier: &str) -> String {
    format!("\"{}\"", identifier.replace('"', "\"\""))
}

fn derive(key: &[u8], purpose: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(purpose.as_bytes());
    mac.finalize().into_bytes().to_vec()
}
