//! `handler.toml`: what a handler's author says of it. Its wishes hold where the operator
//! says nothing. Knows nothing of this host, its sinks or its database.

use std::collections::BTreeMap;
use std::path::Path;

use wonce_core::name::{HandlerName, SinkName};
use wonce_core::retry::RetryPolicy;

use super::document::Document;
use super::policy::{Limits, read_retry, read_wishes};
use super::reader::Reader;
use super::report::{Complaint, Error, Problem};
use super::rules;
use super::suggest;

/// The contract that this host speaks.
pub const CONTRACT: &str = "wonce:handler@1.0.0";
const MAX_VERSION_BYTES: usize = 64;

/// The author's part of a handler.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    pub name: HandlerName,
    pub version: String,
    pub description: String,
    /// The sinks it may send effects to.
    pub emits: Vec<SinkName>,
    /// At least one.
    pub subscriptions: Vec<SubscriptionConfig>,
    /// Every setting it knows, with the value it has if the operator says nothing.
    pub settings: BTreeMap<String, String>,
    pub retry: RetryPolicy,
    /// Only the deadline and the memory are the author's to wish for.
    pub limits: Limits,
}

/// Which events, and by which rules. The rules are checked text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionConfig {
    /// Patterns of event types; at least one.
    pub types: Vec<String>,
    /// Patterns of sources; at least one.
    pub sources: Vec<String>,
    /// Selectors of the key; empty means the source's own id.
    pub key: Vec<String>,
    /// Selectors of the ordering key; empty means no order.
    pub order_by: Vec<String>,
    /// JSON pointers to what a repeated event may change without being another one.
    pub hash_ignore: Vec<String>,
}

/// Reads a manifest's text; `file` names it in the report.
///
/// # Errors
/// With every mistake in it.
pub fn parse(file: &str, text: &str) -> Result<Manifest, Error> {
    parse_all(file, text).map_err(Error::new)
}

pub(crate) fn parse_all(file: &str, text: &str) -> Result<Manifest, Vec<Problem>> {
    let document = Document::parse(file, text).map_err(|problem| vec![problem])?;
    let mut walk = super::walk::Walk::new(document, None, Path::new(""));
    let manifest = walk.read(manifest);
    match manifest {
        Some(manifest) if walk.problems.is_empty() => Ok(manifest),
        Some(_) | None => Err(walk.problems),
    }
}

fn manifest(table: &mut Reader<'_, '_>) -> Option<Manifest> {
    let contract = table.required("contract", &format!("write contract = \"{CONTRACT}\""), contract);
    let name = table.required("name", "write name = \"…\"", |text| {
        HandlerName::parse(text).map_err(|error| {
            Complaint::new(format!("\"{text}\" is not a name: {error}"), "rename the handler")
        })
    });
    let version = table.required("version", "write version = \"1.0.0\"", version);
    let description = table.text("description").unwrap_or_default();
    let emits = emits(table);
    let subscriptions = table.each("subscription", subscription);
    if subscriptions.is_empty() {
        table.complain(
            "subscription",
            "there is none, so no event would ever reach the handler",
            "add [[subscription]] with types = [\"…\"]",
        );
    }
    let settings = table.map("settings");
    let retry = table.section("retry", |table| read_retry(table, &RetryPolicy::default()));
    let limits = table.section("limits", |table| read_wishes(table, &Limits::default()));
    contract?;
    Some(Manifest {
        name: name?,
        version: version?,
        description,
        emits,
        subscriptions,
        settings,
        retry,
        limits,
    })
}

fn contract(text: &str) -> Result<(), Complaint> {
    if text == CONTRACT {
        return Ok(());
    }
    let reason = format!("\"{text}\" is not a contract that this host speaks");
    Err(Complaint::new(reason, format!("write \"{CONTRACT}\" and build the handler against it")))
}

fn version(text: &str) -> Result<String, Complaint> {
    let fits = !text.is_empty() && text.len() <= MAX_VERSION_BYTES;
    if fits && text.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(text.to_owned());
    }
    let remedy = format!("write 1 to {MAX_VERSION_BYTES} visible ASCII characters, such as \"1.0.0\"");
    Err(Complaint::new(format!("{text:?} is not a version"), remedy))
}

fn emits(table: &mut Reader<'_, '_>) -> Vec<SinkName> {
    let path = table.path("emits");
    let mut sinks = Vec::new();
    for (index, text) in table.texts("emits").unwrap_or_default().into_iter().enumerate() {
        match SinkName::parse(text.clone()) {
            Ok(sink) => sinks.push(sink),
            Err(error) => {
                let complaint =
                    Complaint::new(format!("\"{text}\" is not a sink's name: {error}"), "correct the name");
                table.walk.complain(&path.index(index), complaint);
            }
        }
    }
    sinks
}

fn subscription(table: &mut Reader<'_, '_>) -> SubscriptionConfig {
    let types = patterns(table, "types");
    if types.is_empty() && !table.given("types") {
        table.complain("types", "it is missing", "write types = [\"payment.*\"], or [\"*\"] for every type");
    }
    let sources = patterns(table, "sources");
    let subscription = SubscriptionConfig {
        types,
        sources: if table.given("sources") { sources } else { vec!["*".to_owned()] },
        key: rules::selectors(table, "key"),
        order_by: rules::selectors(table, "order_by"),
        hash_ignore: table.texts("hash_ignore").unwrap_or_default(),
    };
    let path = table.path("hash_ignore");
    for (index, text) in subscription.hash_ignore.iter().enumerate() {
        if let Err(complaint) = rules::pointer(text) {
            table.walk.complain(&path.index(index), complaint);
        }
    }
    subscription
}

fn patterns(table: &mut Reader<'_, '_>, key: &str) -> Vec<String> {
    let texts = table.texts(key);
    if texts.as_ref().is_some_and(Vec::is_empty) {
        table.complain(
            key,
            "the list is empty, so nothing would match",
            "name at least one, or \"*\" for all",
        );
    }
    let path = table.path(key);
    let texts = texts.unwrap_or_default();
    for (index, text) in texts.iter().enumerate() {
        if let Err(complaint) = rules::pattern(text) {
            table.walk.complain(&path.index(index), complaint);
        }
    }
    texts
}

impl Manifest {
    /// The operator's settings over the author's. Complains of those the author does not know.
    pub(crate) fn settings_with(
        &self,
        given: BTreeMap<String, String>,
        mut complain: impl FnMut(&str, Complaint),
    ) -> BTreeMap<String, String> {
        let mut settings = self.settings.clone();
        for (name, value) in given {
            if let Some(setting) = settings.get_mut(&name) {
                *setting = value;
                continue;
            }
            let known = || self.settings.keys().map(String::as_str);
            let remedy = match suggest::nearest(&name, known()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("remove it; the manifest knows: {}", known().collect::<Vec<_>>().join(", ")),
            };
            complain(&name, Complaint::new("the handler's manifest has no such setting", remedy));
        }
        settings
    }
}
