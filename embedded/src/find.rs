//! Finds the PostgreSQL programs on this machine: the folder that was named, else `PATH`, else the newest of the
//! places where packages put them. It downloads nothing and never knows what the programs are used for.

mod places;

use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) use places::Places;

/// The major versions a new cluster may have.
pub const SUPPORTED: RangeInclusive<u32> = 15..=18;

/// Why no PostgreSQL could be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is none in any of the places.
    #[error(
        "wonce needs PostgreSQL {} to {} and found none; it looked in: {}. Do one of these: set \
         DATABASE_URL=postgres://... to use a server you have; install one (`apt-get install postgresql`, \
         `dnf install postgresql-server`, `brew install postgresql@17`); or set WONCE_PG_BIN to the folder with \
         initdb and postgres", SUPPORTED.start(), SUPPORTED.end(), looked.join(", ")
    )]
    Nothing {
        /// The places, as a person would name them.
        looked: Vec<String>,
    },
    /// There are some, but none of a supported version.
    #[error(
        "wonce needs PostgreSQL {} to {} and found only {}; install another one, or set DATABASE_URL or \
         WONCE_PG_BIN", SUPPORTED.start(), SUPPORTED.end(), list(found)
    )]
    Unsupported {
        /// What was found.
        found: Vec<Installation>,
    },
    /// The existing cluster needs another version than there is.
    #[error(
        "the cluster in \"{}\" was made by PostgreSQL {wanted}, and this machine has only {}; install PostgreSQL \
         {wanted}, or set WONCE_PG_BIN to its folder, or choose another data_dir", data.display(), list(found)
    )]
    Mismatch {
        /// The cluster.
        data: PathBuf,
        /// Its major version.
        wanted: u32,
        /// What was found.
        found: Vec<Installation>,
    },
}

/// One installed PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The folder with `initdb` and `postgres`.
    pub bin: PathBuf,
    /// The major version.
    pub major: u32,
    /// The minor version, 0 for a pre-release.
    pub minor: u32,
}

impl fmt::Display for Installation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgreSQL {}.{} in \"{}\"", self.major, self.minor, self.bin.display())
    }
}

/// The existing cluster that the programs must fit.
#[derive(Debug)]
pub(crate) struct Existing<'a> {
    pub(crate) data: &'a Path,
    pub(crate) major: u32,
}

/// Chooses the installation: the first that fits an existing cluster, else the first supported one.
pub(crate) fn find(places: &Places, existing: Option<Existing<'_>>) -> Result<Installation, Error> {
    let found = installed(places);
    if found.is_empty() {
        return Err(Error::Nothing { looked: places.described() });
    }
    let fits = |installation: &&Installation| match &existing {
        Some(existing) => installation.major == existing.major,
        None => SUPPORTED.contains(&installation.major),
    };
    match (found.iter().find(fits).cloned(), existing) {
        (Some(installation), _) => Ok(installation),
        (None, Some(Existing { data, major })) => {
            Err(Error::Mismatch { data: data.to_owned(), wanted: major, found })
        }
        (None, None) => Err(Error::Unsupported { found }),
    }
}

/// All installations, best first: those the user points at in their order, then the others from new to old.
fn installed(places: &Places) -> Vec<Installation> {
    let mut found: Vec<Installation> = Vec::new();
    let add_new = |more: Vec<Installation>, found: &mut Vec<Installation>| {
        for installation in more {
            if found.iter().all(|known| known.bin != installation.bin) {
                found.push(installation);
            }
        }
    };
    add_new(places.pointed_at().iter().filter_map(|bin| inspect(bin)).collect(), &mut found);
    let mut usual: Vec<_> = places.usual().iter().filter_map(|bin| inspect(bin)).collect();
    usual.sort_by_key(|installation| std::cmp::Reverse((installation.major, installation.minor)));
    add_new(usual, &mut found);
    found
}

/// Asks the server program itself for its version; a folder that cannot answer is no installation.
fn inspect(bin: &Path) -> Option<Installation> {
    let bin = bin.canonicalize().ok()?;
    if !bin.join("initdb").is_file() {
        return None;
    }
    let asked = Command::new(bin.join("postgres")).arg("--version").stdin(Stdio::null()).output();
    match asked {
        Ok(output) if output.status.success() => {
            let (major, minor) = parse_version(&String::from_utf8_lossy(&output.stdout))?;
            Some(Installation { bin, major, minor })
        }
        Ok(output) => {
            tracing::warn!(bin = %bin.display(), status = %output.status, "passing over a PostgreSQL that fails");
            None
        }
        Err(error) => {
            tracing::warn!(bin = %bin.display(), %error, "passing over a PostgreSQL that does not run");
            None
        }
    }
}

