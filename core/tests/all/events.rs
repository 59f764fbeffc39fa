//! Events for the tests of this crate, and payloads drawn at random.

use proptest::prelude::*;
use wonce_core::event::Event;
use wonce_core::name::SourceName;
use wonce_core::pointer::Pointer;

/// A plain webhook with this payload and nothing else to go by.
pub(crate) fn webhook(data: impl Into<Vec<u8>>) -> Event {
    Event {
        via: SourceName::parse("shop").expect("a name"),
        id: None,
        source: "shop".to_owned(),
        event_type: "order.paid".to_owned(),
        subject: None,
        time: None,
        content_type: None,
        data_schema: None,
        traceparent: None,
        extensions: Vec::new(),
        data: data.into(),
    }
}

pub(crate) fn pointers(texts: &[&str]) -> Vec<Pointer> {
    texts.iter().map(|text| Pointer::parse(text).expect("a pointer")).collect()
}

/// A JSON value that can be written in more than one way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    Literal(&'static str),
    Number(i64),
    Text(String),
    Array(Vec<Tree>),
    /// Names are unique.
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// Compact, members in their order.
    pub(crate) fn compact(&self) -> String {
        let list = |items: Vec<String>| items.join(",");
        match self {
            Tree::Literal(word) => (*word).to_owned(),
            Tree::Number(number) => number.to_string(),
            Tree::Text(text) => quoted(text),
            Tree::Array(items) => format!("[{}]", list(items.iter().map(Tree::compact).collect())),
            Tree::Object(members) => {
                let members = members.iter().map(|(n, v)| format!("{}:{}", quoted(n), v.compact()));
                format!("{{{}}}", list(members.collect()))
            }
        }
    }

    /// The same value spelled otherwise: members backwards, white space everywhere, every
    /// character of strings escaped.
    pub(crate) fn respelled(&self) -> String {
        let list = |items: Vec<String>| items.join(" ,\r\n");
        match self {
            Tree::Literal(word) => format!(" {word}\t"),
            Tree::Number(number) => format!("\n{number} "),
            Tree::Text(text) => escaped(text),
            Tree::Array(items) => format!("[ {} ]", list(items.iter().map(Tree::respelled).collect())),
            Tree::Object(members) => {
                let members =
                    members.iter().rev().map(|(n, v)| format!("{} : {}", escaped(n), v.respelled()));
                format!("{{ {} }}", list(members.collect()))
            }
        }
    }
}

pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn escaped(text: &str) -> String {
    let units: Vec<String> = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
    format!("\"{}\"", units.concat())
}

pub(crate) fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["null", "true", "false", "1.0", "1e0", "-0", "9007199254740993"])
            .prop_map(Tree::Literal),
        any::<i64>().prop_map(Tree::Number),
        ".{0,6}".prop_map(Tree::Text),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Tree::Array),
            prop::collection::btree_map(".{0,3}", inner, 0..5)
                .prop_map(|members| Tree::Object(members.into_iter().collect())),
        ]
    })
}
