//! A small typed reader of one table: it asks for keys by name and type, records what is
//! wrong and reports every key that nobody asked for. A refused value becomes its default,
//! so that one pass finds every mistake. Knows no key's meaning.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::document::KeyPath;
use super::report::Complaint;
use super::suggest;
use super::value::Value;
use super::walk::Walk;

/// One table of the document, or one that could be there and is not.
#[derive(Debug)]
pub(crate) struct Reader<'w, 't> {
    pub(crate) walk: &'w mut Walk<'t>,
    path: KeyPath,
    table: DeTable<'t>,
    asked: BTreeSet<String>,
}

impl<'w, 't> Reader<'w, 't> {
    pub(crate) fn at(walk: &'w mut Walk<'t>, path: KeyPath, table: DeTable<'t>) -> Self {
        Self { walk, path, table, asked: BTreeSet::new() }
    }

    /// Runs `read` and then complains of every key it did not ask for.
    pub(crate) fn done<T>(mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let value = read(&mut self);
        let Self { walk, path, table, asked } = self;
        for key in table.keys().map(|key| key.get_ref()).filter(|key| !asked.contains(key.as_ref())) {
            let known = || asked.iter().map(String::as_str);
            let remedy = match suggest::nearest(key, known()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("remove it; known here: {}", known().collect::<Vec<_>>().join(", ")),
            };
            walk.complain(&path.name(key), Complaint::new("there is no such key", remedy));
        }
        value
    }

    /// Runs `read` and says nothing of keys that it did not ask for.
    pub(crate) fn only<T>(mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        read(&mut self)
    }

    /// Whether the key has a value, good or bad, from the file or from outside.
    pub(crate) fn given(&self, key: &str) -> bool {
        self.table.contains_key(key) || self.walk.is_overridden(&self.path(key))
    }

    pub(crate) fn path(&self, key: &str) -> KeyPath {
        self.path.name(key)
    }

    pub(crate) fn complain(&mut self, key: &str, reason: impl Into<String>, remedy: impl Into<String>) {
        let path = self.path(key);
        self.walk.complain(&path, Complaint::new(reason, remedy));
    }

    /// Complains of a key that was once one, and of nothing else about it.
    pub(crate) fn refuse(&mut self, key: &str, reason: impl Into<String>, remedy: impl Into<String>) {
        self.asked.insert(key.to_owned());
        self.complain(key, reason, remedy);
    }

    /// Complains of the table itself.
    pub(crate) fn complain_here(&mut self, reason: impl Into<String>, remedy: impl Into<String>) {
        let path = self.path.clone();
        self.walk.complain(&path, Complaint::new(reason, remedy));
    }

    /// The key's value through `parse`; nothing if it is not given or was complained of.
    pub(crate) fn scalar<T>(
        &mut self,
        key: &str,
        parse: impl FnOnce(&Value) -> Result<T, Complaint>,
    ) -> Option<T> {
        self.asked.insert(key.to_owned());
        let path = self.path(key);
        let value = match self.walk.override_of(&path) {
            Some(outside) => Value::Outside(outside.text),
            None => Value::from(self.table.get(key)?.get_ref()),
        };
        match parse(&value) {
            Ok(value) => Some(value),
            Err(complaint) => {
                self.walk.complain(&path, complaint);
                None
            }
        }
    }

    pub(crate) fn text(&mut self, key: &str) -> Option<String> {
        self.parsed(key, |text| Ok(text.to_owned()))
    }

    /// Text that must be there and parse.
    pub(crate) fn required<T>(
        &mut self,
        key: &str,
        remedy: &str,
        parse: impl FnOnce(&str) -> Result<T, Complaint>,
    ) -> Option<T> {
        let mut given = false;
        let value = self.scalar(key, |value| {
            given = true;
            value.text().and_then(parse)
        });
        if !given {
            self.complain(key, "it is missing", remedy);
        }
        value
    }

    pub(crate) fn parsed<T>(
        &mut self,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, Complaint>,
    ) -> Option<T> {
        self.scalar(key, |value| value.text().and_then(parse))
    }

    pub(crate) fn boolean(&mut self, key: &str, default: bool) -> bool {
        self.scalar(key, Value::boolean).unwrap_or(default)
    }

    pub(crate) fn integer(&mut self, key: &str, range: RangeInclusive<u64>) -> Option<u64> {
        self.scalar(key, |value| value.integer(&range))
    }

    pub(crate) fn count(&mut self, key: &str, range: RangeInclusive<u32>, default: u32) -> u32 {
        let wide = u64::from(*range.start())..=u64::from(*range.end());
        self.integer(key, wide).and_then(|number| u32::try_from(number).ok()).unwrap_or(default)
    }

    pub(crate) fn float(&mut self, key: &str, range: RangeInclusive<f64>, default: f64) -> f64 {
        self.scalar(key, |value| value.float(&range)).unwrap_or(default)
    }

    pub(crate) fn duration(
        &mut self,
        key: &str,
        range: RangeInclusive<Duration>,
        default: Duration,
    ) -> Duration {
        self.scalar(key, |value| value.duration(&range)).unwrap_or(default)
    }

