//! `[handlers.<name>]`: the operator's part of a handler, merged with its manifest: what the
//! operator says wins over the author's wish, and that over the default. Knows nothing of
//! WebAssembly or of other handlers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wonce_core::alert::AlertRules;
use wonce_core::name::{HandlerName, SinkName};
use wonce_core::retry::RetryPolicy;

use super::alert;
use super::grants::{self, Grants};
use super::manifest::{self, Manifest, SubscriptionConfig};
use super::policy::{Limits, read_limits, read_retry};
use super::reader::Reader;
use super::report::Complaint;
use super::source::named;
use super::units::parse_duration;

pub(crate) const MANIFEST_FILE: &str = "handler.toml";
const MAX_CONCURRENCY: u32 = 1_024;
/// As many as a batch can use: beyond this it only gets slower (see bench/README.md).
const MAX_BATCH: u32 = 256;
const DEFAULT_BATCH: u32 = 32;
/// Where the limit of dead letters was before there were more rules.
const FORMER_ALERT: &str = "alert_dead_letters";
/// A ledger that forgets sooner would take a broker's late redelivery for a new event.
const MIN_RETENTION: Duration = Duration::from_secs(86_400);

/// One handler, as it is to be deployed.
#[derive(Debug, Clone, PartialEq)]
pub struct HandlerConfig {
    pub name: HandlerName,
    /// The component's file, which exists; none for a version that was deployed to the database.
    pub component: Option<PathBuf>,
    /// The manifest byte for byte, to be stored with the component.
    pub manifest_text: String,
    pub version: String,
    pub description: String,
    pub subscriptions: Vec<SubscriptionConfig>,
    pub emits: Vec<SinkName>,
    pub settings: BTreeMap<String, String>,
    pub retry: RetryPolicy,
    pub limits: Limits,
    /// Transactions of this handler at once on one host.
    pub concurrency: u32,
    /// The most deliveries that one of them handles; 1 gives each its own.
    pub batch: u32,
    pub start: Start,
    /// Whom to ask about its dead letters.
    pub owner: Option<String>,
    /// An idempotent SQL script that the database's owner runs on deploy.
    pub setup: Option<PathBuf>,
    pub grants: Grants,
    pub retention: Retention,
    /// What calls for people.
    pub alert: AlertRules,
}

/// Whether a newly deployed handler is invoked at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    Active,
    /// Deliveries are accepted and wait until an operator resumes it.
    Paused,
}

/// How long the ledger remembers a settled key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    Keep,
    /// After this a repeated event is a new one.
    For(Duration),
}

/// A manifest that came without a file of its own.
#[derive(Debug, Clone)]
pub(crate) struct Deployed<'m> {
    pub(crate) text: &'m str,
    pub(crate) manifest: &'m Manifest,
    /// What was set when it was deployed: over the author's, under the operator's.
    pub(crate) settings: &'m BTreeMap<String, String>,
}

/// The handlers that have a component here. A table without one is the operator's part of a handler
/// that is deployed, and is checked as far as that goes.
pub(crate) fn read(
    tables: &mut Reader<'_, '_>,
    invocations: u32,
    alert: &AlertRules,
) -> BTreeMap<HandlerName, HandlerConfig> {
    let handlers = tables.named("handlers", |table, name| {
        let name = named(table, name, HandlerName::parse);
        let handler = handler(table, name, invocations, alert, None)?;
        Some((handler.name.clone(), handler))
    });
    handlers.into_values().flatten().collect()
}

/// The operator's part of one handler, merged with the manifest of a deployed version.
pub(crate) fn merge(
    tables: &mut Reader<'_, '_>,
    invocations: u32,
    alert: &AlertRules,
    deployed: &Deployed<'_>,
) -> Option<HandlerConfig> {
    let name = &deployed.manifest.name;
    tables.section("handlers", |handlers| {
        handlers.ask_all();
        handlers.section(name.as_str(), |table| {
            handler(table, Some(name.clone()), invocations, alert, Some(deployed))
        })
    })
}

