//! `wonce effect list`.

use clap::{Args, Subcommand};
use wonce_api::effect::EffectList;

use super::client::Client;
use super::connect::Connect;
use super::render::{self, Paint};
use super::{Error, Finding, print};

#[derive(Debug, Subcommand)]
pub(super) enum Effect {
    /// Effects that are not confirmed, or those in one state, the latest first
    List(List),
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// Only to this sink
    #[arg(long)]
    sink: Option<String>,
    /// Only planned, sending, confirmed, refused or unknown [default: all but confirmed]
    #[arg(long)]
    state: Option<String>,
    /// Only with a smaller id: the next page
    #[arg(long)]
    before: Option<String>,
    /// At most so many, up to 1000 [default: 50]
    #[arg(long)]
    limit: Option<String>,
    #[command(flatten)]
    connect: Connect,
}

impl Effect {
    pub(super) async fn run(self) -> Result<Finding, Error> {
        let Effect::List(List { sink, state, before, limit, connect }) = self;
        let query = [("sink", &sink), ("state", &state), ("before", &before), ("limit", &limit)];
        let query: Vec<(&str, &str)> =
            query.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?))).collect();
        let answer = Client::new(&connect)?.get::<EffectList>(&["v1", "effects"], &query, None).await?;
        print(&if connect.json {
            answer.json
        } else {
            render::effect::list(&answer.value, Paint::of_stdout())
        })
    }
}
