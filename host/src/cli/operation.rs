//! `wonce operation list|show|items|pause|resume|abort|pace|restore`.

use clap::{Args, Subcommand};
use wonce_api::dead_letter::Selection;
use wonce_api::operation::{ItemList, OperationChange, OperationDetail, OperationList};
use wonce_core::operation::{OperationState, OperationVerb};

use super::bulk::{self, Pace as BulkPace};
use super::client::Client;
use super::connect::{Actor, Connect};
use super::render::{self, Paint};
use super::{Error, Finding, print};

#[derive(Debug, Subcommand)]
pub(super) enum Operation {
    /// What is done to many dead letters at once, the latest first
    List {
        /// Only with a smaller id: the next page
        #[arg(long)]
        before: Option<String>,
        /// At most so many, up to 1000 [default: 50]
        #[arg(long)]
        limit: Option<String>,
        #[command(flatten)]
        connect: Connect,
    },
    /// One operation with its progress
    Show {
        id: i64,
        #[command(flatten)]
        connect: Connect,
    },
    /// What became of each dead letter of an operation
    Items(Items),
    /// Let what is left wait
    Pause(Change),
    /// Go on
    Resume(Change),
    /// End it; what is left stays as it is
    Abort(Change),
    /// Give it another pace
    Pace {
        /// At most so many a second
        #[arg(long, value_name = "PER_SECOND")]
        rate: f64,
        #[command(flatten)]
        change: Change,
    },
    /// Take back what a discard did, within 7 days: an operation of its own
    Restore(Restore),
}

#[derive(Debug, Args)]
pub(super) struct Items {
    id: i64,
    /// Only waiting, succeeded or refused
    #[arg(long)]
    state: Option<String>,
    /// Only with a larger id: the next page
    #[arg(long)]
    after: Option<String>,
    /// At most so many, up to 1000 [default: 50]
    #[arg(long)]
    limit: Option<String>,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Change {
    id: i64,
    /// Why, for the record
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    actor: Actor,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Restore {
    id: i64,
    /// Why, for the record
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    pace: BulkPace,
    #[command(flatten)]
    actor: Actor,
    #[command(flatten)]
    connect: Connect,
}

impl Operation {
    pub(super) async fn run(self) -> Result<Finding, Error> {
        match self {
            Operation::List { before, limit, connect } => {
                let query = said(&[("before", &before), ("limit", &limit)]);
                let path = ["v1", "operations"];
                let answer = Client::new(&connect)?.get::<OperationList>(&path, &query, None).await?;
                let human = || render::operation::list(&answer.value, Paint::of_stdout());
                print(&if connect.json { answer.json.clone() } else { human() })
            }
            Operation::Show { id, connect } => {
                let path = ["v1", "operations", &id.to_string()];
                let answer = Client::new(&connect)?.get::<OperationDetail>(&path, &[], None).await?;
                let human = || render::operation::detail(&answer.value, Paint::of_stdout());
                print(&if connect.json { answer.json.clone() } else { human() })
            }
            Operation::Items(items) => items.run().await,
            Operation::Pause(change) => change.run(Some(OperationState::Paused), None).await,
            Operation::Resume(change) => change.run(Some(OperationState::Running), None).await,
            Operation::Abort(change) => change.run(Some(OperationState::Aborted), None).await,
            Operation::Pace { rate, change } => change.run(None, Some(rate)).await,
            Operation::Restore(restore) => restore.run().await,
        }
    }
}

impl Items {
    async fn run(self) -> Result<Finding, Error> {
        let query = said(&[("state", &self.state), ("after", &self.after), ("limit", &self.limit)]);
        let path = ["v1", "operations", &self.id.to_string(), "items"];
        let answer = Client::new(&self.connect)?.get::<ItemList>(&path, &query, None).await?;
        let human = || render::operation::items(&answer.value, Paint::of_stdout());
        print(&if self.connect.json { answer.json.clone() } else { human() })
    }
}

impl Restore {
    async fn run(self) -> Result<Finding, Error> {
        let selection = Selection { operation: Some(self.id), ..Selection::default() };
        let (actor, verb) = (self.actor.name(), OperationVerb::Restore);
        bulk::run(verb, selection, &self.pace, actor, self.reason, &self.connect).await
    }
}

impl Change {
    async fn run(self, state: Option<OperationState>, rate: Option<f64>) -> Result<Finding, Error> {
        let asked = OperationChange {
            state: state.map(|state| state.as_str().to_owned()),
            rate,
            actor: self.actor.name(),
            reason: self.reason,
        };
        let path = ["v1", "operations", &self.id.to_string()];
        let answer = Client::new(&self.connect)?.patch::<OperationDetail>(&path, &asked).await?;
        let human = || render::operation::detail(&answer.value, Paint::of_stdout());
        print(&if self.connect.json { answer.json.clone() } else { human() })
    }
}

fn said<'a>(all: &[(&'a str, &'a Option<String>)]) -> Vec<(&'a str, &'a str)> {
    all.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect()
}
