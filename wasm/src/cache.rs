//! Compiled code on disk, keyed by the component's digest and the engine's compatibility
//! hash. Knows nothing of what the code does, and trusts only what this host's user wrote.
//!
//! A file is a tag, a SHA-256 over the component's digest and the rest, and wasmtime's serialized
//! artefact. The hash finds torn and rotten files, and those of another component, whose code must
//! never run in this one's place; it is no defence against someone who can write here, which is why
//! the directory must belong to the host's user alone.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use wonce_core::digest::hex;

const TAG: &[u8; 8] = b"wonce-c2";
const DIGEST_BYTES: usize = 32;
/// Nobody but the owner may do anything with a file or the directory.
const OTHERS: u32 = 0o077;
/// A larger file is not read: no component of the allowed size compiles to it.
const MAX_FILE_BYTES: u64 = 1 << 30;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("the file system refused: {0}")]
    Io(#[from] io::Error),
    #[error("it is open to other users (mode {mode:o}); run `chmod 700` on it or name another directory")]
    Open { mode: u32 },
    #[error(
        "it belongs to user {owner} and this host runs as user {user}; name a directory of the host's own"
    )]
    Foreign { owner: u32, user: u32 },
    #[error("it is not a directory; name another")]
    NotADirectory,
    #[error("the file is torn, changed, or another component's")]
    Torn,
    #[error("wasmtime does not accept the compiled code: {0}")]
    Unfit(String),
}

/// A directory of compiled components.
#[derive(Debug)]
pub(crate) struct Cache {
    dir: PathBuf,
    engine_hash: u64,
    /// Tells this cache's temporary files from those of every other: neither the process id (each
    /// container has a process 1) nor a count (a process may run several hosts) does.
    nonce: u64,
    next_temporary: AtomicU64,
}

impl Cache {
    /// Creates the directory if need be and checks that it is the host's own.
    pub(crate) fn open(dir: PathBuf, engine: &Engine) -> Result<Self, Error> {
        DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        let metadata = fs::metadata(&dir)?;
        if !metadata.is_dir() {
            return Err(Error::NotADirectory);
        }
        check_owner(&metadata)?;
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Ok(Self {
            dir,
            engine_hash: hasher.finish(),
            nonce: RandomState::new().build_hasher().finish(),
            next_temporary: AtomicU64::new(0),
        })
    }

    /// The compiled component, if a sound file of it is there.
    pub(crate) fn load(
        &self,
        engine: &Engine,
        digest: &[u8; DIGEST_BYTES],
    ) -> Result<Option<Component>, Error> {
        let path = self.path(digest);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        check_owner(&file.metadata()?)?;
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
        deserialize(engine, checked(&bytes, digest)?).map(Some)
    }

    /// Keeps the compiled component. Another host may do the same at the same time: the last
    /// rename wins and both files are whole.
    pub(crate) fn store(&self, digest: &[u8; DIGEST_BYTES], component: &Component) -> Result<(), Error> {
        let artefact = component.serialize().map_err(|error| Error::Unfit(format!("{error:#}")))?;
        let temporary = self.temporary();
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        // From here on the file is ours to remove.
        let written = write(file, digest, &artefact).and_then(|()| fs::rename(&temporary, self.path(digest)));
        if written.is_err() {
            // The write's own error says more than a failure to clean up after it would.
            let _ = fs::remove_file(&temporary);
        }
        Ok(written?)
    }

    /// A name that nobody else writes to.
    fn temporary(&self) -> PathBuf {
        let number = self.next_temporary.fetch_add(1, Ordering::Relaxed);
        self.dir.join(format!(".{}-{:016x}-{number}.tmp", std::process::id(), self.nonce))
    }

    fn path(&self, digest: &[u8; DIGEST_BYTES]) -> PathBuf {
        self.dir.join(format!("{}-{:016x}.cwasm", hex(digest), self.engine_hash))
    }
}

fn check_owner(metadata: &fs::Metadata) -> Result<(), Error> {
    let (owner, user) = (metadata.uid(), rustix::process::geteuid().as_raw());
    if owner != user {
        return Err(Error::Foreign { owner, user });
    }
    match metadata.mode() & 0o7777 {
        mode if mode & OTHERS != 0 => Err(Error::Open { mode }),
        _ => Ok(()),
    }
}

fn checked<'a>(bytes: &'a [u8], component: &[u8; DIGEST_BYTES]) -> Result<&'a [u8], Error> {
    let rest = bytes.strip_prefix(TAG).ok_or(Error::Torn)?;
    let (hash, artefact) = rest.split_at_checked(DIGEST_BYTES).ok_or(Error::Torn)?;
    if hash == bound(component, artefact) { Ok(artefact) } else { Err(Error::Torn) }
}

/// The hash that binds compiled code to the component that it was compiled from.
fn bound(component: &[u8; DIGEST_BYTES], artefact: &[u8]) -> [u8; DIGEST_BYTES] {
    Sha256::new().chain_update(component).chain_update(artefact).finalize().into()
}

#[expect(
    unsafe_code,
    reason = "wasmtime cannot check compiled code; the caller vouches for where it came from"
)]
fn deserialize(engine: &Engine, artefact: &[u8]) -> Result<Component, Error> {
    // SAFETY: the bytes are in this process's memory and were hashed there, so they cannot
    // change any more. They came from a file that `check_owner` found to belong to this
    // host's user and to be closed to all others, in a directory of which the same holds;
    // only `store` writes there, and it writes what `Component::serialize` gave. Who can
    // forge such a file can already run code as this user. wasmtime itself refuses
    // artefacts of another version or configuration.
    let component = unsafe { Component::deserialize(engine, artefact) };
    component.map_err(|error| Error::Unfit(format!("{error:#}")))
}

fn write(mut file: File, component: &[u8; DIGEST_BYTES], artefact: &[u8]) -> io::Result<()> {
    file.write_all(TAG)?;
    file.write_all(&bound(component, artefact))?;
    file.write_all(artefact)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty component.
    const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";
    const OURS: [u8; DIGEST_BYTES] = [1; DIGEST_BYTES];
    const THEIRS: [u8; DIGEST_BYTES] = [2; DIGEST_BYTES];

    fn open(folder: &tempfile::TempDir, engine: &Engine) -> Cache {
        Cache::open(folder.path().join("compiled"), engine).expect("a folder of our own")
    }

    #[test]
    fn code_of_another_component_is_not_used() {
        let (folder, engine) = (tempfile::tempdir().expect("a folder"), Engine::default());
        let cache = open(&folder, &engine);
        let component = Component::new(&engine, EMPTY).expect("it compiles");
        cache.store(&OURS, &component).expect("it is kept");
        assert!(cache.load(&engine, &OURS).expect("it is sound").is_some());
        fs::copy(cache.path(&OURS), cache.path(&THEIRS)).expect("a copy");
        assert!(matches!(cache.load(&engine, &THEIRS), Err(Error::Torn)));
    }

    #[test]
    fn two_caches_of_one_folder_and_process_never_write_to_one_file() {
        let (folder, engine) = (tempfile::tempdir().expect("a folder"), Engine::default());
        let (left, right) = (open(&folder, &engine), open(&folder, &engine));
        assert_ne!(left.temporary(), right.temporary());
        assert_ne!(left.temporary(), left.temporary());
    }
}
