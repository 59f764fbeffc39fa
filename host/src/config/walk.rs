//! One pass over one document: where mistakes are collected and places are looked up. Knows
//! nothing of types (that is the reader's) nor of what any key means.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::document::{Document, KeyPath};
use super::environment::{Origin, Override, Overrides};
use super::reader::Reader;
use super::report::{Complaint, Problem};

/// The document, what overrides it, and what was found wrong so far.
#[derive(Debug)]
pub(crate) struct Walk<'t> {
    document: Document<'t>,
    overrides: Option<Overrides>,
    /// Relative paths start here.
    base: PathBuf,
    origins: BTreeMap<String, Origin>,
    asked: BTreeSet<String>,
    pub(crate) problems: Vec<Problem>,
}

impl<'t> Walk<'t> {
    pub(crate) fn new(document: Document<'t>, overrides: Option<Overrides>, base: &Path) -> Self {
        Self {
            document,
            overrides,
            base: base.to_owned(),
            origins: BTreeMap::new(),
            asked: BTreeSet::new(),
            problems: Vec::new(),
        }
    }

    /// Reads the whole document; what `read` does not ask for is an unknown key, or an
    /// unknown variable.
    pub(crate) fn read<T>(&mut self, read: impl FnOnce(&mut Reader<'_, 't>) -> T) -> T {
        let table = self.document.table.clone();
        let value = Reader::at(self, KeyPath::default(), table).done(read);
        let unknown = self.overrides.as_ref().map(Overrides::unknown_variables).unwrap_or_default();
        self.problems.extend(unknown);
        value
    }

    /// Reads one section of the document and says nothing of the others.
    pub(crate) fn read_one<T>(&mut self, key: &str, read: impl FnOnce(&mut Reader<'_, 't>) -> T) -> T {
        self.read_all(|root| root.section(key, read))
    }

    /// Reads some of the document's tables and says nothing of the others.
    pub(crate) fn read_all<T>(&mut self, read: impl FnOnce(&mut Reader<'_, 't>) -> T) -> T {
        let table = self.document.table.clone();
        Reader::at(self, KeyPath::default(), table).only(read)
    }

    /// The value from outside the file that a key is to have instead of the file's.
    pub(crate) fn override_of(&mut self, path: &KeyPath) -> Option<Override> {
        self.ask(path);
        let found = self.overrides.as_mut()?.find(path)?;
        self.origins.insert(path.to_string(), found.origin.clone());
        Some(found)
    }

    pub(crate) fn is_overridden(&self, path: &KeyPath) -> bool {
        self.origins.contains_key(&path.to_string())
    }

    /// Notes that somebody looked for this key.
    pub(crate) fn ask(&mut self, path: &KeyPath) {
        self.asked.insert(path.to_string());
    }

    /// An environment variable that a value refers to.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.overrides.as_ref()?.env.get(name)
    }

    pub(crate) fn resolve(&self, path: &str) -> PathBuf {
        self.base.join(path)
    }

    /// Whether the file has this key.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.document.has(names)
    }

    /// Records that the value of `path` will not do, wherever it came from.
    pub(crate) fn complain(&mut self, path: &KeyPath, complaint: Complaint) {
        let key = path.to_string();
        let (file, key) = match self.origins.get(&key) {
            Some(Origin::Variable(name)) => ("environment".to_owned(), format!("{name} ({key})")),
            Some(Origin::Flag(flag)) => ("command line".to_owned(), format!("{flag} ({key})")),
            None => (self.document.file.clone(), key),
        };
        let line = if file == self.document.file { self.document.line(path) } else { None };
        let Complaint { reason, remedy } = complaint;
        self.problems.push(Problem { file, line, key, reason, remedy });
    }

    /// Records that a variable that is no key's own will not do.
    pub(crate) fn complain_variable(&mut self, name: &str, complaint: Complaint) {
        let Complaint { reason, remedy } = complaint;
        let file = "environment".to_owned();
        self.problems.push(Problem { file, line: None, key: name.to_owned(), reason, remedy });
    }

    /// Every key that was asked for, dotted. The example file must have them all.
    #[cfg(test)]
    pub(crate) fn asked(&self) -> &BTreeSet<String> {
        &self.asked
    }
}
