//! Why a question got no answer, in one sentence for people.

use wonce_api::Problem;

/// A question that got no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error(
        "\"{text}\" is no address of an admin API: {reason}; write http://HOST:PORT, https://HOST:PORT or unix:PATH"
    )]
    Address { text: String, reason: String },
    #[error(
        "cannot {asked}: no host answers at {address}: {reason}; start one with `wonce run`, or say where it is with --connect"
    )]
    Unreachable { asked: String, address: String, reason: String },
    #[error(
        "cannot {asked}: the host at {address} did not answer in time; it may have been done all the same, look before you ask again"
    )]
    TooSlow { asked: String, address: String },
    #[error("cannot {asked}: {address} does not let this console in: {reason}")]
    NotLetIn { asked: String, address: String, reason: String },
    #[error("cannot {asked}: {}", detail(.problem))]
    Refused { asked: String, problem: Box<Problem> },
    #[error(
        "cannot {asked}: what answers at {address} is not a wonce admin API of this version ({reason}); check --connect, and that host and console have the same version"
    )]
    NotWonce { asked: String, address: String, reason: String },
}

impl Error {
    /// The host's refusal, when it was one.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Error::Refused { problem, .. } => Some(problem),
            Error::Address { .. }
            | Error::Unreachable { .. }
            | Error::TooSlow { .. }
            | Error::NotLetIn { .. }
            | Error::NotWonce { .. } => None,
        }
    }
}

fn detail(problem: &Problem) -> String {
    if problem.detail.is_empty() {
        return format!("the host refused: {} (status {})", problem.title, problem.status);
    }
    problem.detail.clone()
}

/// The last cause of an error: it says most.
pub(super) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
