//! A refusal in the form of RFC 9457, `application/problem+json`. Knows nothing of the
//! conditions that lead to one.

use serde::{Deserialize, Serialize};

use crate::receipt::DeliveryReceipt;

/// The content type of a [`Problem`].
pub const PROBLEM_JSON: &str = "application/problem+json";

/// Why a request was refused and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// A URI that names the kind of problem: `urn:wonce:problem:key-conflict`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind in words, the same for every occurrence.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// This occurrence: the thing, the reason and the next step.
    pub detail: String,
    /// The path of the request.
    pub instance: String,
    /// The event at fault in a batch, from 0. Nothing of that batch was accepted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub index: Option<usize>,
    /// How many dead letters match, when the caller expected another number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub found: Option<i64>,
    /// What became of the event for each handler, when the event was kept all the same.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub deliveries: Vec<DeliveryReceipt>,
}
