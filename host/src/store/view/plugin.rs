//! Handlers with their versions, and what each host runs.

use tokio_postgres::types::{Json, Type};
use tokio_postgres::{GenericClient, Row};
use wonce_api::plugin::{
    Activation, HostVersion, PluginDetail, PluginHistory, PluginList, PluginSummary, StoredVersion, Version,
};

use super::{READ_LIMIT, snapshot, time};
use crate::store::action::handler_target;
use crate::store::host_boot::SEEN_RECENTLY;
use crate::store::sql::Sql;
use crate::store::{Error, Store};

/// How many versions and how many entries of its history a handler shows.
const VERSIONS_LIMIT: i64 = 100;

const PLUGINS: Sql = Sql {
    name: "list handlers with their versions",
    text: "
        SELECT h.name, h.state, h.chosen_by, h.deployed_at, h.deployed_by,
               encode(h.active_version, 'hex') AS digest, coalesce(v.label, '') AS label,
               encode(h.previous_version, 'hex') AS previous, coalesce(p.label, '') AS previous_label
        FROM wonce.handler h
        LEFT JOIN wonce.handler_version v ON v.handler_id = h.id AND v.digest = h.active_version
        LEFT JOIN wonce.handler_version p ON p.handler_id = h.id AND p.digest = h.previous_version
        WHERE $1::text IS NULL OR h.name = $1 ORDER BY h.name",
    params: &[Type::TEXT],
};
const HOSTS: Sql = Sql {
    name: "list what live hosts run",
    text: "
        SELECT h.name AS handler, o.name, o.boot_id::text AS boot, encode(v.digest, 'hex') AS digest,
               v.digest IS NOT DISTINCT FROM h.active_version AS is_active, v.problem, v.since
        FROM wonce.host_version v
        JOIN wonce.host o ON o.boot_id = v.boot_id
        JOIN wonce.handler h ON h.id = v.handler_id
        WHERE o.stopped_at IS NULL AND o.last_seen > clock_timestamp() - $2 * interval '1 second'
          AND ($1::text IS NULL OR h.name = $1)
        ORDER BY o.name, o.started_at",
    params: &[Type::TEXT, Type::FLOAT8],
};
const VERSIONS: Sql = Sql {
    name: "list a handler's versions",
    text: "
        SELECT encode(v.digest, 'hex') AS digest, v.label, length(v.component)::bigint AS bytes, v.settings,
               v.signature IS NOT NULL AS is_signed, v.deployed_at, v.deployed_by,
               v.digest = h.active_version AS is_active
        FROM wonce.handler_version v JOIN wonce.handler h ON h.id = v.handler_id
        WHERE h.name = $1 ORDER BY v.deployed_at DESC LIMIT $2",
    params: &[Type::TEXT, Type::INT8],
};
const MANIFEST: Sql = Sql {
    name: "read the manifest of a handler's active version",
    text: "
        SELECT v.manifest FROM wonce.handler_version v
        JOIN wonce.handler h ON h.id = v.handler_id AND h.active_version = v.digest WHERE h.name = $1",
    params: &[Type::TEXT],
};
const HISTORY: Sql = Sql {
    name: "list what became of a handler's versions",
    text: "
        SELECT at, actor, verb, reason, detail->>'digest' AS digest, coalesce(detail->>'version', '') AS label
        FROM wonce.action WHERE target = $1 AND verb IN ('deploy', 'rollback', 'remove')
        ORDER BY id DESC LIMIT $2",
    params: &[Type::TEXT, Type::INT8],
};

pub(in crate::store) const STATEMENTS: &[&Sql] = &[&PLUGINS, &HOSTS, &VERSIONS, &MANIFEST, &HISTORY];

