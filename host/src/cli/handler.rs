//! `wonce handler list|show|pause|resume`.

use clap::{Args, Subcommand};
use wonce_api::action::ActionRequest;

use super::client::Client;
use super::connect::{Actor, Connect};
use super::render::{self, Paint};
use super::{Error, Finding, print};

#[derive(Debug, Subcommand)]
pub(super) enum Handler {
    /// All handlers with what waits for them
    List {
        #[command(flatten)]
        connect: Connect,
    },
    /// One handler: versions, policy, blocked ordering keys, actions
    Show {
        name: String,
        #[command(flatten)]
        connect: Connect,
    },
    /// Stop claiming its deliveries; they are still accepted
    Pause(Change),
    /// Claim its deliveries again
    Resume(Change),
}

#[derive(Debug, Args)]
pub(super) struct Change {
    name: String,
    /// Why, for the record
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    actor: Actor,
    #[command(flatten)]
    connect: Connect,
}

impl Handler {
    pub(super) async fn run(self) -> Result<Finding, Error> {
        let paint = Paint::of_stdout();
        match self {
            Handler::List { connect } => {
                let answer = Client::new(&connect)?.get(&["v1", "handlers"], &[], None).await?;
                print(&if connect.json { answer.json } else { render::handler::list(&answer.value, paint) })
            }
            Handler::Show { name, connect } => {
                let answer = Client::new(&connect)?.get(&["v1", "handlers", &name], &[], None).await?;
                print(&if connect.json { answer.json } else { render::handler::detail(&answer.value, paint) })
            }
            Handler::Pause(change) => change.run("pause").await,
            Handler::Resume(change) => change.run("resume").await,
        }
    }
}

impl Change {
    async fn run(self, verb: &str) -> Result<Finding, Error> {
        let asked = ActionRequest { actor: self.actor.name(), reason: self.reason };
        let path = ["v1", "handlers", &self.name, verb];
        let answer = Client::new(&self.connect)?.post(&path, &asked).await?;
        print(&if self.connect.json { answer.json } else { render::handler::changed(&answer.value) })
    }
}
