//! The wonce that holds the folder's lock: it adopts the server that runs, or starts one, after making the
//! cluster if there is none. It never knows about other processes that only connect.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::process::Pid;

use crate::Error;
use crate::access::Access;
use crate::cluster;
use crate::find::{self, Existing, Places};
use crate::folder::{self, Folder};
use crate::launch::{Launcher, START_LIMIT, Waited, wait_for_answer};
use crate::lock::Lock;
use crate::log::{Keeper, ServerLog};
use crate::password::Password;
use crate::pidfile::{self, Running};
use crate::port;
use crate::process::Server;
use crate::settings::{Durability, Settings};
use crate::user;

/// The owner's belongings. The order of the fields is the order of dropping: the lock goes last.
#[derive(Debug)]
pub(crate) struct Owner {
    server: Server,
    launcher: Launcher,
    _keeper: Keeper,
    _lock: Lock,
}

/// Why a running server could not be adopted.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    /// It runs and does not answer.
    #[error(
        "the server of \"{}\" runs (process {pid}) and did not answer within {} s; look at its log, or stop it \
         with `kill -INT {pid}` and start wonce again", folder.display(), START_LIMIT.as_secs()
    )]
    Silent {
        /// The cluster's folder.
        folder: PathBuf,
        /// The server's process.
        pid: i32,
        /// The last refusal.
        source: crate::access::Error,
    },
    /// It was started without durability.
    #[error(
        "the server of \"{}\" (process {pid}) was started as a throwaway one, with fsync off, and would lose data \
         in a crash; stop it with `kill -INT {pid}` and start wonce again", folder.display()
    )]
    Careless {
        /// The cluster's folder.
        folder: PathBuf,
        /// The server's process.
        pid: i32,
    },
}

impl Owner {
    /// Brings the cluster of `folder` to life and takes charge of its server.
    pub(crate) async fn take_charge(folder: Folder, lock: Lock, settings: &Settings) -> Result<Self, Error> {
        let launcher = prepare(folder, settings).await?;
        let server = match pidfile::running(&launcher.folder.data())? {
            Some(running) => adopt(&launcher, running, settings.durability).await?,
            None => None,
        };
        let server = match server {
            Some(server) => server,
            None => start_anew(&launcher).await?,
        };
        let access = Access { port: server.port(), password: launcher.password.clone() };
        access.ensure_database(crate::DATABASE).await?;
        let keeper = launcher.log.keep_bounded();
        Ok(Self { server, launcher, _keeper: keeper, _lock: lock })
    }

    pub(crate) fn access(&self) -> Access {
        Access { port: self.server.port(), password: self.launcher.password.clone() }
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) fn server_mut(&mut self) -> &mut Server {
        &mut self.server
    }

    /// Ends the server without a checkpoint, if it still runs, and starts it on the same port.
    pub(crate) async fn restart(&mut self) -> Result<(), Error> {
        self.server.quit().await?;
        let port = port::Wanted::Exactly(self.server.port());
        self.server = self.launcher.launch(port).await?;
        Ok(())
    }

    pub(crate) async fn stop(self) -> Result<(), Error> {
        let Self { server, launcher: _, _keeper: keeper, _lock: lock } = self;
        let stopped = server.stop().await;
        drop(keeper);
        drop(lock);
        Ok(stopped?)
    }

    pub(crate) fn leave_running(self) {
        let Self { server, launcher: _, _keeper: _, _lock: _ } = self;
        server.leave_running();
    }
}

/// Finds the programs and the account, and makes the cluster unless it exists.
async fn prepare(folder: Folder, settings: &Settings) -> Result<Launcher, Error> {
    let data = folder.data();
    let existing = cluster::major_version(&data)?;
    let places = Places::of_this_machine(settings.bin_dir.as_deref());
    let installation = find::find(&places, existing.map(|major| Existing { data: &data, major }))?;
    let run_as = user::choose(settings.user.as_deref(), owner_of(&data))?;
    match &run_as {
        user::RunAs::Myself => {}
        user::RunAs::Other(user) => {
            folder::check_passable(folder.dir(), user)?;
            folder::check_passable(&installation.bin, user)?;
        }
    }
    if existing.is_none() {
        cluster::make(&folder, &installation, &run_as, settings.durability).await?;
    }
    let password = Password::read(&folder.password())?;
    let log = ServerLog::new(folder.log());
    Ok(Launcher { folder, installation, run_as, options: settings.server_options(), password, log })
}

/// Gives `None` when the server was on its way out and has ended.
async fn adopt(launcher: &Launcher, running: Running, wanted: Durability) -> Result<Option<Server>, Error> {
    let pid = running.pid.as_raw_pid();
    let folder = launcher.folder.dir().to_owned();
    let mut server = Server::adopted(running, launcher.folder.data());
    let access = Access { port: running.port, password: launcher.password.clone() };
    match wait_for_answer(&mut server, &access, Instant::now() + START_LIMIT).await {
        Waited::Answers(durability) => {
            if let Err(error) = check_durability(wanted, durability, &launcher.folder, running.pid) {
                server.leave_running();
                return Err(error.into());
            }
            tracing::info!(pid, "adopted the database server that a former wonce left running");
            Ok(Some(server))
        }
        Waited::Ended(_) => Ok(None),
        Waited::Silent(source) => {
            server.leave_running();
            Err(AdoptError::Silent { folder, pid, source }.into())
        }
    }
}

/// A server that runs keeps the durability it was started with; more than wanted does no harm.
pub(crate) fn check_durability(
    wanted: Durability,
    has: Durability,
    folder: &Folder,
    pid: Pid,
) -> Result<(), AdoptError> {
    match (wanted, has) {
        (Durability::Durable, Durability::Throwaway) => {
            Err(AdoptError::Careless { folder: folder.dir().to_owned(), pid: pid.as_raw_pid() })
        }
        (Durability::Durable, Durability::Durable) | (Durability::Throwaway, _) => Ok(()),
    }
}

async fn start_anew(launcher: &Launcher) -> Result<Server, Error> {
    pidfile::remove_if_it_names_a_stranger(&launcher.folder.data())?;
    let server = launcher.launch(port::Wanted::Any).await?;
    let (pid, port) = (server.pid().as_raw_pid(), server.port());
    tracing::info!(pid, port, installation = %launcher.installation, "the database server answers");
    Ok(server)
}

fn owner_of(data: &Path) -> Option<u32> {
    std::fs::metadata(data).ok().map(|meta| meta.uid())
}
