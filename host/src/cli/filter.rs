//! Which dead letters a list or an export is about, as options. Knows how the admin API calls
//! them, never what they match.

use clap::Args;

#[derive(Debug, Args)]
pub(super) struct Filter {
    /// Only of this handler
    #[arg(long)]
    handler: Option<String>,
    /// Only for this reason, e.g. permanent or key_conflict
    #[arg(long)]
    reason: Option<String>,
    /// dead, replayed, discarded or any [default: dead]
    #[arg(long)]
    state: Option<String>,
    /// Only of this group
    #[arg(long, alias = "group")]
    fingerprint: Option<String>,
    /// Only those that failed on this version: its first digits
    #[arg(long, value_name = "DIGEST")]
    on_version: Option<String>,
    /// Only with a key that begins so
    #[arg(long, value_name = "TEXT")]
    key_prefix: Option<String>,
    /// Only those that this operation was the last to act on
    #[arg(long, value_name = "ID")]
    operation: Option<String>,
}

impl Filter {
    /// What was said of it, as a query of `GET /v1/dead-letters`.
    pub(super) fn query(&self) -> Vec<(&str, &str)> {
        let filters = [
            ("handler", &self.handler),
            ("reason", &self.reason),
            ("state", &self.state),
            ("fingerprint", &self.fingerprint),
            ("version", &self.on_version),
            ("key_prefix", &self.key_prefix),
            ("operation", &self.operation),
        ];
        filters.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?))).collect()
    }
}
