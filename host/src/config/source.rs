//! `[sources.<name>]`: how a plain webhook becomes an event. A source that is not declared
//! must send CloudEvents. Knows nothing of who sends.

use std::collections::BTreeMap;

use wonce_core::name::SourceName;

use super::reader::Reader;
use super::report::Complaint;
use super::rules;

const MAX_TYPE_BYTES: usize = 256;
const NO_TYPE: &str = "write type = \"header:x-event-type\", type = \"/event/type\" (a JSON pointer) or type_is = \"payment.updated\"";

/// The rules of one webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceConfig {
    pub event_type: TypeRule,
    /// `header:<name>` or a JSON pointer; without one the sender's `webhook-id` header counts.
    pub id: Option<String>,
}

/// Where the type of a webhook's events comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeRule {
    /// This header's value.
    Header(String),
    /// The text at this JSON pointer.
    Pointer(String),
    /// Always this.
    Literal(String),
}

pub(crate) fn read(tables: &mut Reader<'_, '_>) -> BTreeMap<SourceName, SourceConfig> {
    let sources = tables.named("sources", |table, name| {
        let name = named(table, name, SourceName::parse);
        let event_type = type_rule(table);
        let id = table.parsed("id", rules::place);
        Some((name?, SourceConfig { event_type: event_type?, id }))
    });
    sources.into_values().flatten().collect()
}

/// The table's own name as a name of ours.
pub(crate) fn named<T>(
    table: &mut Reader<'_, '_>,
    name: &str,
    parse: impl FnOnce(String) -> Result<T, wonce_core::name::Error>,
) -> Option<T> {
    match parse(name.to_owned()) {
        Ok(name) => Some(name),
        Err(error) => {
            table.complain_here(format!("\"{name}\" is not a name: {error}"), "rename the table");
            None
        }
    }
}

fn type_rule(table: &mut Reader<'_, '_>) -> Option<TypeRule> {
    let rule = table.parsed("type", rule);
    let literal = table.parsed("type_is", literal);
    match (table.given("type"), table.given("type_is")) {
        (true, true) => table.complain("type_is", "type is set too", "keep one of the two"),
        (false, false) => table.complain("type", "nothing says which type these events have", NO_TYPE),
        (true, false) | (false, true) => {}
    }
    rule.or(literal)
}

fn rule(text: &str) -> Result<TypeRule, Complaint> {
    match text.strip_prefix("header:") {
        Some(name) if rules::header_name(name) => Ok(TypeRule::Header(name.to_ascii_lowercase())),
        None if text.starts_with('/') => rules::pointer(text).map(TypeRule::Pointer),
        Some(_) | None => Err(Complaint::new(format!("\"{text}\" is not a rule for a type"), NO_TYPE)),
    }
}

fn literal(text: &str) -> Result<TypeRule, Complaint> {
    if text.is_empty() || text.len() > MAX_TYPE_BYTES || text.chars().any(char::is_control) {
        let remedy = format!("write 1 to {MAX_TYPE_BYTES} bytes without control characters");
        return Err(Complaint::new(format!("{text:?} is not an event type"), remedy));
    }
    Ok(TypeRule::Literal(text.to_owned()))
}
