//! Hexadecimal text of SHA-256 over parts, each with its length so that no two lists of
//! parts hash alike. Knows nothing of what the parts are.

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

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
