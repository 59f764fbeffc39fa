//! The command line. The operator's verbs talk to a running host over its admin API and print
//! what it says, for people or (`--json`) as the API's own document. Errors go to stderr and
//! say what, why and what to do next.
//!
//! Exit status: 0 when it worked, 1 when `wonce verify` finds that the books do not hold or
//! `wonce plugin inspect` a file that does not run, 2 on errors.

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod bulk;
mod client;
mod connect;
mod dead;
mod edit;
mod error;
mod event;
mod export;
mod filter;
mod handler;
mod operation;
mod plugin;
pub mod render;
mod run;
mod send;
mod status;
mod top;
mod verify;
mod version;

pub use error::Error;

/// A handled failure; clap uses the same for wrong usage.
const FAILED: u8 = 2;
/// The verb worked, and what it looked at is not as it should be.
const DIFFERS: u8 = 1;

/// Events in, effects exactly once.
#[derive(Debug, Parser)]
#[command(name = "wonce", version, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run a host
    Run(Box<run::Run>),
    /// Check the configuration and say every mistake
    Check(run::Check),
    /// Send events to a host
    Send(send::Send),
    /// The fleet on one page: hosts, handlers, outbox
    Status(status::Status),
    /// Watch the fleet live; with --once one page of it
    Top(top::Top),
    /// List, show, pause and resume handlers
    #[command(subcommand)]
    Handler(handler::Handler),
    /// One event's timeline, and where its key comes from
    #[command(subcommand)]
    Event(event::Event),
    /// List, show, export, edit, replay, discard and restore dead letters, one or many
    #[command(subcommand)]
    Dead(dead::Dead),
    /// Watch, pause and abort what is done to many dead letters
    #[command(subcommand)]
    Operation(operation::Operation),
    /// Pack, inspect and deploy handlers as files; their versions
    #[command(subcommand)]
    Plugin(plugin::Plugin),
    /// Check that nothing was lost and nothing happened twice
    Verify(verify::Verify),
    /// Print the version
    Version,
}

/// What a verb came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Finding {
    Fine,
    Differs,
}

/// Runs one verb to its exit status.
#[must_use]
pub fn main(cli: Cli) -> ExitCode {
    let mut builder = match cli.verb {
        Verb::Run(_) => tokio::runtime::Builder::new_multi_thread(),
        _ => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = match builder.enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => return failed(&format!("cannot start: {e}; check the limits on threads and open files")),
    };
    let found = runtime.block_on(cli.verb.run());
    // What may still run on a thread of its own (a compilation, a look-up of a name) has nobody
    // left who would read its result, and would hold up the end for seconds.
    runtime.shutdown_background();
    match found {
        Ok(Finding::Fine) => ExitCode::SUCCESS,
        Ok(Finding::Differs) => ExitCode::from(DIFFERS),
        Err(error) => failed(&error.to_string()),
    }
}

impl Verb {
    async fn run(self) -> Result<Finding, Error> {
        match self {
            Verb::Run(verb) => verb.run().await,
            Verb::Check(verb) => verb.run(),
            Verb::Send(verb) => verb.run().await,
            Verb::Status(verb) => verb.run().await,
            Verb::Top(verb) => verb.run().await,
            Verb::Handler(verb) => verb.run().await,
            Verb::Event(verb) => verb.run().await,
            Verb::Dead(verb) => verb.run().await,
            Verb::Operation(verb) => verb.run().await,
            Verb::Plugin(verb) => verb.run().await,
            Verb::Verify(verb) => verb.run().await,
            Verb::Version => version::run(),
        }
    }
}

/// Writes a document to stdout. A reader that went away (`| head`) is no error.
fn print(text: &str) -> Result<Finding, Error> {
    let mut out = std::io::stdout().lock();
    let written = out
        .write_all(text.as_bytes())
        .and_then(|()| if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") });
    match written.and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::Stdout { reason: e.to_string() }),
        Ok(()) | Err(_) => Ok(Finding::Fine),
    }
}

fn failed(message: &str) -> ExitCode {
    // When stderr is gone too, the exit status has to do.
    let _ = writeln!(std::io::stderr(), "wonce: {}", render::text::visible_lines(message));
    ExitCode::from(FAILED)
}
