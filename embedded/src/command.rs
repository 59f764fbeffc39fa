//! The common start of every PostgreSQL program that wonce runs. It never knows which arguments follow.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::user::RunAs;

/// `program` as another account, in `dir`, in a process group of its own (a Ctrl-C in the terminal is for wonce,
/// which then stops the server in order), without the environment variables that would change its behaviour.
pub(crate) fn command(program: &Path, run_as: &RunAs, dir: &Path) -> Command {
    let mut command = Command::new(program);
    let postgres_variables = std::env::vars_os().map(|(name, _)| name);
    for name in postgres_variables.filter(|name| name.as_encoded_bytes().starts_with(b"PG")) {
        command.env_remove(name);
    }
    // A server built for systemd would report itself ready in place of wonce.
    command.env_remove("NOTIFY_SOCKET");
    // Messages in English, whatever the terminal speaks: some are recognised by their text.
    command.env_remove("LANGUAGE").env("LC_ALL", "C");
    command.current_dir(dir).stdin(Stdio::null()).process_group(0);
    run_as.apply(&mut command);
    command
}
