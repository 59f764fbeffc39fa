//! SHA-256 over parts, each with its length so that no two lists of parts hash alike, and its
//! hexadecimal text. A version of a handler has its name from here.

use std::collections::BTreeMap;
use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The first `bytes` bytes of the hash, in lower-case hexadecimal.
pub(crate) fn hex_of(parts: &[&str], bytes: usize) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hex(hasher.finalize().as_slice().get(..bytes).unwrap_or_default())
}

/// The one name of a version: what runs, what its author says of it, and what was set when it was
/// deployed. Without settings it is what it was before there were any.
#[must_use]
pub fn version(component: &[u8], manifest: &str, settings: &BTreeMap<String, String>) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((component.len() as u64).to_be_bytes());
    hash.update(component);
    hash.update(manifest.as_bytes());
    for text in settings.iter().flat_map(|(name, value)| [name, value]) {
        // No manifest has a zero byte, so none can pass for another's settings.
        hash.update([0]);
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

/// Lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
