//! Plugins: what a file is, and the versions of a handler.

use serde::{Deserialize, Serialize};

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
