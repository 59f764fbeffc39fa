//! `tables`, `schemas` and `sequences` of a handler: what its role may touch. Knows nothing
//! of how a privilege is given.

use std::collections::BTreeMap;
use std::fmt;

use super::database::identifier;
use super::reader::{Reader, choose};
use super::report::Complaint;

/// A handler that could reach these could forge its own ledger.
const FORBIDDEN_SCHEMAS: [&str; 3] = ["wonce", "pg_catalog", "information_schema"];

/// What a handler's role is granted on deploy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grants {
    /// Usage of these schemas; those of `tables` and `sequences` are among them.
    pub schemas: Vec<String>,
    pub tables: BTreeMap<Relation, Vec<Privilege>>,
    /// Usage of these sequences.
    pub sequences: Vec<Relation>,
}

/// `schema.name`, both plain SQL names that need no quotes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Relation {
    pub schema: String,
    pub name: String,
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Privilege {
    Select,
    Insert,
    Update,
    Delete,
}

impl Privilege {
    const WORDS: [(&str, Privilege); 4] = [
        ("select", Privilege::Select),
        ("insert", Privilege::Insert),
        ("update", Privilege::Update),
        ("delete", Privilege::Delete),
    ];

    /// The keyword in SQL.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Privilege::Select => "select",
            Privilege::Insert => "insert",
            Privilege::Update => "update",
            Privilege::Delete => "delete",
        }
    }
}

pub(crate) fn read(table: &mut Reader<'_, '_>) -> Grants {
    let tables = table.section("tables", tables);
    let mut schemas = items(table, "schemas", schema);
    let sequences = items(table, "sequences", relation);
    schemas.extend(tables.keys().chain(&sequences).map(|relation| relation.schema.clone()));
    schemas.sort();
    schemas.dedup();
    Grants { schemas, tables, sequences }
}

fn tables(table: &mut Reader<'_, '_>) -> BTreeMap<Relation, Vec<Privilege>> {
    let mut grants = BTreeMap::new();
    for name in table.names() {
        let mut privileges = items(table, &name, |text| choose(text, &Privilege::WORDS));
        privileges.sort();
        privileges.dedup();
        match relation(&name) {
            Ok(relation) => drop(grants.insert(relation, privileges)),
            Err(complaint) => table.complain(&name, complaint.reason, complaint.remedy),
        }
    }
    grants
}

/// An array of text, each item parsed.
fn items<T>(table: &mut Reader<'_, '_>, key: &str, parse: impl Fn(&str) -> Result<T, Complaint>) -> Vec<T> {
    let path = table.path(key);
    let mut values = Vec::new();
    for (index, text) in table.texts(key).unwrap_or_default().iter().enumerate() {
        match parse(text) {
            Ok(value) => values.push(value),
            Err(complaint) => table.walk.complain(&path.index(index), complaint),
        }
    }
    values
}

fn relation(text: &str) -> Result<Relation, Complaint> {
    let Some((schema_name, name)) = text.split_once('.') else {
        return Err(Complaint::new(
            format!("\"{text}\" has no schema"),
            "write \"schema.table\", quotes included, such as \"shop.orders\"",
        ));
    };
    Ok(Relation { schema: schema(schema_name)?, name: identifier(name)? })
}

fn schema(text: &str) -> Result<String, Complaint> {
    if FORBIDDEN_SCHEMAS.contains(&text) {
        return Err(Complaint::new(
            format!("no handler may be given anything in the schema \"{text}\""),
            "keep the handler's tables in a schema of their own",
        ));
    }
    identifier(text)
}
