//! `wonce verify`: over a running host, or straight from a database.

use clap::Args;
use wonce_api::verify::Verification;

use super::client::{Client, LONG_ANSWER_LIMIT};
use super::connect::Connect;
use super::render::{self, Paint};
use super::{Error, Finding, print};
use crate::admin::verify::judge;
use crate::store::{DatabaseUrl, Store};

#[derive(Debug, Args)]
pub(super) struct Verify {
    /// Count in this database instead of asking a host: none needs to run
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    #[command(flatten)]
    connect: Connect,
}

impl Verify {
    pub(super) async fn run(self) -> Result<Finding, Error> {
        let (verification, json) = match &self.database_url {
            Some(url) => {
                let verification = in_database(url).await?;
                let json = serde_json::to_string(&verification).map_err(|e| Error::Store(e.to_string()))?;
                (verification, json)
            }
            None => {
                let client = Client::new(&self.connect)?;
                let answer = client.get(&["v1", "verify"], &[], Some(LONG_ANSWER_LIMIT)).await?;
                (answer.value, answer.json)
            }
        };
        if self.connect.json {
            print(&json)?;
        } else {
            print(&render::verify::verification(&verification, Paint::of_stdout()))?;
        }
        Ok(if verification.holds { Finding::Fine } else { Finding::Differs })
    }
}

async fn in_database(url: &str) -> Result<Verification, Error> {
    let failed = |e: crate::store::Error| Error::Store(e.explained());
    let url: DatabaseUrl = url.parse().map_err(failed)?;
    let store = Store::connect(&url, 1).await.map_err(failed)?;
    Ok(judge(store.books().await.map_err(failed)?))
}