impl Store {
    /// All handlers, by name.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn plugins(&self) -> Result<PluginList, Error> {
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, READ_LIMIT).await?;
        Ok(PluginList { taken, plugins: summaries(&tx, None).await? })
    }

    /// One handler with its versions, or `None` when there is none of this name.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn plugin(&self, name: &str) -> Result<Option<PluginDetail>, Error> {
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, READ_LIMIT).await?;
        let Some(summary) = summaries(&tx, Some(name)).await?.pop() else { return Ok(None) };
        let versions = VERSIONS.query(&tx, &[&name, &VERSIONS_LIMIT]).await?;
        let manifest = MANIFEST.query_opt(&tx, &[&name]).await?;
        Ok(Some(PluginDetail {
            taken,
            summary,
            versions: versions.iter().map(stored).collect(),
            manifest: manifest.map(|row| row.get(0)).unwrap_or_default(),
        }))
    }

    /// What was deployed, rolled back and removed of a handler, latest first.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn plugin_history(&self, name: &str) -> Result<Option<PluginHistory>, Error> {
        let mut client = self.client().await?;
        let (tx, taken) = snapshot(&mut client, READ_LIMIT).await?;
        if PLUGINS.query_opt(&tx, &[&Some(name)]).await?.is_none() {
            return Ok(None);
        }
        let rows = HISTORY.query(&tx, &[&handler_target(name), &VERSIONS_LIMIT]).await?;
        Ok(Some(PluginHistory {
            taken,
            handler: name.to_owned(),
            history: rows.iter().map(activation).collect(),
        }))
    }

    /// What each live host runs of a handler.
    ///
    /// # Errors
    /// When the database cannot answer.
    pub async fn host_versions(&self, name: &str) -> Result<Vec<HostVersion>, Error> {
        let client = self.client().await?;
        Ok(hosts(&**client, Some(name)).await?.into_iter().map(|(_, host)| host).collect())
    }
}

async fn summaries(client: &impl GenericClient, name: Option<&str>) -> Result<Vec<PluginSummary>, Error> {
    let mut summaries: Vec<_> = PLUGINS.query(client, &[&name]).await?.iter().map(summary).collect();
    for (handler, host) in hosts(client, name).await? {
        if let Some(summary) = summaries.iter_mut().find(|summary| summary.name == handler) {
            summary.hosts.push(host);
        }
    }
    Ok(summaries)
}

async fn hosts(client: &impl GenericClient, name: Option<&str>) -> Result<Vec<(String, HostVersion)>, Error> {
    let rows = HOSTS.query(client, &[&name, &SEEN_RECENTLY.as_secs_f64()]).await?;
    Ok(rows.iter().map(|row| (row.get("handler"), host(row))).collect())
}

fn summary(row: &Row) -> PluginSummary {
    let previous: Option<String> = row.get("previous");
    PluginSummary {
        name: row.get("name"),
        state: row.get("state"),
        chosen_by: row.get("chosen_by"),
        version: Version { digest: row.get("digest"), label: row.get("label") },
        previous: previous.map(|digest| Version { digest, label: row.get("previous_label") }),
        deployed_at: time(row, "deployed_at"),
        deployed_by: row.get("deployed_by"),
        hosts: Vec::new(),
    }
}

fn host(row: &Row) -> HostVersion {
    HostVersion {
        host: row.get("name"),
        boot: row.get("boot"),
        digest: row.get("digest"),
        is_active: row.get("is_active"),
        problem: row.get("problem"),
        since: time(row, "since"),
    }
}

fn stored(row: &Row) -> StoredVersion {
    StoredVersion {
        version: Version { digest: row.get("digest"), label: row.get("label") },
        bytes: row.get("bytes"),
        settings: row.get::<_, Json<_>>("settings").0,
        is_signed: row.get("is_signed"),
        is_active: row.get("is_active"),
        deployed_at: time(row, "deployed_at"),
        deployed_by: row.get("deployed_by"),
    }
}

fn activation(row: &Row) -> Activation {
    let digest: Option<String> = row.get("digest");
    Activation {
        at: time(row, "at"),
        actor: row.get("actor"),
        verb: row.get("verb"),
        reason: row.get("reason"),
        version: digest.map(|digest| Version { digest, label: row.get("label") }),
    }
}
