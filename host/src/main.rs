//! The one binary: `wonce`. Arguments in, exit status out; everything else is the library's.

use std::process::ExitCode;

use clap::Parser;
use wonce_host::cli::Cli;

fn main() -> ExitCode {
    wonce_host::cli::main(Cli::parse())
}
