//! The folders where PostgreSQL programs may be. It lists folders and never runs what is in them, except
//! `pg_config`, whose only use is to name one.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where packages put the programs; one `*` per path component, at most one per path.
const USUAL: &[&str] = &[
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/lib/postgresql*/bin",
    "/usr/libexec/postgresql*",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
];

/// The places to search.
#[derive(Debug)]
pub(crate) struct Places {
    /// The folder the user named; then it is the only one.
    pub(crate) named: Option<PathBuf>,
    /// The value of `PATH`.
    pub(crate) path: Option<OsString>,
    /// Patterns of the usual folders.
    pub(crate) usual: Vec<String>,
}

impl Places {
    /// The places of this machine, or only the named one.
    pub(crate) fn of_this_machine(named: Option<&Path>) -> Self {
        let usual = USUAL.iter().map(|&pattern| pattern.into()).collect();
        Self { named: named.map(Path::to_owned), path: env::var_os("PATH"), usual }
    }

    /// The folders the user points at, by name or through `PATH`.
    pub(crate) fn pointed_at(&self) -> Vec<PathBuf> {
        if let Some(named) = &self.named {
            return vec![named.clone()];
        }
        let path = self.path.clone().unwrap_or_default();
        let in_path: Vec<PathBuf> = env::split_paths(&path).collect();
        let initdbs = in_path.iter().filter_map(|dir| real_folder_of(&dir.join("initdb")));
        let config = in_path.iter().map(|dir| dir.join("pg_config")).find(|program| program.is_file());
        initdbs.chain(config.and_then(|program| bindir(&program))).collect()
    }

    /// The folders that match the usual patterns; none when the user named one.
    pub(crate) fn usual(&self) -> Vec<PathBuf> {
        match &self.named {
            Some(_) => Vec::new(),
            None => self.usual.iter().flat_map(|pattern| expand(pattern)).collect(),
        }
    }

    /// The places in words.
    pub(crate) fn described(&self) -> Vec<String> {
        if let Some(named) = &self.named {
            return vec![format!("\"{}\" (named by bin_dir or WONCE_PG_BIN)", named.display())];
        }
        let path = self.path.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        let mut all = vec![format!("PATH ({path})")];
        all.extend(self.usual.iter().cloned());
        all
    }
}

/// A program in `PATH` is often a link; the server looks for its files next to the real one.
fn real_folder_of(program: &Path) -> Option<PathBuf> {
    program.canonicalize().ok()?.parent().map(Path::to_owned)
}

fn bindir(pg_config: &Path) -> Option<PathBuf> {
    let output = Command::new(pg_config).arg("--bindir").stdin(Stdio::null()).output().ok()?;
    let dir = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(dir.trim()))
}

/// The folders that match a pattern with one `*` inside one component.
fn expand(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else { return vec![pattern.into()] };
    let (parent, prefix) = before.rsplit_once('/').unwrap_or((".", before));
    let (suffix, rest) = after.split_once('/').unwrap_or((after, ""));
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let matching = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        name.to_str().is_some_and(|name| name.starts_with(prefix) && name.ends_with(suffix))
    });
    matching.map(|entry| entry.path().join(rest)).filter(|dir| dir.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_within_one_component() {
        let root = tempfile::tempdir().unwrap();
        for dir in ["pgsql-16/bin", "pgsql-17/bin", "other/bin", "pgsql-18/lib"] {
            fs::create_dir_all(root.path().join(dir)).unwrap();
        }
        let mut found = expand(&format!("{}/pgsql-*/bin", root.path().display()));
        found.sort();
        assert_eq!(found, [root.path().join("pgsql-16/bin"), root.path().join("pgsql-17/bin")]);
    }

    #[test]
    fn a_star_at_the_end_matches_whole_folders() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("postgresql16")).unwrap();
        let found = expand(&format!("{}/postgresql*", root.path().display()));
        assert_eq!(found, [root.path().join("postgresql16")]);
    }
}
