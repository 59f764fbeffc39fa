//! The key of an effect to which the guest gave none. Knows nothing of sinks.

use sha2::{Digest, Sha256};
use wonce_core::name::{HandlerName, Key};

use crate::prepare::hex;

/// Depends only on the handler, the delivery's key and the effect's place in the call, so a
/// retry that emits the same effects in the same order gives them the same keys.
pub(crate) fn derived_dedup_key(handler: &HandlerName, key: &Key, ordinal: u64) -> String {
    // Neither handler nor key can hold a NUL, so the parts cannot run into each other.
    let digest = Sha256::new()
        .chain_update("wonce effect\0")
        .chain_update(handler.as_str())
        .chain_update("\0")
        .chain_update(key.as_str())
        .chain_update("\0")
        .chain_update(ordinal.to_string())
        .finalize();
    hex(&digest[..16])
}
