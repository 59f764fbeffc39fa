//! Whether this host does its work: the question behind `/readyz`. Knows nothing of how the
//! dispatcher works; the runtime answers.

use async_trait::async_trait;

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// It claimed lately, or nothing was due.
    Ready,
    /// It did not; the text says why and what to look at.
    NotReady { reason: String },
}

/// Asked on every `/readyz`; must answer within a second or so.
#[async_trait]
pub trait Readiness: Send + Sync {
    async fn ready(&self) -> Ready;
}
