//! Many dead letters at once: shows what would be done, and does it only when the caller says how
//! many there are.

use clap::Args;
use uuid::Uuid;
use wonce_api::dead_letter::{DeadLetterList, Selection};
use wonce_api::operation::{DEFAULT_RATE, IDEMPOTENCY_KEY, OperationDetail, OperationRequest};
use wonce_core::operation::OperationVerb;

use super::client::Client;
use super::connect::Connect;
use super::render::bulk::{Preview, preview};
use super::render::{self, Paint};
use super::{Error, Finding, print};

/// Which dead letters are meant.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Select {
    /// Only of this handler
    #[arg(long)]
    handler: Option<String>,
    /// Only of this group: what `wonce dead list` calls fingerprint
    #[arg(long, alias = "fingerprint", value_name = "FINGERPRINT")]
    group: Option<String>,
    /// Only dead for this reason, e.g. permanent or unroutable
    #[arg(long, value_name = "REASON")]
    dead_reason: Option<String>,
    /// Only those that failed on this version: its first digits
    #[arg(long, value_name = "DIGEST")]
    on_version: Option<String>,
    /// Only with a key that begins so
    #[arg(long, value_name = "TEXT")]
    key_prefix: Option<String>,
    /// All of them
    #[arg(long)]
    all: bool,
}

/// How many at once, and how sure the caller is.
#[derive(Debug, Clone, Args)]
pub(super) struct Pace {
    /// At most so many a second
    #[arg(long, default_value_t = DEFAULT_RATE, value_name = "PER_SECOND")]
    rate: f64,
    /// Do it, if so many match
    #[arg(long, value_name = "COUNT")]
    expect: Option<i64>,
    /// Only dead letters up to this id, which the preview names
    #[arg(long, value_name = "ID")]
    as_of: Option<i64>,
    /// Do it with as many as match
    #[arg(long, conflicts_with = "expect")]
    yes: bool,
}

impl Select {
    /// `None` when nothing was said, and one dead letter is meant.
    pub(super) fn selection(&self) -> Option<Selection> {
        let selection = Selection {
            handler: self.handler.clone(),
            reason: self.dead_reason.clone(),
            fingerprint: self.group.clone(),
            version: self.on_version.clone(),
            key_prefix: self.key_prefix.clone(),
            operation: None,
        };
        (self.all || selection != Selection::default()).then_some(selection)
    }
}

/// Begins an operation, or shows what it would be.
pub(super) async fn run(
    verb: OperationVerb,
    selection: Selection,
    pace: &Pace,
    actor: Option<String>,
    reason: Option<String>,
    connect: &Connect,
) -> Result<Finding, Error> {
    let client = Client::new(connect)?;
    let operation = selection.operation.map(|id| id.to_string());
    let query = query(verb, &selection, operation.as_deref());
    let seen = client.get::<DeadLetterList>(&["v1", "dead-letters"], &query, None).await?;
    let Some(expected) = pace.expect.or_else(|| pace.yes.then_some(seen.value.total)) else {
        let shown = Preview { verb, selection: &selection, rate: pace.rate, seen: &seen.value };
        return print(&if connect.json { seen.json.clone() } else { preview(&shown) });
    };
    let request = OperationRequest {
        verb: verb.as_str().to_owned(),
        filter: selection,
        as_of: pace.as_of.unwrap_or(seen.value.as_of),
        expected,
        rate: Some(pace.rate),
        actor,
        reason,
    };
    let name = Uuid::new_v4().to_string();
    let begun = client
        .post_named::<OperationDetail>(&["v1", "operations"], &request, (IDEMPOTENCY_KEY, &name))
        .await?;
    print(&if connect.json {
        begun.json
    } else {
        render::operation::detail(&begun.value, Paint::of_stdout())
    })
}

fn query<'a>(
    verb: OperationVerb,
    selection: &'a Selection,
    operation: Option<&'a str>,
) -> Vec<(&'a str, &'a str)> {
    let Selection { handler, reason, fingerprint, version, key_prefix, operation: _ } = selection;
    let conditions = [
        ("handler", handler),
        ("reason", reason),
        ("fingerprint", fingerprint),
        ("version", version),
        ("key_prefix", key_prefix),
    ];
    let said = conditions.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
    let operation = operation.map(|id| ("operation", id));
    said.chain(operation).chain([("state", verb.acts_on()), ("limit", "1")]).collect()
}