    pub(crate) fn size(&mut self, key: &str, range: RangeInclusive<u64>, default: u64) -> u64 {
        self.scalar(key, |value| value.size(&range)).unwrap_or(default)
    }

    /// One word of a closed set.
    pub(crate) fn choice<T: Copy>(&mut self, key: &str, choices: &[(&str, T)], default: T) -> T {
        self.parsed(key, |text| choose(text, choices)).unwrap_or(default)
    }

    /// A path; a relative one starts at the file's directory.
    pub(crate) fn file_path(&mut self, key: &str) -> Option<PathBuf> {
        let text = self.text(key)?;
        Some(self.walk.resolve(&text))
    }

    /// An array of text.
    pub(crate) fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        self.asked.insert(key.to_owned());
        let path = self.path(key);
        self.walk.ask(&path);
        let items = match self.table.get(key)?.get_ref() {
            DeValue::Array(items) => items.clone(),
            other => {
                let reason = format!("this must be an array of text, and it is {}", kind(other));
                self.walk.complain(&path, Complaint::new(reason, "write [\"…\", \"…\"]"));
                return None;
            }
        };
        let mut texts = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match Value::from(item.get_ref()).text() {
                Ok(text) => texts.push(text.to_owned()),
                Err(complaint) => self.walk.complain(&path.index(index), complaint),
            }
        }
        Some(texts)
    }

    /// A table of text under names of the user's choice.
    pub(crate) fn map(&mut self, key: &str) -> BTreeMap<String, String> {
        self.section(key, |table| {
            let names: Vec<String> = table.names();
            names.into_iter().filter_map(|name| Some((name.clone(), table.text(&name)?))).collect()
        })
    }

    /// Says nothing of the other keys of this table.
    pub(crate) fn ask_all(&mut self) {
        self.asked.extend(self.names());
    }

    /// The keys that the file gives here.
    pub(crate) fn names(&self) -> Vec<String> {
        self.table.keys().map(|key| key.get_ref().to_string()).collect()
    }

    /// A table inside this one; an empty one if it is not there.
    pub(crate) fn section<T>(&mut self, key: &str, read: impl FnOnce(&mut Reader<'_, 't>) -> T) -> T {
        self.asked.insert(key.to_owned());
        let path = self.path(key);
        let broken = match self.table.get(key).map(Spanned::get_ref) {
            Some(DeValue::Table(table)) => return Reader::at(self.walk, path, table.clone()).done(read),
            None => return Reader::at(self.walk, path, DeTable::new()).done(read),
            Some(other) => format!("this must be a table, and it is {}", kind(other)),
        };
        let remedy = format!("write [{path}] and its keys below");
        self.walk.complain(&path, Complaint::new(broken, remedy));
        // What is missing inside is a consequence, not a mistake of its own.
        let mistakes = self.walk.problems.len();
        let value = Reader::at(self.walk, path, DeTable::new()).done(read);
        self.walk.problems.truncate(mistakes);
        value
    }

    /// Tables under names of the user's choice, e.g. `[sinks.billing]`.
    pub(crate) fn named<T>(
        &mut self,
        key: &str,
        mut read: impl FnMut(&mut Reader<'_, 't>, &str) -> T,
    ) -> BTreeMap<String, T> {
        self.section(key, |tables| {
            let names = tables.names();
            names
                .into_iter()
                .map(|name| {
                    let value = tables.section(&name, |table| read(table, &name));
                    (name, value)
                })
                .collect()
        })
    }

    /// An array of tables, e.g. `[[subscription]]`.
    pub(crate) fn each<T>(&mut self, key: &str, mut read: impl FnMut(&mut Reader<'_, 't>) -> T) -> Vec<T> {
        self.asked.insert(key.to_owned());
        let path = self.path(key);
        let items = match self.table.get(key).map(Spanned::get_ref) {
            Some(DeValue::Array(items)) => items.clone(),
            Some(other) => {
                let reason = format!("this must be an array of tables, and it is {}", kind(other));
                self.walk
                    .complain(&path, Complaint::new(reason, format!("write [[{path}]] and its keys below")));
                return Vec::new();
            }
            None => return Vec::new(),
        };
        let mut values = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = path.index(index);
            match item.get_ref() {
                DeValue::Table(table) => {
                    values.push(Reader::at(self.walk, path, table.clone()).done(&mut read));
                }
                other => {
                    let reason = format!("this must be a table, and it is {}", kind(other));
                    self.walk.complain(&path, Complaint::new(reason, "write { key = value, … }"));
                }
            }
        }
        values
    }
}

/// The choice that `text` names.
pub(crate) fn choose<T: Copy>(text: &str, choices: &[(&str, T)]) -> Result<T, Complaint> {
    if let Some((_, choice)) = choices.iter().find(|(word, _)| *word == text) {
        return Ok(*choice);
    }
    let words: Vec<String> = choices.iter().map(|(word, _)| format!("\"{word}\"")).collect();
    let remedy = match suggest::nearest(text, choices.iter().map(|(word, _)| *word)) {
        Some(near) => format!("did you mean \"{near}\"? The choices are {}", words.join(", ")),
        None => format!("choose one of {}", words.join(", ")),
    };
    Err(Complaint::new(format!("\"{text}\" is not a choice here"), remedy))
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
