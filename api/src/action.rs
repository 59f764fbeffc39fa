//! What people did, when and why; and what they ask for.

use serde::{Deserialize, Serialize};

use crate::Time;

/// One row of the append-only record of actions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Action {
    pub id: i64,
    pub at: Time,
    /// As the caller named itself; not proven.
    pub actor: String,
    /// `deploy`, `pause`, `resume`, `replay`, `discard`, `abort` or `pace`.
    pub verb: String,
    /// `handler/<name>`, `dead-letter/<id>` or `operation/<id>`.
    pub target: String,
    pub reason: String,
}

/// The body of `POST …/pause` and `POST …/resume`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionRequest {
    /// Who asks; recorded as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
