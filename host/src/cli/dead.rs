//! `wonce dead list|groups|show|export|edit|replay|discard|restore`.

use clap::{Args, Subcommand};
use wonce_api::dead_letter::{DiscardRequest, ReplayRequest, RestoreRequest};
use wonce_core::operation::OperationVerb;

use super::bulk::{self, Pace, Select};
use super::client::Client;
use super::connect::{Actor, Connect};
use super::edit::Edit;
use super::export::Export;
use super::filter::Filter;
use super::render::{self, Paint};
use super::{Error, Finding, print};

#[derive(Debug, Subcommand)]
pub(super) enum Dead {
    /// What waits for people: dead deliveries, key conflicts, parked events
    List(List),
    /// The same by cause: how many, since when, still growing
    Groups(Groups),
    /// One dead letter with its payload and attempts
    Show {
        id: i64,
        #[command(flatten)]
        connect: Connect,
    },
    /// Dead letters whole, with payloads and attempts, as JSON lines on stdout
    Export(Export),
    /// Give one another payload before its replay; what was received is kept
    Edit(Edit),
    /// Put one or many back to work: same key, a new round
    Replay(Replay),
    /// Give one or many up, with a reason on record
    Discard(Discard),
    /// Take the discard of one or many back, within 7 days
    Restore(Restore),
}

#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    filter: Filter,
    /// Only with a smaller id: the next page
    #[arg(long)]
    before: Option<String>,
    /// At most so many, up to 1000 [default: 50]
    #[arg(long)]
    limit: Option<String>,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Groups {
    /// Only of this handler
    #[arg(long)]
    handler: Option<String>,
    /// Only for this reason, e.g. permanent or key_conflict
    #[arg(long)]
    reason: Option<String>,
    /// Only groups whose newest dead letter has a smaller id: the next page
    #[arg(long)]
    before: Option<String>,
    /// At most so many, up to 1000 [default: 50]
    #[arg(long)]
    limit: Option<String>,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Replay {
    /// One; leave it out and say which with a filter
    #[arg(conflicts_with_all = ["Select", "Pace"], required_unless_present = "Select")]
    id: Option<i64>,
    /// Why, for the record
    #[arg(long)]
    reason: Option<String>,
    /// The new key of a key conflict
    #[arg(long, requires = "id")]
    key: Option<String>,
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    pace: Pace,
    #[command(flatten)]
    actor: Actor,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Discard {
    /// One; leave it out and say which with a filter
    #[arg(conflicts_with_all = ["Select", "Pace"], required_unless_present = "Select")]
    id: Option<i64>,
    /// Why nobody has to handle it
    #[arg(long, required_unless_present = "Select")]
    reason: Option<String>,
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    pace: Pace,
    #[command(flatten)]
    actor: Actor,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Restore {
    /// One; leave it out and say which with a filter
    #[arg(conflicts_with_all = ["Select", "Pace"], required_unless_present = "Select")]
    id: Option<i64>,
    /// Why, for the record
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    select: Select,
    #[command(flatten)]
    pace: Pace,
    #[command(flatten)]
    actor: Actor,
    #[command(flatten)]
    connect: Connect,
}

impl Dead {
    pub(super) async fn run(self) -> Result<Finding, Error> {
        match self {
            Dead::List(list) => list.run().await,
            Dead::Groups(groups) => groups.run().await,
            Dead::Show { id, connect } => {
                let path = ["v1", "dead-letters", &id.to_string()];
                let answer = Client::new(&connect)?.get(&path, &[], None).await?;
                let human = || render::dead::detail(&answer.value, Paint::of_stdout());
                print(&if connect.json { answer.json.clone() } else { human() })
            }
            Dead::Export(export) => export.run().await,
            Dead::Edit(edit) => edit.run().await,
            Dead::Replay(replay) => replay.run().await,
            Dead::Discard(discard) => discard.run().await,
            Dead::Restore(restore) => restore.run().await,
        }
    }
}

impl List {
    async fn run(self) -> Result<Finding, Error> {
        let paging = [("before", &self.before), ("limit", &self.limit)];
        let mut query = self.filter.query();
        query.extend(paging.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?))));
        let answer = Client::new(&self.connect)?.get(&["v1", "dead-letters"], &query, None).await?;
        print(&if self.connect.json {
            answer.json
        } else {
            render::dead::list(&answer.value, Paint::of_stdout())
        })
    }
}

impl Groups {
    async fn run(self) -> Result<Finding, Error> {
        let filters = [
            ("handler", &self.handler),
            ("reason", &self.reason),
            ("before", &self.before),
            ("limit", &self.limit),
        ];
        let query: Vec<(&str, &str)> =
            filters.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
        let answer = Client::new(&self.connect)?.get(&["v1", "dead-letter-groups"], &query, None).await?;
        print(&if self.connect.json {
            answer.json
        } else {
            render::group::list(&answer.value, Paint::of_stdout())
        })
    }
}

impl Replay {
    async fn run(self) -> Result<Finding, Error> {
        let Some(id) = self.id else {
            let selection = self.select.selection().unwrap_or_default();
            let (actor, verb) = (self.actor.name(), OperationVerb::Replay);
            return bulk::run(verb, selection, &self.pace, actor, self.reason, &self.connect).await;
        };
        let asked = ReplayRequest { actor: self.actor.name(), reason: self.reason, key: self.key };
        let path = ["v1", "dead-letters", &id.to_string(), "replay"];
        let answer = Client::new(&self.connect)?.post(&path, &asked).await?;
        print(&if self.connect.json { answer.json } else { render::dead::replayed(&answer.value) })
    }
}

impl Discard {
    async fn run(self) -> Result<Finding, Error> {
        let Some(id) = self.id else {
            let selection = self.select.selection().unwrap_or_default();
            let (actor, verb) = (self.actor.name(), OperationVerb::Discard);
            return bulk::run(verb, selection, &self.pace, actor, self.reason, &self.connect).await;
        };
        let asked = DiscardRequest { actor: self.actor.name(), reason: self.reason.unwrap_or_default() };
        let path = ["v1", "dead-letters", &id.to_string(), "discard"];
        let answer = Client::new(&self.connect)?.post(&path, &asked).await?;
        print(&if self.connect.json { answer.json } else { render::dead::discarded(&answer.value) })
    }
}

impl Restore {
    async fn run(self) -> Result<Finding, Error> {
        let Some(id) = self.id else {
            let selection = self.select.selection().unwrap_or_default();
            let (actor, verb) = (self.actor.name(), OperationVerb::Restore);
            return bulk::run(verb, selection, &self.pace, actor, self.reason, &self.connect).await;
        };
        let asked = RestoreRequest { actor: self.actor.name(), reason: self.reason };
        let path = ["v1", "dead-letters", &id.to_string(), "restore"];
        let answer = Client::new(&self.connect)?.post(&path, &asked).await?;
        print(&if self.connect.json { answer.json } else { render::dead::restored(&answer.value) })
    }
}
