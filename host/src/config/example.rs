//! The example file and the code know the same keys: what the code asks for is written in
//! `wonce.example.toml`. That its values are the defaults is proven in `tests/`.

use std::collections::BTreeSet;
use std::path::Path;

use super::document::Document;
use super::environment::{Env, Flags, Overrides};
use super::walk::Walk;

const EXAMPLE: &str = include_str!("../../wonce.example.toml");

/// The example with its optional settings switched on: `#key = …` becomes `key = …`.
fn full_example() -> String {
    let switched_on = |line: &'static str| match line.strip_prefix('#') {
        Some(rest) if !rest.is_empty() && !rest.starts_with(' ') => rest,
        Some(_) | None => line,
    };
    EXAMPLE.lines().map(switched_on).collect::<Vec<_>>().join("\n")
}

/// `sinks.billing.url` is `sinks.*.url`.
fn without_name(key: &str) -> String {
    let mut parts: Vec<&str> = key.split('.').collect();
    if matches!(parts[0], "sources" | "sinks" | "handlers") && parts.len() > 1 {
        parts[1] = "*";
    }
    parts.join(".")
}

fn keys_below(table: &toml::Table, path: &str, keys: &mut BTreeSet<String>) {
    for (name, value) in table {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            toml::Value::Table(table) => keys_below(table, &path, keys),
            toml::Value::String(_)
            | toml::Value::Integer(_)
            | toml::Value::Float(_)
            | toml::Value::Boolean(_)
            | toml::Value::Datetime(_)
            | toml::Value::Array(_) => drop(keys.insert(without_name(&path))),
        }
    }
}

#[test]
fn the_example_has_every_key_that_the_code_asks_for() {
    let text = full_example();
    let document = Document::parse("wonce.example.toml", &text).expect("the example parses");
    let mut walk =
        Walk::new(document, Some(Overrides::new(&Flags::default(), &Env::default())), Path::new(""));
    walk.read(super::tables);

    let mut written = BTreeSet::new();
    keys_below(&text.parse().expect("the example parses"), "", &mut written);
    let missing: Vec<String> = walk
        .asked()
        .iter()
        .map(|key| without_name(&key.replace('"', "")))
        .filter(|key| !written.contains(key))
        .collect();
    assert_eq!(missing, Vec::<String>::new());
    assert!(walk.problems.iter().all(|p| p.reason != "there is no such key"), "{:#?}", walk.problems);
}
