//! Helpers of the tests: a folder that root's server can reach, one-line questions, and an owner to kill.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal};
use wonce_embedded::{Embedded, Settings};

const ROLE: &str = "WONCE_EMBEDDED_TEST_OWNER_OF";
const READY: &str = "server process ";

/// A temporary folder for one cluster.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    /// A test that failed may have left a server running.
    fn drop(&mut self) {
        let mark = self.path().join("data/postmaster.pid");
        let pid = std::fs::read_to_string(mark).ok().and_then(|text| text.lines().next()?.parse().ok());
        if let Some(pid) = pid.filter(|&pid| std::thread::panicking() && alive(pid)) {
            signal(pid, Signal::QUIT);
        }
    }
}

pub(crate) fn throwaway(folder: &Folder) -> Settings {
    Settings { bin_dir: bin_dir(), ..Settings::throwaway(folder.path()) }
}

pub(crate) fn durable(folder: &Folder) -> Settings {
    Settings { bin_dir: bin_dir(), ..Settings::new(folder.path()) }
}

/// The programs that the run is about.
fn bin_dir() -> Option<PathBuf> {
    std::env::var_os("WONCE_PG_BIN").map(Into::into)
}

pub(crate) async fn start(folder: &Folder) -> Embedded {
    Embedded::start(throwaway(folder)).await.unwrap()
}

pub(crate) async fn execute(url: &str, sql: &str) {
    ask(url, sql).await;
}

/// The first value of the answer, as text.
pub(crate) async fn count(url: &str, sql: &str) -> String {
    ask(url, sql).await.unwrap()
}

async fn ask(url: &str, sql: &str) -> Option<String> {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let rows = client.query(sql, &[]).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
    rows.first().map(|row| row.get(0))
}

/// Whether the process runs; a zombie does not.
pub(crate) fn alive(pid: i32) -> bool {
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    !command.is_empty()
}

pub(crate) fn signal(pid: i32, signal: Signal) {
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// A process of its own that runs the test `name` in the role of an owner.
pub(crate) struct OwnerProcess(Child);

pub(crate) fn owner_process(name: &str, folder: &Folder) -> OwnerProcess {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture"]).env(ROLE, folder.path());
    OwnerProcess(command.stdout(Stdio::piped()).spawn().unwrap())
}

impl OwnerProcess {
    /// The process id of the server, once it answers.
    pub(crate) fn wait_for_server(&mut self) -> i32 {
        let mut lines = BufReader::new(self.0.stdout.as_mut().unwrap()).lines();
        lines.find_map(|line| line.unwrap().split_once(READY)?.1.parse().ok()).expect("the owner died")
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for OwnerProcess {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// The folder to own, when this process is the owner to be killed.
pub(crate) fn owner_role() -> Option<PathBuf> {
    std::env::var_os(ROLE).map(PathBuf::from)
}

#[expect(clippy::print_stdout, reason = "the parent reads it")]
pub(crate) async fn own_until_killed(dir: PathBuf) {
    let embedded =
        Embedded::start(Settings { bin_dir: bin_dir(), ..Settings::throwaway(dir) }).await.unwrap();
    println!("\n{READY}{}", embedded.pid());
    std::future::pending::<()>().await;
}
