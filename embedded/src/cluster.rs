//! Makes a new cluster with `initdb`, either whole or not at all: the work happens in a side folder that is
//! renamed at the end. It never starts a server and never touches a cluster that exists.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use crate::command::command;
use crate::find::Installation;
use crate::folder::Folder;
use crate::password;
use crate::settings::Durability;
use crate::user::RunAs;

/// The superuser of a private cluster.
pub(crate) const SUPERUSER: &str = "wonce";
/// `initdb` takes 2 to 4 seconds on an idle machine.
const INITDB_LIMIT: Duration = Duration::from_secs(120);
/// Best first; not every system has the UTF-8 one.
const LOCALES: [&str; 2] = ["C.UTF-8", "C"];

/// Why there is no cluster.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder could not be made, moved or read.
    #[error("cannot {action} \"{}\"; check the owner and the free space of the database folder", path.display())]
    Files {
        /// What was tried.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The data folder holds something that is no cluster.
    #[error("\"{}\" exists and is no PostgreSQL cluster; move it away or choose another data_dir", data.display())]
    NotACluster {
        /// The folder.
        data: PathBuf,
    },
    /// `initdb` could not be run.
    #[error("cannot run \"{}\"; check WONCE_PG_BIN and the program's rights", program.display())]
    Run {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// `initdb` took too long.
    #[error("\"{}\" did not finish within {} s; check the disk and try again", program.display(), INITDB_LIMIT.as_secs())]
    TooSlow {
        /// The program.
        program: PathBuf,
    },
    /// `initdb` said no.
    #[error("\"{}\" could not make the cluster ({status}); put right what it says and start again:\n{output}", program.display())]
    Refused {
        /// The program.
        program: PathBuf,
        /// Its exit status.
        status: std::process::ExitStatus,
        /// What it wrote to standard error.
        output: String,
    },
    /// There is no password for the new cluster.
    #[error(transparent)]
    Password(#[from] password::Error),
}

/// The major version of the cluster in `data`, or `None` when there is no cluster yet.
pub(crate) fn major_version(data: &Path) -> Result<Option<u32>, Error> {
    let path = data.join("PG_VERSION");
    match fs::read_to_string(&path) {
        Ok(text) => match text.trim().parse() {
            Ok(major) => Ok(Some(major)),
            Err(_) => Err(Error::NotACluster { data: data.to_owned() }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound && !data.exists() => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Error::NotACluster { data: data.to_owned() })
        }
        Err(source) => Err(Error::Files { action: "read the version of the cluster from", path, source }),
    }
}

/// Makes the cluster of `folder`. The caller holds the folder's lock and knows that there is none.
pub(crate) async fn make(
    folder: &Folder,
    installation: &Installation,
    run_as: &RunAs,
    durability: Durability,
) -> Result<(), Error> {
    let unfinished = folder.unfinished_data();
    tracing::info!(folder = %folder.dir().display(), %installation, "making a database cluster");
    password::write_new(&folder.password(), run_as)?;
    let mut outcome = Err(Error::NotACluster { data: unfinished.clone() });
    for locale in LOCALES {
        make_empty(&unfinished, run_as)?;
        outcome = initdb(folder, installation, run_as, durability, locale).await;
        match &outcome {
            Err(Error::Refused { output, .. }) if output.contains("invalid locale") => {}
            Ok(()) | Err(_) => break,
        }
    }
    outcome?;
    move_into_place(folder)
}

async fn initdb(
    folder: &Folder,
    installation: &Installation,
    run_as: &RunAs,
    durability: Durability,
    locale: &str,
) -> Result<(), Error> {
    let program = installation.bin.join("initdb");
    let mut initdb = command(&program, run_as, folder.dir());
    initdb.arg("--pgdata").arg(folder.unfinished_data());
    initdb.arg("--pwfile").arg(folder.password());
    initdb.args(["--username", SUPERUSER, "--auth", "scram-sha-256", "--encoding", "UTF8"]);
    initdb.args(["--data-checksums", "--no-instructions", "--locale", locale]);
    match durability {
        Durability::Durable => {}
        Durability::Throwaway => {
            initdb.arg("--no-sync");
        }
    }
    let mut initdb = tokio::process::Command::from(initdb);
    match tokio::time::timeout(INITDB_LIMIT, initdb.kill_on_drop(true).output()).await {
        Ok(Ok(output)) => judge(program, output),
        Ok(Err(source)) => Err(Error::Run { program, source }),
        Err(_) => Err(Error::TooSlow { program }),
    }
}

fn judge(program: PathBuf, output: Output) -> Result<(), Error> {
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Error::Refused { program, status: output.status, output: text })
}

/// Empties what an unfinished attempt left behind.
fn make_empty(dir: &Path, run_as: &RunAs) -> Result<(), Error> {
    let failed = |action| move |source| Error::Files { action, path: dir.to_owned(), source };
    if dir.exists() {
        fs::remove_dir_all(dir).map_err(failed("remove the unfinished cluster"))?;
    }
    DirBuilder::new().mode(0o700).create(dir).map_err(failed("make the folder"))?;
    match run_as {
        RunAs::Myself => Ok(()),
        RunAs::Other(user) => {
            chown(dir, Some(user.uid), Some(user.gid)).map_err(failed("give the server's user the folder"))
        }
    }
}

fn move_into_place(folder: &Folder) -> Result<(), Error> {
    let data = folder.data();
    let moved = fs::rename(folder.unfinished_data(), &data);
    let kept = moved.and_then(|()| File::open(folder.dir())).and_then(|dir| dir.sync_all());
    kept.map_err(|source| Error::Files { action: "move the new cluster to", path: data, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_version_is_not_taken_for_a_cluster() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        assert_eq!(major_version(&data).unwrap(), None);
        fs::create_dir(&data).unwrap();
        assert!(matches!(major_version(&data), Err(Error::NotACluster { .. })));
        fs::write(data.join("PG_VERSION"), "17\n").unwrap();
        assert_eq!(major_version(&data).unwrap(), Some(17));
    }
}
