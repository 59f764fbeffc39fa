//! The lock that says which wonce owns the server of a folder. It is an `flock`, so the system frees it when its
//! holder dies in any way. It never knows whether a server runs.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Why the lock could be neither taken nor found taken.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot lock the database folder by \"{}\"; it may belong to another user: run wonce as that user or choose \
     another data_dir", path.display()
)]
pub struct Error {
    path: PathBuf,
    source: io::Error,
}

/// The lock, held until this value is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, or gives `None` when another wonce holds it.
    pub(crate) fn try_take(path: &Path) -> Result<Option<Self>, Error> {
        let failed = |source| Error { path: path.to_owned(), source };
        let mut open = OpenOptions::new();
        open.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = open.open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        sign(&file).map_err(failed)?;
        Ok(Some(Self { _file: file }))
    }
}

/// The holder's process id, as far as it was written; for messages only.
pub(crate) fn holder(path: &Path) -> String {
    let id = std::fs::read_to_string(path).unwrap_or_default();
    if id.trim().is_empty() { "unknown".into() } else { id.trim().into() }
}

fn sign(mut file: &File) -> io::Result<()> {
    file.set_len(0)?;
    writeln!(file, "{}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_taker_gets_it_only_after_the_first_let_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let first = Lock::try_take(&path).unwrap();
        assert!(first.is_some());
        assert!(Lock::try_take(&path).unwrap().is_none());
        assert_eq!(holder(&path), std::process::id().to_string());
        drop(first);
        assert!(Lock::try_take(&path).unwrap().is_some());
    }
}
