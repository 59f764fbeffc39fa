//! The payload hash, which tells a repeated event from another payload under the same key.
//! Canonical for JSON: the order of members, white space and the spelling of strings
//! (`"\u00e9"` or `"é"`) do not matter; numbers count by their literal text. Volatile
//! fields may be left out. Knows nothing of keys.
//!
//! Two decisions keep conflicts from hiding:
//!
//! * The hash depends on the bytes alone, never on the content type. Byte-identical repeats
//!   are always duplicates, even when a gateway rewrote or dropped the header.
//! * The rule's name says how the subscription was configured, not what this payload turned
//!   out to be. Hashes under different rules are never compared, so a payload that is not
//!   JSON (or has a member twice, and so no one meaning) keeps the configured name and is
//!   hashed byte for byte under another domain prefix: it still conflicts.

use sha2::{Digest, Sha256};

use crate::delivery::PayloadHash;
use crate::json::{Document, Error, Json, Members};
use crate::payload::Payload;
use crate::pointer::Pointer;

/// The version of the canonical form. A change to it needs a new name.
pub const RULE: &str = "json-v1";

const JSON_DOMAIN: &[u8] = b"wonce payload json-v1\0";
const RAW_DOMAIN: &[u8] = b"wonce payload raw-v1\0";

/// Hashes a payload without the fields at `ignore`.
#[must_use]
pub fn payload_hash(payload: &Payload<'_>, ignore: &[Pointer]) -> PayloadHash {
    PayloadHash { rule: rule_name(ignore), digest: digest(payload.bytes(), payload.json(), ignore) }
}

/// Hashes bytes under a rule that is known by its name only, as the tables keep it; `None` when
/// this version knows no such rule.
#[must_use]
pub fn hash_under(rule: &str, data: &[u8]) -> Option<PayloadHash> {
    let ignore = ignored_by(rule)?;
    let document = Document::read(data);
    let digest = digest(data, document.as_ref().map_err(Clone::clone), &ignore);
    Some(PayloadHash { rule: rule.to_owned(), digest })
}

/// The fields that a rule of this name leaves out: the inverse of [`rule_name`].
fn ignored_by(rule: &str) -> Option<Vec<Pointer>> {
    let names = match rule.strip_prefix(RULE)? {
        "" => return Some(Vec::new()),
        rest => rest.strip_prefix(" minus ")?,
    };
    let pointer = |name: &str| Pointer::parse(&name.replace("%20", " ").replace("%25", "%")).ok();
    names.split(' ').map(pointer).collect()
}

/// The name under which such hashes are stored: `json-v1`, or `json-v1 minus /sent_at`. The
/// order of the pointers does not matter; a space within one is written `%20`.
#[must_use]
pub fn rule_name(ignore: &[Pointer]) -> String {
    if ignore.is_empty() {
        return RULE.to_owned();
    }
    let mut names: Vec<String> =
        ignore.iter().map(|p| p.as_str().replace('%', "%25").replace(' ', "%20")).collect();
    names.sort();
    names.dedup();
    format!("{RULE} minus {}", names.join(" "))
}

fn digest(bytes: &[u8], json: Result<&Document<'_>, Error>, ignore: &[Pointer]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    match json {
        Ok(document) if document.members == Members::Unique => {
            hasher.update(JSON_DOMAIN);
            let ignore: Vec<&[String]> = ignore.iter().map(Pointer::tokens).collect();
            feed(&mut hasher, &document.root, &ignore);
        }
        Ok(_) | Err(_) => {
            hasher.update(RAW_DOMAIN);
            hasher.update(bytes);
        }
    }
    hasher.finalize().into()
}

/// Every value starts with a tag and has its length before its content, so that no two
/// values feed the same bytes. `ignore` holds the rests of the pointers that lead here.
fn feed(hasher: &mut Sha256, value: &Json<'_>, ignore: &[&[String]]) {
    match value {
        Json::Null => hasher.update(b"z"),
        Json::Boolean(true) => hasher.update(b"t"),
        Json::Boolean(false) => hasher.update(b"f"),
        Json::Number(literal) => feed_text(hasher, b"n", literal),
        Json::Text(text) => feed_text(hasher, b"s", text),
        Json::Array(items) => {
            hasher.update(b"[");
            for (index, item) in items.iter().enumerate() {
                match below(ignore, || index.to_string()) {
                    Below::LeftOut => {}
                    Below::Kept(rest) => feed(hasher, item, &rest),
                }
            }
            hasher.update(b"]");
        }
        Json::Object(members) => {
            hasher.update(b"{");
            for (name, member) in members {
                match below(ignore, || name.to_string()) {
                    Below::LeftOut => {}
                    Below::Kept(rest) => {
                        feed_text(hasher, b"m", name);
                        feed(hasher, member, &rest);
                    }
                }
            }
            hasher.update(b"}");
        }
    }
}

fn feed_text(hasher: &mut Sha256, tag: &[u8], text: &str) {
    hasher.update(tag);
    hasher.update((text.len() as u64).to_be_bytes());
    hasher.update(text);
}

enum Below<'p> {
    LeftOut,
    Kept(Vec<&'p [String]>),
}

/// What becomes of the pointers at one step down.
fn below<'p>(ignore: &[&'p [String]], step: impl FnOnce() -> String) -> Below<'p> {
    if ignore.is_empty() {
        return Below::Kept(Vec::new());
    }
    let step = step();
    let mut rests = Vec::new();
    for pointer in ignore {
        match pointer.split_first() {
            Some((first, [])) if *first == step => return Below::LeftOut,
            Some((first, rest)) if *first == step => rests.push(rest),
            Some(_) | None => {}
        }
    }
    Below::Kept(rests)
}