fn handler(
    table: &mut Reader<'_, '_>,
    name: Option<HandlerName>,
    invocations: u32,
    alert: &AlertRules,
    deployed: Option<&Deployed<'_>>,
) -> Option<HandlerConfig> {
    let component = component(table);
    let beside = manifest(table, component.as_deref(), deployed);
    let (manifest_text, manifest) = match beside {
        Some((text, manifest)) => (Some(text), Some(manifest)),
        None => (None, None),
    };
    let wishes = manifest.as_ref();
    let wished_retry = wishes.map_or_else(RetryPolicy::default, |m| m.retry.clone());
    let wished_limits = wishes.map_or_else(Limits::default, |m| m.limits.clone());
    let settings = settings(table, wishes);
    let retry = table.section("retry", |table| read_retry(table, &wished_retry));
    let limits = table.section("limits", |table| read_limits(table, &wished_limits));
    let concurrency = table.count("concurrency", 1..=MAX_CONCURRENCY, invocations);
    let batch = table.count("batch", 1..=MAX_BATCH, DEFAULT_BATCH);
    let start = if table.boolean("paused", false) { Start::Paused } else { Start::Active };
    let owner = table.text("owner");
    let setup = existing_file(table, "setup");
    let grants = grants::read(table);
    let retention = table.parsed("retention", retention).unwrap_or(Retention::Keep);
    let alert = table.section("alert", |table| alert::read(table, alert));
    former_alert(table);
    let (name, manifest) = (name?, manifest?);
    check_name(table, &name, &manifest);
    Some(HandlerConfig {
        name,
        component,
        manifest_text: manifest_text?,
        version: manifest.version,
        description: manifest.description,
        subscriptions: manifest.subscriptions,
        emits: manifest.emits,
        settings,
        retry,
        limits,
        concurrency,
        batch,
        start,
        owner,
        setup,
        grants,
        retention,
        alert,
    })
}

/// The former key gets an answer of its own, which names the new one.
fn former_alert(table: &mut Reader<'_, '_>) {
    if table.given(FORMER_ALERT) {
        let table_of_rules = table.path("alert");
        let remedy = format!("write dead_letters = … in [{table_of_rules}]");
        table.refuse(FORMER_ALERT, "the rules for alerts have a table of their own now", remedy);
    }
}

fn component(table: &mut Reader<'_, '_>) -> Option<PathBuf> {
    if !table.given("component") && table.given("manifest") {
        let remedy = "write component = \"path/to/handler.wasm\", or leave both to `wonce plugin deploy`";
        table.complain("component", "it is missing, and there is a manifest", remedy);
    }
    existing_file(table, "component")
}

fn existing_file(table: &mut Reader<'_, '_>, key: &str) -> Option<PathBuf> {
    let path = table.file_path(key)?;
    if path.is_file() {
        return Some(path);
    }
    let reason = format!("there is no file \"{}\"", path.display());
    table.complain(key, reason, "build or copy it there; a relative path starts at this file's directory");
    None
}

/// The manifest that is named, or the one beside the component. Its own mistakes join the report.
fn manifest(
    table: &mut Reader<'_, '_>,
    component: Option<&Path>,
    deployed: Option<&Deployed<'_>>,
) -> Option<(String, Manifest)> {
    let named = table.file_path("manifest");
    if let Some(deployed) = deployed {
        let mut manifest = deployed.manifest.clone();
        let path = table.path("settings");
        let set = deployed.settings.clone();
        manifest.settings =
            manifest.settings_with(set, |name, complaint| table.walk.complain(&path.name(name), complaint));
        return Some((deployed.text.to_owned(), manifest));
    }
    let path = match (named, component) {
        (Some(path), _) => path,
        (None, Some(component)) => component.with_file_name(MANIFEST_FILE),
        (None, None) => return None,
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            let reason = format!("the manifest \"{}\" cannot be read: {error}", path.display());
            let remedy = "put handler.toml beside the component, or name it with manifest = \"…\"";
            table.complain("manifest", reason, remedy);
            return None;
        }
    };
    match manifest::parse_all(&path.display().to_string(), &text) {
        Ok(manifest) => Some((text, manifest)),
        Err(problems) => {
            table.walk.problems.extend(problems);
            None
        }
    }
}

fn settings(table: &mut Reader<'_, '_>, manifest: Option<&Manifest>) -> BTreeMap<String, String> {
    let given = table.map("settings");
    let Some(manifest) = manifest else { return given };
    let path = table.path("settings");
    manifest.settings_with(given, |name, complaint| table.walk.complain(&path.name(name), complaint))
}

fn check_name(table: &mut Reader<'_, '_>, name: &HandlerName, manifest: &Manifest) {
    if manifest.name != *name {
        table.complain_here(
            format!("the manifest calls this handler \"{}\", and here it is \"{name}\"", manifest.name),
            format!("rename the table to [handlers.{}], or change name in the manifest", manifest.name),
        );
    }
}

fn retention(text: &str) -> Result<Retention, Complaint> {
    if text == "keep" {
        return Ok(Retention::Keep);
    }
    let remedy = "write \"keep\", or at least one day, such as \"90d\"";
    match parse_duration(text) {
        Ok(duration) if duration >= MIN_RETENTION => Ok(Retention::For(duration)),
        Ok(_) => Err(Complaint::new(format!("{text} is too short a memory for a dedup ledger"), remedy)),
        Err(complaint) => Err(Complaint::new(complaint.reason, remedy)),
    }
}
