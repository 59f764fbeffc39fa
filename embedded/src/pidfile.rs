//! Reads `postmaster.pid` and judges whether the process it names is a live server of the folder. The file
//! outlives a crash, and process ids are used again, so the file alone proves nothing. It never starts, signals
//! or removes anything but a file that names a stranger.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

const NAME: &str = "postmaster.pid";
/// Line numbers in the file, from zero (`src/include/utils/pidfile.h`).
const PID_LINE: usize = 0;
const PORT_LINE: usize = 3;

/// Why the file could not be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} \"{}\"; check that wonce may read and write the database folder", path.display())]
pub struct Error {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// A live server of the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) pid: Pid,
    pub(crate) port: u16,
}

/// The server of `data`, if one is alive.
pub(crate) fn running(data: &Path) -> Result<Option<Running>, Error> {
    let Some(text) = read(data)? else { return Ok(None) };
    Ok(parse(&text).filter(|running| is_server(running.pid, data)))
}

/// Removes a file whose process id now belongs to some other program: the server would take that program for
/// its predecessor and refuse to start. A file that names nobody stays, because the server checks with it that
/// no orphan of its predecessor still uses the data. Only the holder of the folder's lock may call this.
pub(crate) fn remove_if_it_names_a_stranger(data: &Path) -> Result<(), Error> {
    let Some(running) = read(data)?.as_deref().and_then(parse) else { return Ok(()) };
    if !exists(running.pid) || is_server(running.pid, data) {
        return Ok(());
    }
    let path = data.join(NAME);
    tracing::warn!(path = %path.display(), pid = running.pid.as_raw_pid(), "removing a stale server mark");
    fs::remove_file(&path).map_err(|source| Error { action: "remove the stale", path, source })
}

/// Whether `pid` is a server of `data`. When the system does not show enough to be sure, any server counts:
/// mistaking a live server for a dead one could ruin the data, the other mistake ends in an error.
pub(crate) fn is_server(pid: Pid, data: &Path) -> bool {
    if !matches!(program(pid).as_deref(), Some("postgres" | "postmaster")) {
        return false;
    }
    // A server's working folder is its data folder; reading the link needs more rights than reading the name.
    match fs::read_link(format!("/proc/{}/cwd", pid.as_raw_pid())) {
        Ok(cwd) => cwd == data,
        Err(_) => true,
    }
}

fn read(data: &Path) -> Result<Option<String>, Error> {
    let path = data.join(NAME);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error { action: "read", path, source }),
    }
}

/// A file that is only half written has no port yet and counts as absent, and so does the negative process id of
/// a single-user server: the real server then refuses to start and says why.
fn parse(text: &str) -> Option<Running> {
    let line = |number| text.lines().nth(number).map(str::trim);
    let pid = line(PID_LINE)?.parse().ok().filter(|id: &i32| id.is_positive()).and_then(Pid::from_raw)?;
    Some(Running { pid, port: line(PORT_LINE)?.parse().ok()? })
}

/// Somebody else's process exists as well, although it cannot be signalled.
fn exists(pid: Pid) -> bool {
    !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

/// The file name of the program a process runs. A zombie has none: its command line is empty.
#[cfg(target_os = "linux")]
fn program(pid: Pid) -> Option<String> {
    let command = fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid())).ok()?;
    let first = command.split(|byte| *byte == 0).next()?;
    file_name(&String::from_utf8_lossy(first))
}

#[cfg(not(target_os = "linux"))]
fn program(pid: Pid) -> Option<String> {
    let id = pid.as_raw_pid().to_string();
    let output = std::process::Command::new("ps").args(["-o", "comm=", "-p", &id]).output().ok()?;
    file_name(String::from_utf8_lossy(&output.stdout).trim())
}

fn file_name(program: &str) -> Option<String> {
    Some(Path::new(program).file_name()?.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn me() -> Pid {
        rustix::process::getpid()
    }

    fn mark(pid: Pid) -> tempfile::TempDir {
        let data = tempfile::tempdir().unwrap();
        let text = format!("{}\n/data\n1700000000\n5433\n\n127.0.0.1\n  1 2\nready   \n", pid.as_raw_pid());
        fs::write(data.path().join(NAME), text).unwrap();
        data
    }

    #[test]
    fn a_server_mark_gives_process_and_port() {
        let text = "77\n/data\n1700000000\n5433\n\n127.0.0.1\n";
        assert_eq!(parse(text), Some(Running { pid: Pid::from_raw(77).unwrap(), port: 5433 }));
        assert_eq!(parse("77\n/data\n1700"), None);
        assert_eq!(parse(""), None);
        assert_eq!(parse("-77\n/data\n1700000000\n5433\n"), None);
    }

    #[test]
    fn a_process_that_is_no_server_is_not_taken_for_one() {
        let data = mark(me());
        assert_eq!(running(data.path()).unwrap(), None);
        remove_if_it_names_a_stranger(data.path()).unwrap();
        assert!(!data.path().join(NAME).exists());
    }

    #[test]
    fn the_mark_of_a_dead_process_is_left_to_the_server() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = Pid::from_child(&child);
        child.wait().unwrap();
        let data = mark(pid);
        assert_eq!(running(data.path()).unwrap(), None);
        remove_if_it_names_a_stranger(data.path()).unwrap();
        assert!(data.path().join(NAME).exists());
    }
}
