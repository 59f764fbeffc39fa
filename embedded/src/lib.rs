//! A private PostgreSQL cluster for a wonce that was given no database: it finds the installed programs, makes
//! the cluster, starts its server on a loopback port, and stops it. It downloads nothing, and it never knows what
//! wonce keeps in the database.
//!
//! One process owns the server of a folder and holds its lock. A second wonce on the same folder connects to that
//! server without owning it. When the owner is killed, its server runs on, and the next start adopts it.
//!
//! - [`settings`](Settings): what the caller may choose
//! - `folder`, `lock`, `password`, `port`, `log`, `pidfile`: the files of one cluster
//! - `find`, `user`, `command`: which programs run, and as whom
//! - `cluster`: `initdb`
//! - `launch`, `process`, `access`: start it, stop it, ask it
//! - `owner`: all of these for the process that holds the lock

mod access;
mod cluster;
mod command;
mod find;
mod folder;
mod launch;
mod lock;
mod log;
mod owner;
mod password;
mod pidfile;
mod port;
mod process;
mod settings;
mod user;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use access::Access;
use folder::Folder;
use lock::Lock;
use owner::Owner;
use password::Password;
use pidfile::Running;

pub use access::Error as AccessError;
pub use cluster::Error as ClusterError;
pub use find::{Error as FindError, Installation, SUPPORTED};
pub use folder::Error as FolderError;
pub use launch::Error as LaunchError;
pub use lock::Error as LockError;
pub use owner::AdoptError;
pub use password::Error as PasswordError;
pub use pidfile::Error as PidfileError;
pub use port::Error as PortError;
pub use process::{Error as StopError, Exit};
pub use settings::{Durability, Settings};
pub use user::Error as UserError;

/// The database that every cluster has.
pub const DATABASE: &str = "wonce";

/// How long a second wonce waits for the first one, which may be making the cluster.
const OTHER_OWNER_LIMIT: Duration = Duration::from_secs(180);
const OTHER_OWNER_POLL: Duration = Duration::from_millis(100);

