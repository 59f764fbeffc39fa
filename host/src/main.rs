//! The one binary: `wonce`. Arguments in, exit status out; everything else is the library's.

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;
use wonce_host::cli::Cli;

/// An invocation allocates a hundred small things and frees them all: the system's allocator was a
/// sixth of the host's processor time (a profile of a drain). It keeps more memory in exchange.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    wonce_host::cli::main(Cli::parse())
}
