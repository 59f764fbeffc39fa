//! Why the host itself ended a call from inside an import. Typed, so that it is never taken
//! for a guest's fault: everything untyped that comes out of wasmtime is the guest's.

/// A host import's own reason to end the call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Stop {
    /// The guest went on after `limit-exceeded(statements)`.
    #[error("the guest ran twice as many statements as it may")]
    StatementFlood,
    /// The transaction failed in a way that the guest has no word for.
    #[error("the transaction cannot go on: {0}")]
    Host(String),
    /// A handler's constructor called the host: there is no event and no transaction yet.
    #[error("`{0}` was called while the component was being set up; call it from `handle`")]
    Early(&'static str),
}
