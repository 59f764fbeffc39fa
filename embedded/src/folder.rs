//! The layout of the folder that belongs to one cluster, and whether another account can reach it. It never
//! knows what the files contain and never touches a folder above the one it was given.
//!
//! ```text
//! <dir>/            0711: the server's account passes through, and cannot list it
//!   lock            held (flock) by the one wonce that owns the server
//!   password        0600, of the server's account: the superuser's password
//!   port            the port of the last start, taken again when it is free
//!   postgres.log    what the server wrote, bounded; postgres.log.1 is the part before
//!   data/           the cluster itself
//!   data.new/       a cluster that initdb has not finished; removed at the next start
//! ```

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::user::User;

/// The mode of a folder made here: everybody may pass, only the owner may look.
const PASSABLE: u32 = 0o711;

/// Why the cluster's folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder could not be made or opened.
    #[error("cannot prepare the database folder \"{}\"; choose another one with data_dir", dir.display())]
    Prepare {
        /// The folder.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The server's account cannot pass a folder on the way.
    #[error(
        "the user \"{user}\", who must run PostgreSQL because root may not, cannot pass the folder \"{}\" on the \
         way to \"{}\"; choose another folder, for example data_dir = \"/var/lib/wonce\", or open this one with \
         `chmod o+x {}`",
        closed.display(), wanted.display(), closed.display()
    )]
    Closed {
        /// The account.
        user: String,
        /// The folder without the execute bit for that account.
        closed: PathBuf,
        /// The folder that was to be reached.
        wanted: PathBuf,
    },
}

/// The folder of one cluster; the path is absolute and free of symbolic links.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    dir: PathBuf,
}

impl Folder {
    /// Makes the folder when it is missing. An existing folder keeps its mode unless it is empty.
    pub(crate) fn prepare(dir: &Path) -> Result<Self, Error> {
        let prepared = create(dir).and_then(|()| open_if_empty(dir)).and_then(|()| dir.canonicalize());
        prepared.map(|dir| Self { dir }).map_err(|source| Error::Prepare { dir: dir.to_owned(), source })
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    pub(crate) fn unfinished_data(&self) -> PathBuf {
        self.dir.join("data.new")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.dir.join("lock")
    }

    pub(crate) fn password(&self) -> PathBuf {
        self.dir.join("password")
    }

    pub(crate) fn port(&self) -> PathBuf {
        self.dir.join("port")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.dir.join("postgres.log")
    }
}

/// Fails with the first folder on the way to `wanted` that `user` cannot pass. Access lists are not looked at.
pub(crate) fn check_passable(wanted: &Path, user: &User) -> Result<(), Error> {
    let real = wanted.canonicalize().unwrap_or_else(|_| wanted.to_owned());
    let mut from_the_top: Vec<&Path> = real.ancestors().collect();
    from_the_top.reverse();
    for closed in from_the_top {
        let meta =
            fs::metadata(closed).map_err(|source| Error::Prepare { dir: closed.to_owned(), source })?;
        if !may_pass(&meta, user) {
            let (closed, wanted) = (closed.to_owned(), wanted.to_owned());
            return Err(Error::Closed { user: user.name.clone(), closed, wanted });
        }
    }
    Ok(())
}

fn may_pass(meta: &fs::Metadata, user: &User) -> bool {
    let bit = if meta.uid() == user.uid {
        0o100
    } else if meta.gid() == user.gid {
        0o010
    } else {
        0o001
    };
    meta.mode() & bit != 0
}

/// Like `create_dir_all`, but with a mode that a strict umask does not narrow.
fn create(dir: &Path) -> io::Result<()> {
    if dir.as_os_str().is_empty() || dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = dir.parent() {
        create(parent)?;
    }
    match fs::create_dir(dir) {
        Ok(()) => fs::set_permissions(dir, Permissions::from_mode(PASSABLE)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// A fresh temporary folder may be 0700; while one is empty, opening it shows nobody anything.
fn open_if_empty(dir: &Path) -> io::Result<()> {
    let mode = fs::metadata(dir)?.mode();
    let closed = mode & PASSABLE != PASSABLE;
    if rustix::process::geteuid().is_root() && closed && fs::read_dir(dir)?.next().is_none() {
        fs::set_permissions(dir, Permissions::from_mode(mode | PASSABLE))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stranger() -> User {
        User { name: "stranger".into(), uid: 4_000_000, gid: 4_000_000 }
    }

    fn private_folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
        dir
    }

    #[test]
    fn a_folder_closed_to_the_account_is_named() {
        let outer = private_folder();
        let inner = outer.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let error = check_passable(&inner, &stranger()).unwrap_err().to_string();
        let closed = outer.path().canonicalize().unwrap();
        assert!(error.contains(&format!("cannot pass the folder \"{}\"", closed.display())), "{error}");
        assert!(error.contains("data_dir"), "{error}");
    }

    #[test]
    fn the_owner_of_a_closed_folder_passes_it() {
        let outer = private_folder();
        let meta = fs::metadata(outer.path()).unwrap();
        assert!(may_pass(&meta, &User { name: "owner".into(), uid: meta.uid(), gid: meta.gid() }));
        assert!(!may_pass(&meta, &stranger()));
    }

    #[test]
    fn a_new_folder_can_be_passed_by_everybody() {
        let outer = private_folder();
        let folder = Folder::prepare(&outer.path().join("a/b")).unwrap();
        assert_eq!(fs::metadata(folder.dir()).unwrap().mode() & 0o777, PASSABLE);
        assert_eq!(fs::metadata(folder.dir().parent().unwrap()).unwrap().mode() & 0o777, PASSABLE);
    }

    #[test]
    fn a_folder_that_holds_something_keeps_its_mode() {
        let outer = private_folder();
        fs::write(outer.path().join("diary"), "mine").unwrap();
        Folder::prepare(outer.path()).unwrap();
        assert_eq!(fs::metadata(outer.path()).unwrap().mode() & 0o777, 0o700);
    }
}