/// Why there is no database, or why it did not stop in order.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The folder cannot be locked.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There are no fitting programs.
    #[error(transparent)]
    Find(#[from] FindError),
    /// There is no account to run them.
    #[error(transparent)]
    User(#[from] UserError),
    /// There is no cluster.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The cluster's password is missing.
    #[error(transparent)]
    Password(#[from] PasswordError),
    /// The server's mark cannot be read.
    #[error(transparent)]
    Pidfile(#[from] PidfileError),
    /// The server did not start.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The running server cannot be adopted.
    #[error(transparent)]
    Adopt(#[from] AdoptError),
    /// The server refused a question.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The server did not stop in order.
    #[error(transparent)]
    Stop(#[from] StopError),
    /// Another wonce owns the folder and its server is not to be reached.
    #[error(
        "another wonce (process {holder}) owns the database in \"{}\", and its server did not answer within {} s; \
         stop that one first, or choose another data_dir", folder.display(), OTHER_OWNER_LIMIT.as_secs()
    )]
    OtherOwner {
        /// The cluster's folder.
        folder: PathBuf,
        /// The other's process id, as it wrote it.
        holder: String,
    },
    /// Only the owner may do that.
    #[error(
        "cannot {action} the database server in \"{}\", because another wonce owns it; do it there",
        folder.display()
    )]
    NotTheOwner {
        /// What was asked for.
        action: &'static str,
        /// The cluster's folder.
        folder: PathBuf,
    },
}

/// A database server that answers. Dropping the owner's one asks the server to shut down without waiting for it;
/// [`Embedded::stop`] waits.
#[derive(Debug)]
pub struct Embedded {
    access: Access,
    folder: Folder,
    role: Role,
}

#[derive(Debug)]
enum Role {
    Owner(Box<Owner>),
    Client(Running),
}

impl Embedded {
    /// Gives a server that answers: it is adopted, started, or belongs to another wonce that runs now. The first
    /// start on a folder makes the cluster and takes seconds. The future may be dropped at any point.
    pub async fn start(settings: Settings) -> Result<Self, Error> {
        let folder = Folder::prepare(&settings.dir)?;
        let deadline = Instant::now() + OTHER_OWNER_LIMIT;
        loop {
            if let Some(lock) = Lock::try_take(&folder.lock())? {
                let owner = Owner::take_charge(folder.clone(), lock, &settings).await?;
                return Ok(Self { access: owner.access(), folder, role: Role::Owner(Box::new(owner)) });
            }
            if let Some((running, access)) = reach_other_owner(&folder, settings.durability).await? {
                return Ok(Self { access, folder, role: Role::Client(running) });
            }
            if Instant::now() > deadline {
                let holder = lock::holder(&folder.lock());
                return Err(Error::OtherOwner { folder: folder.dir().to_owned(), holder });
            }
            tokio::time::sleep(OTHER_OWNER_POLL).await;
        }
    }

    /// `postgres://` text for one database of the server; [`DATABASE`] and `postgres` exist. It holds the password.
    pub fn url(&self, database: &str) -> String {
        self.access.url(database)
    }

    /// Creates a database unless it is there.
    pub async fn ensure_database(&self, database: &str) -> Result<(), Error> {
        Ok(self.access.ensure_database(database).await?)
    }

    /// The server's process id.
    pub fn pid(&self) -> i32 {
        match &self.role {
            Role::Owner(owner) => owner.server().pid().as_raw_pid(),
            Role::Client(running) => running.pid.as_raw_pid(),
        }
    }

    /// Whether this process owns the server and therefore stops it.
    pub fn owns_server(&self) -> bool {
        match &self.role {
            Role::Owner(_) => true,
            Role::Client(_) => false,
        }
    }

    /// Waits until the server ends by itself, which it never should; [`Embedded::restart`] brings it back.
    pub async fn ended(&mut self) -> Exit {
        match &mut self.role {
            Role::Owner(owner) => owner.server_mut().ended().await,
            Role::Client(running) => process::ended(running.pid, &self.folder.data()).await,
        }
    }

    /// Ends the server at once, without a checkpoint, and starts it again on the same port. Also the way to bring
    /// back a server that died. Only for the owner.
    pub async fn restart(&mut self) -> Result<(), Error> {
        self.owner("restart")?.restart().await
    }

    /// Kills the server as a crash would and returns when it is gone. Only for the owner.
    pub async fn kill9(&mut self) -> Result<Exit, Error> {
        Ok(self.owner("kill")?.server_mut().kill().await?)
    }

    /// Shuts the server down in order and waits for it; does nothing when another wonce owns it.
    pub async fn stop(self) -> Result<(), Error> {
        match self.role {
            Role::Owner(owner) => owner.stop().await,
            Role::Client(_) => Ok(()),
        }
    }

    /// Gives up the ownership and leaves the server to the next start.
    pub fn leave_running(self) {
        match self.role {
            Role::Owner(owner) => owner.leave_running(),
            Role::Client(_) => {}
        }
    }

    fn owner(&mut self, action: &'static str) -> Result<&mut Owner, Error> {
        match &mut self.role {
            Role::Owner(owner) => Ok(owner),
            Role::Client(_) => Err(Error::NotTheOwner { action, folder: self.folder.dir().to_owned() }),
        }
    }
}

/// The other's server, once it answers. What is not there yet may come: the other one may be making it just now.
async fn reach_other_owner(folder: &Folder, wanted: Durability) -> Result<Option<(Running, Access)>, Error> {
    let Ok(Some(running)) = pidfile::running(&folder.data()) else { return Ok(None) };
    let Ok(password) = Password::read(&folder.password()) else { return Ok(None) };
    let access = Access { port: running.port, password };
    match access.ask_durability(DATABASE).await {
        Ok(durability) => {
            owner::check_durability(wanted, durability, folder, running.pid)?;
            Ok(Some((running, access)))
        }
        Err(_) => Ok(None),
    }
}
