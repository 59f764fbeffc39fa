//! One TOML text with its places: which line a key stands on. Knows nothing of which keys
//! there should be.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::report::Problem;

/// One step on the way to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    Name(String),
    /// A place in an array, from 0.
    Index(usize),
}

/// The way to a key, e.g. `sinks.billing.url` or `subscription[0].types`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct KeyPath(pub(crate) Vec<Segment>);

impl KeyPath {
    pub(crate) fn of(names: &[&str]) -> Self {
        Self(names.iter().map(|name| Segment::Name((*name).to_owned())).collect())
    }

    pub(crate) fn name(&self, name: &str) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Name(name.to_owned()));
        path
    }

    pub(crate) fn index(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Index(index));
        path
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Name(name) => {
                    let dot = if place == 0 { "" } else { "." };
                    let bare = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
                    if !name.is_empty() && name.bytes().all(bare) {
                        write!(f, "{dot}{name}")?;
                    } else {
                        write!(f, "{dot}{name:?}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A parsed text that still knows where everything stands.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    /// The file's path as it was given, for reports.
    pub(crate) file: String,
    text: &'t str,
    pub(crate) table: DeTable<'t>,
}

impl<'t> Document<'t> {
    /// Parses the text, or says at which line and column it stops being TOML.
    pub(crate) fn parse(file: &str, text: &'t str) -> Result<Self, Problem> {
        match DeTable::parse(text) {
            Ok(table) => Ok(Self { file: file.to_owned(), text, table: table.into_inner() }),
            Err(error) => Err(syntax_problem(file, text, &error)),
        }
    }

    /// The line of a key, or of the nearest table above it that is written down.
    pub(crate) fn line(&self, path: &KeyPath) -> Option<usize> {
        let mut found: Option<Range<usize>> = None;
        let mut here = Here::Table(&self.table);
        for segment in &path.0 {
            let (span, value) = match (here, segment) {
                (Here::Table(table), Segment::Name(name)) => match table.get_key_value(name.as_str()) {
                    Some((key, value)) => (key.span(), value),
                    None => break,
                },
                (Here::Array(items), Segment::Index(index)) => match items.get(*index) {
                    Some(value) => (value.span(), value),
                    None => break,
                },
                (Here::Table(_) | Here::Array(_) | Here::Leaf, _) => break,
            };
            found = Some(span);
            here = Here::from(value);
        }
        found.map(|span| line_column(self.text, span.start).0)
    }

    /// Whether the key is written down in this text.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        let mut table = Some(&self.table);
        for (place, name) in names.iter().enumerate() {
            match table.and_then(|t| t.get(*name)).map(Spanned::get_ref) {
                Some(DeValue::Table(inner)) => table = Some(inner),
                Some(_) => return place + 1 == names.len(),
                None => return false,
            }
        }
        true
    }
}

/// Where a walk down the document has come to.
#[derive(Clone, Copy)]
enum Here<'d, 't> {
    Table(&'d DeTable<'t>),
    Array(&'d [Spanned<DeValue<'t>>]),
    Leaf,
}

impl<'d, 't> From<&'d Spanned<DeValue<'t>>> for Here<'d, 't> {
    fn from(value: &'d Spanned<DeValue<'t>>) -> Self {
        match value.get_ref() {
            DeValue::Table(table) => Here::Table(table),
            DeValue::Array(items) => Here::Array(items),
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => Here::Leaf,
        }
    }
}

fn syntax_problem(file: &str, text: &str, error: &toml::de::Error) -> Problem {
    let place = error.span().map(|span| line_column(text, span.start));
    let column = place.map_or(String::new(), |(_, column)| format!(" at column {column}"));
    Problem {
        file: file.to_owned(),
        line: place.map(|(line, _)| line),
        key: String::new(),
        reason: format!("this is not TOML{column}: {}", error.message().trim().replace('\n', ", ")),
        remedy: "correct the line; the rest of the file is checked once it parses".to_owned(),
    }
}

/// Line and column, both from 1, the column in characters.
fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    (line, column)
}
