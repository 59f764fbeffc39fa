//! The superuser's password: made once, kept in a file that only the server's account can read, and never shown.
//! It never knows who connects with it.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, chown};
use std::path::{Path, PathBuf};

use rand::Rng;
use rand::distr::Alphanumeric;

use crate::user::RunAs;

/// 32 letters and digits are about 190 bits.
const LENGTH: usize = 32;

/// Why the password is not there.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be written.
    #[error("cannot write the database password to \"{}\"; check the folder's owner and free space", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It could not be read.
    #[error(
        "cannot read the password of the existing cluster from \"{}\"; put the file back, run wonce as the user \
         who made it, or choose another data_dir", path.display()
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A password that does not print itself.
#[derive(Clone)]
pub(crate) struct Password(String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

impl Password {
    /// The text itself, for a connection.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        match fs::read_to_string(path) {
            Ok(text) => Ok(Self(text.trim().into())),
            Err(source) => Err(Error::Read { path: path.to_owned(), source }),
        }
    }
}

/// Writes a new random password; the file then belongs to the server's account, whose `initdb` reads it.
pub(crate) fn write_new(path: &Path, run_as: &RunAs) -> Result<(), Error> {
    let text: String = rand::rng().sample_iter(Alphanumeric).take(LENGTH).map(char::from).collect();
    write(path, &text, run_as).map_err(|source| Error::Write { path: path.to_owned(), source })
}

/// The file is made anew: one left by an unfinished start may belong to somebody else.
fn write(path: &Path, text: &str, run_as: &RunAs) -> io::Result<()> {
    match fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    match run_as {
        RunAs::Myself => Ok(()),
        RunAs::Other(user) => chown(path, Some(user.uid), Some(user.gid)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_password_is_private_random_and_hidden() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("password");
        write_new(&path, &RunAs::Myself).unwrap();
        let first = Password::read(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(first.reveal().len(), LENGTH);
        assert!(!format!("{first:?}").contains(first.reveal()));
        write_new(&path, &RunAs::Myself).unwrap();
        assert_ne!(Password::read(&path).unwrap().reveal(), first.reveal());
    }
}
