//! Starts the server of an existing cluster and waits until it answers a query. It never makes a cluster and
//! never decides whether one may be started.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::access::{self, Access};
use crate::command::command;
use crate::find::Installation;
use crate::folder::Folder;
use crate::log::{Mark, ServerLog};
use crate::password::Password;
use crate::port;
use crate::process::{Exit, Server};
use crate::settings::Durability;
use crate::user::RunAs;

/// A start takes 0.3 s and a recovery a few seconds; a minute is a very busy disk.
pub(crate) const START_LIMIT: Duration = Duration::from_secs(60);
/// How often a starting server is asked.
const ASK_EVERY: Duration = Duration::from_millis(50);
/// How often a start is tried when the obstacle passes by itself, and the pause between.
const ATTEMPTS: u32 = 20;
const ATTEMPT_PAUSE: Duration = Duration::from_millis(250);
/// What the server says when somebody took its port, and when orphans of a killed one have not noticed yet.
const PASSING_OBSTACLES: [&str; 2] = ["Address already in use", "is still in use"];

/// Why the server does not answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no port for it.
    #[error(transparent)]
    Port(#[from] port::Error),
    /// Its log could not be opened.
    #[error("cannot open the database server's log \"{}\"; check the folder's owner and free space", path.display())]
    Log {
        /// The log.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It could not be run.
    #[error("cannot run \"{}\"; check WONCE_PG_BIN and the program's rights", program.display())]
    Run {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It ended instead of answering.
    #[error(
        "the database server ended while it started ({exit}); put right what it says, the rest is in \"{}\":\n{tail}",
        log.display()
    )]
    Ended {
        /// How it ended.
        exit: Exit,
        /// Its log.
        log: PathBuf,
        /// The end of its log.
        tail: String,
    },
    /// It runs and does not answer.
    #[error(
        "the database server did not answer within {} s and was stopped; look at its log \"{}\":\n{tail}",
        START_LIMIT.as_secs(), log.display()
    )]
    Silent {
        /// Its log.
        log: PathBuf,
        /// The end of its log.
        tail: String,
        /// The last refusal.
        source: access::Error,
    },
}

/// Everything a start of one cluster's server needs.
#[derive(Debug)]
pub(crate) struct Launcher {
    pub(crate) folder: Folder,
    pub(crate) installation: Installation,
    pub(crate) run_as: RunAs,
    pub(crate) options: Vec<(String, String)>,
    pub(crate) password: Password,
    pub(crate) log: ServerLog,
}

/// What became of a server that was waited for.
#[derive(Debug)]
pub(crate) enum Waited {
    Answers(Durability),
    Ended(Exit),
    Silent(access::Error),
}

impl Launcher {
    /// Starts the server and waits for its first answer. An obstacle that passes by itself is waited out.
    pub(crate) async fn launch(&self, wanted: port::Wanted) -> Result<Server, Error> {
        let deadline = Instant::now() + START_LIMIT;
        let mut attempt = 1;
        loop {
            let (mut server, mark) = self.spawn(wanted)?;
            let access = Access { port: server.port(), password: self.password.clone() };
            let log = self.log.path().to_owned();
            let exit = match wait_for_answer(&mut server, &access, deadline).await {
                Waited::Answers(_) => return Ok(server),
                Waited::Silent(source) => {
                    return Err(Error::Silent { log, tail: self.log.tail(mark), source });
                }
                Waited::Ended(exit) => exit,
            };
            let tail = self.log.tail(mark);
            let passing = PASSING_OBSTACLES.iter().any(|obstacle| tail.contains(obstacle));
            if !passing || attempt == ATTEMPTS {
                return Err(Error::Ended { exit, log, tail });
            }
            attempt += 1;
            tokio::time::sleep(ATTEMPT_PAUSE).await;
        }
    }

    fn spawn(&self, wanted: port::Wanted) -> Result<(Server, Mark), Error> {
        let port = port::choose(wanted, &self.folder.port())?;
        let log_failed = |source| Error::Log { path: self.log.path().to_owned(), source };
        let (log, mark) = self.log.open().map_err(log_failed)?;
        let program = self.installation.bin.join("postgres");
        let data = self.folder.data();
        let mut postgres = command(&program, &self.run_as, self.folder.dir());
        postgres.arg("-D").arg(&data).arg("-p").arg(port.to_string());
        for (name, value) in &self.options {
            postgres.arg("-c").arg(format!("{name}={value}"));
        }
        postgres.stdout(log.try_clone().map_err(log_failed)?).stderr(log);
        let child = postgres.spawn().map_err(|source| Error::Run { program, source })?;
        Ok((Server::started(child, port, data), mark))
    }
}

/// Asks until the server answers, ends, or the deadline has passed.
pub(crate) async fn wait_for_answer(server: &mut Server, access: &Access, deadline: Instant) -> Waited {
    loop {
        if let Some(exit) = server.exit() {
            return Waited::Ended(exit);
        }
        match access.ask_durability("postgres").await {
            Ok(durability) => return Waited::Answers(durability),
            Err(error) if Instant::now() > deadline => return Waited::Silent(error),
            Err(_) => tokio::time::sleep(ASK_EVERY).await,
        }
    }
}
