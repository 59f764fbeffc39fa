//! `wonce status`.

use clap::Args;

use super::client::Client;
use super::connect::Connect;
use super::render::{self, Paint};
use super::{Error, Finding, print};

#[derive(Debug, Args)]
pub(super) struct Status {
    #[command(flatten)]
    connect: Connect,
}

impl Status {
    pub(super) async fn run(self) -> Result<Finding, Error> {
        let answer = Client::new(&self.connect)?.get(&["v1", "status"], &[], None).await?;
        if self.connect.json {
            return print(&answer.json);
        }
        print(&render::status::status(&answer.value, Paint::of_stdout()))
    }
}
