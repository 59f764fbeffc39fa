//! `wonce plugin …`: handlers as files, and the versions of them that hosts run.

use clap::Subcommand;

use super::{Error, Finding};

mod file;

#[derive(Debug, Subcommand)]
pub(super) enum Plugin {
    /// Make one self-describing file of a component and its handler.toml; refuses what would not load
    Pack(file::Pack),
    /// What a .wasm imports, exports and was built with, and whether this version of wonce runs it
    Inspect(file::Inspect),
}

impl Plugin {
    pub(super) async fn run(self) -> Result<Finding, Error> {
        match self {
            Plugin::Pack(verb) => verb.run().await,
            Plugin::Inspect(verb) => verb.run().await,
        }
    }
}
