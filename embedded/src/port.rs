//! The server's port: the one of the last start when it is free, else any free one, remembered for the next
//! start. It never knows whether a server listens there.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

/// Why no port could be chosen.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no free one.
    #[error(
        "cannot find a free port on 127.0.0.1 for the database server; check that the loopback network is up"
    )]
    NoneFree(#[source] io::Error),
    /// It could not be remembered.
    #[error("cannot write the server's port to \"{}\"; check the owner and the free space of the folder", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Which port a start may take.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted {
    /// The remembered one, else any.
    Any,
    /// Clients already know this one.
    Exactly(u16),
}

/// Chooses a port and remembers it in `file`. Somebody may take it before the server does; then the server
/// says so and the caller chooses again.
pub(crate) fn choose(wanted: Wanted, file: &Path) -> Result<u16, Error> {
    let port = match wanted {
        Wanted::Exactly(port) => port,
        Wanted::Any => free_port(remembered(file))?,
    };
    fs::write(file, format!("{port}\n")).map_err(|source| Error::Write { path: file.to_owned(), source })?;
    Ok(port)
}

fn remembered(file: &Path) -> Option<u16> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn free_port(preferred: Option<u16>) -> Result<u16, Error> {
    let bind = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let preferred = preferred.and_then(|port| bind(port).ok());
    let listener = preferred.map_or_else(|| bind(0), Ok);
    listener.and_then(|listener| listener.local_addr()).map(|address| address.port()).map_err(Error::NoneFree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_port_is_kept_and_a_taken_one_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("port");
        let first = choose(Wanted::Any, &file).unwrap();
        assert_eq!(choose(Wanted::Any, &file).unwrap(), first);
        let squatter = TcpListener::bind((Ipv4Addr::LOCALHOST, first)).unwrap();
        let second = choose(Wanted::Any, &file).unwrap();
        assert_ne!(second, first);
        drop(squatter);
        assert_eq!(remembered(&file), Some(second));
    }
}
