//! Plugins: what a file is, and the versions of a handler.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use crate::handler::Version;
use crate::{Taken, Time};

/// A file of WebAssembly as this host sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inspection {
    /// `component`, `core module`, `compiled code`, `text` or `not WebAssembly`.
    pub kind: String,
    pub bytes: u64,
    /// Of the file, in hex.
    pub sha256: String,
    /// The name of the version that it would be; absent without a manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_digest: Option<String>,
    /// As the manifest says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// As the manifest says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The contract that this host serves.
    pub contract: String,
    pub imports: Vec<Import>,
    pub exports: Vec<String>,
    /// Tools and languages with their versions.
    pub built_with: Vec<String>,
    /// Its `handler.toml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// Every reason why this host does not run it, with its remedy; empty when it does.
    pub refused: Vec<String>,
}

/// An interface that a file needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    pub name: String,
    /// Whether this host has it.
    pub provided: bool,
}

/// `GET /v1/plugins`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginList {
    pub taken: Taken,
    /// By name.
    pub plugins: Vec<PluginSummary>,
}

/// One handler with what its hosts run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginSummary {
    pub name: String,
    /// `active`, `paused` or `removed`.
    pub state: String,
    /// Who chose the active version: `file` (a host's own, at its start) or `hand`.
    pub chosen_by: String,
    pub version: Version,
    /// The one that was active before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Version>,
    pub deployed_at: Time,
    pub deployed_by: String,
    /// The live hosts that have to do with it.
    pub hosts: Vec<HostVersion>,
}

/// What one host runs of a handler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostVersion {
    pub host: String,
    pub boot: String,
    /// What it runs; absent when it runs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Whether that is the active version.
    pub is_active: bool,
    /// Why it does not run the active one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    pub since: Time,
}

/// `GET /v1/plugins/{name}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginDetail {
    pub taken: Taken,
    pub summary: PluginSummary,
    /// Latest first; the last hundred.
    pub versions: Vec<StoredVersion>,
    /// The active version's `handler.toml`.
    pub manifest: String,
}

/// A version that is there to go back to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredVersion {
    pub version: Version,
    /// Of the component.
    pub bytes: i64,
    /// What was set when it was deployed; part of the version.
    pub settings: BTreeMap<String, String>,
    pub is_signed: bool,
    pub is_active: bool,
    pub deployed_at: Time,
    pub deployed_by: String,
}

/// `GET /v1/plugins/{name}/history`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginHistory {
    pub taken: Taken,
    pub handler: String,
    /// Latest first; the last hundred.
    pub history: Vec<Activation>,
}

/// A deploy, a rollback or a remove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activation {
    pub at: Time,
    pub actor: String,
    /// `deploy`, `rollback` or `remove`.
    pub verb: String,
    pub reason: String,
    /// What became active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
}

/// The query of `POST /v1/plugins`, whose body is the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeployQuery {
    /// Who asks; recorded as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A JSON object of text: settings over the manifest's, part of the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// Over component and manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// The body of `POST …/rollback`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RollbackRequest {
    /// The first digits of a version; the one before the active one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a deploy or a rollback came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deployment {
    pub handler: String,
    /// The active version now.
    pub version: Version,
    /// The digest of the version that was active before, if it was another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<String>,
    /// False when it was active already.
    pub changed: bool,
    /// Each live host, as it was when the answer was written.
    pub hosts: Vec<HostVersion>,
}

/// The body of `POST …/remove`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoveRequest {
    /// Remove it although deliveries are pending: they wait for its return.
    #[serde(default)]
    pub keep_pending: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a remove came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginRemoved {
    pub handler: String,
    /// False when it was removed already.
    pub changed: bool,
    /// Deliveries that wait for its return.
    pub pending: i64,
}
