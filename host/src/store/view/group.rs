//! Open dead letters by cause: how many, since when, still growing, and on which versions.

use std::collections::HashMap;

use tokio_postgres::types::Type;
use tokio_postgres::{Row, Transaction};
use wonce_api::dead_letter::{Group, GroupList, GroupVersion, Selection};

use super::{READ_LIMIT, snapshot, time};
use crate::store::selected::{
    AS_OF, FINGERPRINT, HANDLER, KEY_PREFIX, OPERATION, REASON, STATE, VERSION, selected,
};
use crate::store::sql::Sql;
use crate::store::{Error, Store};

const GROUPS: Sql = Sql {
    name: "group dead letters",
    text: concat!(
        "WITH g AS (",
        selected!(
            "SELECT d.fingerprint, count(*) AS entries, min(d.id) AS oldest, max(d.id) AS newest,
                    count(*) FILTER (WHERE d.last_failed_at > now() - interval '1 hour') AS last_hour,
                    min(d.first_failed_at) AS first_failed_at, max(d.last_failed_at) AS last_failed_at
             FROM wonce.dead_letter d",
            "GROUP BY d.fingerprint HAVING $9::bigint IS NULL OR max(d.id) < $9
             ORDER BY max(d.id) DESC LIMIT $10"
        ),
        ")
         SELECT g.*, h.name AS handler, n.kind, n.reason, n.class, n.code, n.message, n.owner
         FROM g JOIN wonce.dead_letter n ON n.id = g.newest
         LEFT JOIN wonce.handler h ON h.id = n.handler_id
         ORDER BY g.newest DESC"
    ),
    params: &[
        HANDLER,
        REASON,
        FINGERPRINT,
        VERSION,
        KEY_PREFIX,
        STATE,
        AS_OF,
        OPERATION,
        Type::INT8,
        Type::INT8,
    ],
};
const VERSIONS: Sql = Sql {
    name: "count the versions of groups",
    text: "
        SELECT d.fingerprint, encode(d.version, 'hex') AS digest, coalesce(v.label, '') AS label, count(*) AS entries
        FROM wonce.dead_letter d
        LEFT JOIN wonce.handler_version v ON v.handler_id = d.handler_id AND v.digest = d.version
        WHERE d.state = 'dead' AND d.fingerprint = ANY ($1) AND d.version IS NOT NULL
        GROUP BY d.fingerprint, d.version, v.label ORDER BY entries DESC, digest",
    params: &[Type::TEXT_ARRAY],
};
const AS_OF_NOW: Sql = Sql {
    name: "find the newest dead letter",
    text: "SELECT coalesce(max(id), 0) AS as_of FROM wonce.dead_letter",
    params: &[],
};

pub(in crate::store) const STATEMENTS: &[&Sql] = &[&GROUPS, &VERSIONS, &AS_OF_NOW];

impl Store {
    /// One page of the groups of open dead letters that match.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn dead_letter_groups(
        &self,
        selection: &Selection,
        before: Option<i64>,
        limit: u32,
    ) -> Result<GroupList, Error> {
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, READ_LIMIT).await?;
        let Selection { handler, reason, fingerprint, version, key_prefix, operation } = selection;
        let (dead, as_of, more) = (Some("dead"), None::<i64>, i64::from(limit) + 1);
        let rows = GROUPS
            .query(
                &tx,
                &[
                    handler,
                    reason,
                    fingerprint,
                    version,
                    key_prefix,
                    &dead,
                    &as_of,
                    operation,
                    &before,
                    &more,
                ],
            )
            .await?;
        let is_last = rows.len() <= limit as usize;
        let page = &rows[..rows.len().min(limit as usize)];
        let mut versions = versions(&tx, page).await?;
        let groups: Vec<Group> = page.iter().map(|row| group(row, &mut versions)).collect();
        let next_before = if is_last { None } else { groups.last().map(|group| group.newest) };
        let as_of = AS_OF_NOW.query_one(&tx, &[]).await?.get("as_of");
        Ok(GroupList { taken, groups, as_of, next_before })
    }
}

type Versions = HashMap<String, Vec<GroupVersion>>;

async fn versions(tx: &Transaction<'_>, groups: &[Row]) -> Result<Versions, Error> {
    let fingerprints: Vec<&str> = groups.iter().map(|row| row.get("fingerprint")).collect();
    let mut versions = Versions::new();
    for row in VERSIONS.query(tx, &[&fingerprints]).await? {
        let version =
            GroupVersion { digest: row.get("digest"), label: row.get("label"), entries: row.get("entries") };
        versions.entry(row.get("fingerprint")).or_default().push(version);
    }
    Ok(versions)
}

fn group(row: &Row, versions: &mut Versions) -> Group {
    let fingerprint: String = row.get("fingerprint");
    Group {
        versions: versions.remove(&fingerprint).unwrap_or_default(),
        fingerprint,
        handler: row.get("handler"),
        kind: row.get("kind"),
        reason: row.get("reason"),
        class: row.get("class"),
        code: row.get("code"),
        message: row.get("message"),
        owner: row.get("owner"),
        entries: row.get("entries"),
        last_hour: row.get("last_hour"),
        first_failed_at: time(row, "first_failed_at"),
        last_failed_at: time(row, "last_failed_at"),
        oldest: row.get("oldest"),
        newest: row.get("newest"),
    }
}
