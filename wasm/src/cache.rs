//! Compiled code on disk, keyed by the component's digest and the engine's compatibility
//! hash. Knows nothing of what the code does, and trusts only what this host's user wrote.
//!
//! A file is a tag, the SHA-256 of the rest, and wasmtime's serialized artefact. The hash finds
//! torn and rotten files; it is no defence against someone who can write here, which is why
//! the directory must belong to the host's user alone.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::prepare::hex;

const TAG: &[u8; 8] = b"wonce-c1";
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
    #[error("the file is torn or changed")]
    Torn,
    #[error("wasmtime does not accept the compiled code: {0}")]
    Unfit(String),
}

/// A directory of compiled components.
#[derive(Debug)]
pub(crate) struct Cache {
    dir: PathBuf,
    engine_hash: u64,
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
        Ok(Self { dir, engine_hash: hasher.finish(), next_temporary: AtomicU64::new(0) })
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
        deserialize(engine, checked(&bytes)?).map(Some)
    }

    /// Keeps the compiled component. Another host may do the same at the same time: the last
    /// rename wins and both files are whole.
    pub(crate) fn store(&self, digest: &[u8; DIGEST_BYTES], component: &Component) -> Result<(), Error> {
        let artefact = component.serialize().map_err(|error| Error::Unfit(format!("{error:#}")))?;
        let number = self.next_temporary.fetch_add(1, Ordering::Relaxed);
        let temporary = self.dir.join(format!(".{}-{number}.tmp", std::process::id()));
        let written = write(&temporary, &artefact).and_then(|()| fs::rename(&temporary, self.path(digest)));
        if written.is_err() {
            // The write's own error says more than a failure to clean up after it would.
            let _ = fs::remove_file(&temporary);
        }
        Ok(written?)
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

fn checked(bytes: &[u8]) -> Result<&[u8], Error> {
    let rest = bytes.strip_prefix(TAG).ok_or(Error::Torn)?;
    let (digest, artefact) = rest.split_at_checked(DIGEST_BYTES).ok_or(Error::Torn)?;
    let actual: [u8; DIGEST_BYTES] = Sha256::digest(artefact).into();
    if digest == actual { Ok(artefact) } else { Err(Error::Torn) }
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

fn write(path: &Path, artefact: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(TAG)?;
    file.write_all(&Sha256::digest(artefact))?;
    file.write_all(artefact)?;
    file.sync_all()
}