/// Reads `postgres (PostgreSQL) 15.18 (Debian ...)` and `postgres (PostgreSQL) 18beta1`.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let number = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let digits = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    let minor = number[digits..].strip_prefix('.').and_then(|rest| rest.parse().ok()).unwrap_or(0);
    Some((number[..digits].parse().ok()?, minor))
}

fn list(found: &[Installation]) -> String {
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A folder with programs that answer `--version` like the real ones.
    fn install(root: &Path, version: &str) -> PathBuf {
        let bin = root.join(version).join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        for program in ["postgres", "initdb"] {
            let path = bin.join(program);
            std::fs::write(&path, format!("#!/bin/sh\necho '{program} (PostgreSQL) {version}'\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        bin.canonicalize().unwrap()
    }

    fn nowhere() -> Places {
        Places { named: None, path: None, usual: Vec::new() }
    }

    #[test]
    fn versions_are_read_from_what_the_server_prints() {
        assert_eq!(parse_version("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"), Some((15, 18)));
        assert_eq!(parse_version("postgres (PostgreSQL) 18beta1\n"), Some((18, 0)));
        assert_eq!(parse_version("no number"), None);
    }

    #[test]
    fn nothing_found_says_where_it_looked_and_what_to_do() {
        let places = Places {
            path: Some("/nowhere/bin".into()),
            usual: vec!["/nowhere/pg/*/bin".into()],
            ..nowhere()
        };
        let error = find(&places, None).unwrap_err().to_string();
        for part in [
            "/nowhere/pg/*/bin",
            "PATH",
            "DATABASE_URL",
            "apt-get install",
            "dnf install",
            "brew",
            "WONCE_PG_BIN",
        ] {
            assert!(error.contains(part), "no {part} in: {error}");
        }
    }

    #[test]
    fn the_newest_supported_version_wins_among_the_usual_places() {
        let root = tempfile::tempdir().unwrap();
        for version in ["15.9", "17.2", "17.10", "19.0"] {
            install(root.path(), version);
        }
        let places = Places { usual: vec![format!("{}/*/bin", root.path().display())], ..nowhere() };
        let found = find(&places, None).unwrap();
        assert_eq!((found.major, found.minor), (17, 10));
    }

    #[test]
    fn a_link_in_path_leads_to_the_real_folder_and_wins_over_newer_ones() {
        let root = tempfile::tempdir().unwrap();
        let old = install(root.path(), "15.9");
        install(root.path(), "18.1");
        let links = root.path().join("links");
        std::fs::create_dir(&links).unwrap();
        symlink(old.join("initdb"), links.join("initdb")).unwrap();
        let usual = vec![format!("{}/*/bin", root.path().display())];
        let found = find(&Places { path: Some(links.into()), usual, ..nowhere() }, None).unwrap();
        assert_eq!(found.bin, old);
    }

    #[test]
    fn an_existing_cluster_gets_its_own_version_or_an_error_naming_both() {
        let root = tempfile::tempdir().unwrap();
        install(root.path(), "15.9");
        install(root.path(), "18.1");
        let places = Places { usual: vec![format!("{}/*/bin", root.path().display())], ..nowhere() };
        let data = Path::new("/some/data");
        assert_eq!(find(&places, Some(Existing { data, major: 15 })).unwrap().minor, 9);
        let error = find(&places, Some(Existing { data, major: 16 })).unwrap_err().to_string();
        for part in ["\"/some/data\" was made by PostgreSQL 16", "PostgreSQL 18.1", "PostgreSQL 15.9"] {
            assert!(error.contains(part), "no {part} in: {error}");
        }
    }

    #[test]
    fn a_named_folder_is_the_only_place() {
        let root = tempfile::tempdir().unwrap();
        install(root.path(), "18.1");
        let usual = vec![format!("{}/*/bin", root.path().display())];
        let named = Some(install(root.path(), "14.2"));
        let error = find(&Places { named, usual, ..nowhere() }, None).unwrap_err().to_string();
        assert!(error.contains("found only PostgreSQL 14.2 in"), "{error}");
    }
}
