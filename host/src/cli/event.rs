//! `wonce event show|explain`.

use clap::{Args, Subcommand};
use wonce_api::event::{Explanation, Timeline};

use super::client::{Answer, Client};
use super::connect::Connect;
use super::render::{self, Paint};
use super::{Error, Finding, print};

#[derive(Debug, Subcommand)]
pub(super) enum Event {
    /// The whole timeline: accepted, attempts, effects, duplicates, outcome
    Show(Which),
    /// Which rule made the key, and what the payload hash covers
    Explain(Which),
}

#[derive(Debug, Args)]
pub(super) struct Which {
    /// The handler's name
    handler: String,
    /// The event's key, byte for byte
    key: String,
    #[command(flatten)]
    connect: Connect,
}

impl Event {
    pub(super) async fn run(self) -> Result<Finding, Error> {
        match self {
            Event::Show(which) => {
                let answer = which.ask().await?;
                let human = || render::event::timeline(&answer.value, Paint::of_stdout());
                print(&if which.connect.json { answer.json.clone() } else { human() })
            }
            Event::Explain(which) => {
                let explanation = Explanation::from(&which.ask().await?.value);
                let json = || {
                    serde_json::to_string(&explanation).map_err(|e| Error::Stdout { reason: e.to_string() })
                };
                print(&if which.connect.json { json()? } else { render::event::explanation(&explanation) })
            }
        }
    }
}

impl Which {
    async fn ask(&self) -> Result<Answer<Timeline>, Error> {
        let path = ["v1", "events", &self.handler];
        Client::new(&self.connect)?.get(&path, &[("key", &self.key)], None).await
    }
}
