//! A PgBouncer in transaction mode in front of a test's database. It has fewer connections to
//! Postgres than a host has to it, so that the statements of one client session really travel on
//! several server sessions.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_postgres::{Config, NoTls, SimpleQueryMessage};

use super::database::Database;
use crate::wait::{Looking, bounded};

/// Server connections of the pool.
const SERVER_CONNECTIONS: usize = 2;
/// A port that was free may be taken a moment later.
const PORT_TRIES: usize = 5;
/// Debian puts it where only root's `PATH` looks.
const PLACES: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];
/// The name of the pooler's own console.
const CONSOLE: &str = "pgbouncer";

/// A running one. Dropping it ends it.
#[derive(Debug)]
pub struct Pooler {
    /// The database by way of the pooler.
    pub url: String,
    address: SocketAddr,
    process: Child,
    _folder: TempDir,
}

impl Pooler {
    /// Starts one in front of a database.
    ///
    /// # Panics
    /// When PgBouncer is not installed or does not start.
    pub async fn start(database: &Database) -> Self {
        let program = program();
        let folder = tempfile::Builder::new().prefix("wonce-pooler-").tempdir().expect("a folder");
        let server: Config = database.url.parse().expect("a Postgres URL");
        for _ in 0..PORT_TRIES {
            let address = free_address();
            let file = folder.path().join("pgbouncer.ini");
            std::fs::write(&file, configuration(&server, address)).expect("written");
            let mut process = spawn(&program, &file);
            if listens(&mut process, address).await {
                let url = format!("postgres://wonce@{address}/{}", server.get_dbname().expect("a database"));
                return Self { url, address, process, _folder: folder };
            }
        }
        panic!("pgbouncer ended at its start {PORT_TRIES} times; its own words are above");
    }

    /// How many transactions it has carried.
    ///
    /// # Panics
    /// When its console does not answer.
    pub async fn transactions(&self) -> u64 {
        let url = format!("postgres://wonce@{}/{CONSOLE}", self.address);
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.expect("its console answers");
        tokio::spawn(connection);
        // The console takes only simple queries.
        let answer = client.simple_query("SHOW TOTALS").await.expect("it counts");
        let total = answer.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) if row.get("name") == Some("total_xact_count") => {
                row.get("value")?.parse().ok()
            }
            _ => None,
        });
        total.expect("the count of transactions")
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            // At once; a test that failed must not hang here. It can only fail when it has ended.
            let _ = kill_process(pid, Signal::TERM);
        }
        let _ = self.process.wait();
    }
}

fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(PLACES.map(PathBuf::from));
    let found = places.map(|folder| folder.join("pgbouncer")).find(|program| program.is_file());
    found.expect(
        "this test needs PgBouncer: run `scripts/setup test`, or install it (`apt-get install pgbouncer`, \
         `dnf install pgbouncer`, `brew install pgbouncer`)",
    )
}

fn free_address() -> SocketAddr {
    let probe = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    probe.local_addr().expect("a bound address")
}

/// Every client becomes the owner of the database; the pooler's own login is not what is tested.
fn configuration(server: &Config, address: SocketAddr) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let password = server.get_password().map(String::from_utf8_lossy).unwrap_or_default();
    let name = server.get_dbname().expect("a database");
    format!(
        "[databases]\n{name} = host=127.0.0.1 port={port} dbname={name} user={user} password={password}\n\
         [pgbouncer]\nlisten_addr = {ip}\nlisten_port = {listen}\nunix_socket_dir =\nauth_type = any\n\
         pool_mode = transaction\nignore_startup_parameters = options\ndefault_pool_size = {SERVER_CONNECTIONS}\n\
         log_connections = 0\nlog_disconnections = 0\nlog_stats = 0\n",
        port = server.get_ports().first().copied().unwrap_or(5432),
        user = quoted(server.get_user().expect("a user")),
        password = quoted(&password),
        ip = address.ip(),
        listen = address.port(),
    )
}

fn spawn(program: &Path, file: &Path) -> Child {
    let mut command = Command::new(program);
    if rustix::process::geteuid().is_root() {
        // It refuses root, and becomes somebody else after it has read its file.
        command.args(["-u", "nobody"]);
    }
    command.arg("-q").arg(file).stdin(Stdio::null()).stdout(Stdio::null());
    command.spawn().expect("pgbouncer can be run")
}

/// Whether it got so far; the other way is its end.
async fn listens(process: &mut Child, address: SocketAddr) -> bool {
    let looking = Looking::for_condition("pgbouncer listens");
    loop {
        if process.try_wait().expect("a child of ours").is_some() {
            return false;
        }
        let reached = bounded("a connection is taken or refused", TcpStream::connect(address)).await;
        if reached.is_ok() {
            return true;
        }
        looking.pause().await;
    }
}
