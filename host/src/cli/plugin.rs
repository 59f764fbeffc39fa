//! `wonce plugin …`: handlers as files, and the versions of them that hosts run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use wonce_api::plugin::{Deployment, RemoveRequest, RollbackRequest};

use super::client::Client;
use super::connect::{Actor, Connect};
use super::render::{self, Paint};
use super::{Error, Finding, print};

mod file;

/// A large component takes a while to compile.
const DEPLOY_LIMIT: Duration = Duration::from_secs(300);

#[derive(Debug, Subcommand)]
pub(super) enum Plugin {
    /// Make one self-describing file of a component and its handler.toml; refuses what would not load
    Pack(file::Pack),
    /// What a .wasm imports, exports and was built with, and whether this version of wonce runs it
    Inspect(file::Inspect),
    /// Make a packed file the active version on every host, while they run
    Deploy(Deploy),
    /// All handlers, their versions, and which one each host runs
    List {
        #[command(flatten)]
        connect: Connect,
    },
    /// One handler: what hosts run, the versions to go back to, the manifest
    Show {
        name: String,
        #[command(flatten)]
        connect: Connect,
    },
    /// What was deployed, rolled back and removed, by whom and why
    History {
        name: String,
        #[command(flatten)]
        connect: Connect,
    },
    /// Go back to the version before, or to another one
    Rollback(Rollback),
    /// End a handler on every host; its books stay
    Remove(Remove),
}

/// For the record.
#[derive(Debug, Args)]
struct Record {
    /// Why, for the record
    #[arg(long)]
    reason: Option<String>,
    #[command(flatten)]
    actor: Actor,
}

#[derive(Debug, Args)]
pub(super) struct Deploy {
    /// What `wonce plugin pack` made
    file: PathBuf,
    /// A setting over the manifest's, part of the version; wonce.toml still wins
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    #[command(flatten)]
    record: Record,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Rollback {
    name: String,
    /// The first digits of a version [default: the one that was active before]
    #[arg(long, value_name = "DIGEST")]
    to: Option<String>,
    #[command(flatten)]
    record: Record,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Remove {
    name: String,
    /// Remove it although deliveries are pending: they wait for its return
    #[arg(long)]
    keep_pending: bool,
    #[command(flatten)]
    record: Record,
    #[command(flatten)]
    connect: Connect,
}

impl Plugin {
    pub(super) async fn run(self) -> Result<Finding, Error> {
        let paint = Paint::of_stdout();
        match self {
            Plugin::Pack(verb) => verb.run().await,
            Plugin::Inspect(verb) => verb.run().await,
            Plugin::Deploy(verb) => verb.run().await,
            Plugin::List { connect } => {
                let answer = Client::new(&connect)?.get(&["v1", "plugins"], &[], None).await?;
                print(&if connect.json { answer.json } else { render::plugin::list(&answer.value, paint) })
            }
            Plugin::Show { name, connect } => {
                let answer = Client::new(&connect)?.get(&["v1", "plugins", &name], &[], None).await?;
                print(&if connect.json { answer.json } else { render::plugin::detail(&answer.value, paint) })
            }
            Plugin::History { name, connect } => {
                let path = ["v1", "plugins", &name, "history"];
                let answer = Client::new(&connect)?.get(&path, &[], None).await?;
                print(&if connect.json { answer.json } else { render::plugin::history(&answer.value, paint) })
            }
            Plugin::Rollback(verb) => verb.run().await,
            Plugin::Remove(verb) => verb.run().await,
        }
    }
}

impl Deploy {
    async fn run(self) -> Result<Finding, Error> {
        let settings: BTreeMap<String, String> = self.settings.into_iter().collect();
        let settings = (!settings.is_empty()).then(|| serde_json::json!(settings).to_string());
        let query: Vec<(&str, String)> =
            [("actor", self.record.actor.name()), ("reason", self.record.reason), ("settings", settings)]
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?)))
                .collect();
        let file = file::read(&self.file)?;
        let answer =
            Client::new(&self.connect)?.post_file(&["v1", "plugins"], &query, file, DEPLOY_LIMIT).await?;
        shown(answer.value, &answer.json, self.connect.json)
    }
}

impl Rollback {
    async fn run(self) -> Result<Finding, Error> {
        let asked =
            RollbackRequest { to: self.to, actor: self.record.actor.name(), reason: self.record.reason };
        let path = ["v1", "plugins", &self.name, "rollback"];
        let answer = Client::new(&self.connect)?.post(&path, &asked).await?;
        shown(answer.value, &answer.json, self.connect.json)
    }
}

/// A host that could not follow is a finding.
fn shown(deployment: Deployment, json: &str, as_json: bool) -> Result<Finding, Error> {
    print(&if as_json {
        json.to_owned()
    } else {
        render::plugin::deployment(&deployment, Paint::of_stdout())
    })?;
    let all_follow = deployment.hosts.iter().all(|host| host.is_active);
    Ok(if all_follow { Finding::Fine } else { Finding::Differs })
}

impl Remove {
    async fn run(self) -> Result<Finding, Error> {
        let asked = RemoveRequest {
            keep_pending: self.keep_pending,
            actor: self.record.actor.name(),
            reason: self.record.reason,
        };
        let path = ["v1", "plugins", &self.name, "remove"];
        let answer = Client::new(&self.connect)?.post(&path, &asked).await?;
        print(&if self.connect.json { answer.json } else { render::plugin::removed(&answer.value) })
    }
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
