//! What a boot leaves in the data folder: an empty file with its id in the name, locked for as
//! long as its process lives. The system frees the lock in any death, so a file that can be
//! locked belongs to a boot that is over. Knows nothing of the database.

use std::fs::{self, File, TryLockError};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// Where the boots of one listening address of one data folder leave their files.
#[derive(Debug)]
pub(super) struct Place {
    folder: PathBuf,
    prefix: String,
}

/// A boot's file, locked until this value is dropped.
#[derive(Debug)]
pub(super) struct BootFile {
    path: PathBuf,
    boot: Uuid,
    _lock: File,
}

impl Place {
    pub(super) fn new(data_dir: &Path, listen: SocketAddr) -> Self {
        let address = listen.to_string().replace([':', '[', ']'], "-");
        Self { folder: data_dir.to_owned(), prefix: format!("boot-{address}.") }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The boots that are over and that nobody else has asked about.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    pub(super) fn ended(&self) -> io::Result<Vec<BootFile>> {
        fs::create_dir_all(&self.folder)?;
        let mut ended = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.strip_prefix(&self.prefix));
            let Some(boot) = id.and_then(|id| id.parse().ok()) else { continue };
            if let Some(file) = BootFile::of_ended(entry.path(), boot)? {
                ended.push(file);
            }
        }
        Ok(ended)
    }

    /// Leaves the file of a living boot. It has its name only when it is locked, so that nobody
    /// takes it for one that is over.
    ///
    /// # Errors
    /// When the file cannot be written or locked.
    pub(super) fn leave(&self, boot: Uuid) -> io::Result<BootFile> {
        let unnamed = self.folder.join(format!(".new-{}{boot}", self.prefix));
        let lock = File::create(&unnamed)?;
        lock.try_lock()?;
        let path = self.folder.join(format!("{}{boot}", self.prefix));
        fs::rename(&unnamed, &path)?;
        Ok(BootFile { path, boot, _lock: lock })
    }
}

impl BootFile {
    fn of_ended(path: PathBuf, boot: Uuid) -> io::Result<Option<Self>> {
        let lock = match File::open(&path) {
            Ok(file) => file,
            // Another host that starts just now was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { path, boot, _lock: lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    pub(super) fn boot(&self) -> Uuid {
        self.boot
    }

    /// Forgets a boot that is over. A file that cannot be removed is asked about once more.
    pub(super) fn remove(self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(file = %self.path.display(), error = %error, "the file of an ended boot stays");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(files: &[BootFile]) -> Vec<Uuid> {
        let mut ids: Vec<Uuid> = files.iter().map(BootFile::boot).collect();
        ids.sort();
        ids
    }

    fn place(dir: &Path, listen: &str) -> Place {
        Place::new(dir, listen.parse().expect("an address"))
    }

    #[test]
    fn a_boot_is_over_when_its_process_is_and_not_before() {
        let dir = std::env::temp_dir().join(format!("wonce-boot-{}", Uuid::new_v4()));
        let place = place(&dir, "127.0.0.1:0");
        let [mut one, mut other] = [Uuid::new_v4(), Uuid::new_v4()];
        if other < one {
            (one, other) = (other, one);
        }
        assert!(place.ended().expect("a folder").is_empty());
        let first = place.leave(one).expect("a file");
        let second = place.leave(other).expect("a file");
        assert!(place.ended().expect("a folder").is_empty());
        drop(first);
        assert_eq!(ids(&place.ended().expect("a folder")), [one]);
        drop(second);
        let asked = place.ended().expect("a folder");
        assert_eq!(ids(&asked), [one, other]);
        assert!(place.ended().expect("a folder").is_empty(), "somebody asks about them already");
        for file in asked {
            file.remove();
        }
        assert!(place.ended().expect("a folder").is_empty());
        fs::remove_dir_all(&dir).expect("it was there");
    }

    #[test]
    fn hosts_of_another_address_are_not_asked_about() {
        let dir = std::env::temp_dir().join(format!("wonce-boot-{}", Uuid::new_v4()));
        drop(place(&dir, "127.0.0.1:8080").ended().expect("a folder"));
        let boot = Uuid::new_v4();
        drop(place(&dir, "127.0.0.1:8080").leave(boot).expect("a file"));
        for listen in ["127.0.0.1:0", "127.0.0.1:80", "127.0.0.1:808", "[::1]:8080"] {
            assert!(place(&dir, listen).ended().expect("a folder").is_empty(), "{listen}");
        }
        assert_eq!(ids(&place(&dir, "127.0.0.1:8080").ended().expect("a folder")), [boot]);
        fs::remove_dir_all(&dir).expect("it was there");
    }
}
