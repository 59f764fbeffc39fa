//! Closes, in a cluster that belongs to wonce alone, what Postgres leaves open to every role. In
//! somebody else's database this is the operator's decision: there the doors that stand open are
//! listed instead, and the statement guard is the only lock on them.

use super::sql::Sql;
use super::{Error, Store, begin};

/// What a handler's role should not be able to do even if a statement slipped past the guard.
const CLOSE: &str = "
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    REVOKE EXECUTE ON FUNCTION pg_catalog.set_config(text, text, boolean) FROM PUBLIC;
    DO $$
    DECLARE f regprocedure;
    BEGIN
        EXECUTE format('REVOKE CREATE, TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
        FOR f IN
            SELECT p.oid::regprocedure FROM pg_catalog.pg_proc p
            WHERE p.pronamespace = 'pg_catalog'::regnamespace
              AND (p.proname IN ('pg_terminate_backend', 'pg_cancel_backend')
                   OR p.proname LIKE 'pg\\_advisory\\_%' AND p.proname <> 'pg_advisory_unlock_all'
                   OR p.proname LIKE 'pg\\_try\\_advisory\\_%'
                   OR p.proname LIKE 'lo\\_%')
        LOOP
            EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);
        END LOOP;
    END $$";

const OPEN_DOORS: Sql = Sql {
    name: "list what is open to every role",
    text: "SELECT door FROM (VALUES
               ('TEMPORARY on this database', EXISTS (
                   SELECT FROM pg_catalog.pg_database d,
                        aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
                   WHERE d.datname = current_database() AND a.grantee = 0 AND a.privilege_type = 'TEMPORARY')),
               ('CREATE on schema public', EXISTS (
                   SELECT FROM pg_catalog.pg_namespace n,
                        aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a
                   WHERE n.nspname = 'public' AND a.grantee = 0 AND a.privilege_type = 'CREATE')),
               ('EXECUTE on set_config', EXISTS (
                   SELECT FROM pg_catalog.pg_proc p,
                        aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                   WHERE p.proname = 'set_config' AND p.pronamespace = 'pg_catalog'::regnamespace
                     AND a.grantee = 0)),
               ('EXECUTE on session advisory locks', EXISTS (
                   SELECT FROM pg_catalog.pg_proc p,
                        aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                   WHERE p.proname = 'pg_advisory_lock' AND p.pronamespace = 'pg_catalog'::regnamespace
                     AND a.grantee = 0))
           ) AS doors (door, open)
           WHERE open",
    params: &[],
};

pub(super) const STATEMENTS: &[&Sql] = &[&OPEN_DOORS];

impl Store {
    /// Closes them, in a cluster of wonce's own.
    ///
    /// # Errors
    /// When the database is out of reach or the user is no superuser.
    pub async fn harden(&self) -> Result<(), Error> {
        let mut client = self.client().await?;
        let tx = begin(&mut client, "begin hardening").await?;
        let failed = |source| Error::Statement { attempt: "revoke what every role may do", source };
        tx.batch_execute(CLOSE).await.map_err(failed)?;
        tx.commit().await.map_err(failed)
    }

    /// What is open to every role in this database, in words.
    ///
    /// # Errors
    /// When the database is out of reach.
    pub async fn open_doors(&self) -> Result<Vec<String>, Error> {
        let client = self.client().await?;
        let rows = OPEN_DOORS.query(&**client, &[]).await?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }
}
