//! Why a verb did not work, in one sentence for people.

use wonce_api::Problem;

/// A failure of a verb.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "cannot reach a host at {address}: {reason}; start one with `wonce run`, or say where it is with --connect URL (or unix:PATH) or WONCE_URL"
    )]
    NotRunning { address: String, reason: String },
    #[error(
        "the host at {address} did not answer in time: {reason}; it or its database is overloaded or gone, look at its log"
    )]
    TooSlow { address: String, reason: String },
    #[error("{}", refusal(.0))]
    Refused(Box<Problem>),
    #[error(
        "what answers at {address} is not a wonce admin API of this version ({reason}); check --connect, and that host and command line have the same version"
    )]
    NotWonce { address: String, reason: String },
    #[error(
        "\"{address}\" is no address of an admin API: {reason}; write http://HOST:PORT, https://HOST:PORT or unix:PATH"
    )]
    Address { address: String, reason: String },
    #[error("cannot read {path} for the address of the admin API: {reason}; mend it, or pass --connect")]
    ConfigFile { path: String, reason: String },
    #[error("the payload {path} cannot be used: {reason}")]
    Payload { path: String, reason: String },
    #[error(
        "the editor {editor:?} did not end well: {reason}; nothing was changed, what it wrote is in {path}: say another with EDITOR, or pass that file with --payload"
    )]
    Editor { editor: String, reason: String, path: String },
    #[error("{reason}; what you wrote is kept in {path}: pass it with --payload")]
    NotEdited { reason: String, path: String },
    #[error("cannot write to stdout: {reason}")]
    Stdout { reason: String },
    #[error("{0}")]
    Console(String),
    #[error("{0}")]
    File(String),
    #[error("{0}")]
    Store(String),
    #[error("{0}")]
    Configuration(String),
    #[error("{0}")]
    Host(String),
}

/// Our own problems say it all in their detail; others are shown whole.
fn refusal(problem: &Problem) -> String {
    if problem.detail.is_empty() {
        return format!("the host refused: {} (status {})", problem.title, problem.status);
    }
    problem.detail.clone()
}
