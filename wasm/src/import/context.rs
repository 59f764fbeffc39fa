//! `context`: the facts of the call, and substitutes for clock and randomness that a retry
//! repeats. Knows nothing of the real time but what is left of the deadline.

use std::time::Instant;

use sha2::{Digest, Sha256};
use uuid::Uuid;
use wonce_core::name::{HandlerName, Key};

use crate::bindings::wonce::handler::context::Host;
use crate::state::State;

impl Host for State {
    fn now(&mut self) -> wasmtime::Result<i64> {
        self.handling("context.now")?;
        Ok(self.facts.now.0)
    }

    fn remaining_ms(&mut self) -> wasmtime::Result<u32> {
        self.handling("context.remaining-ms")?;
        let left = self.deadline().saturating_duration_since(Instant::now());
        Ok(u32::try_from(left.as_millis()).unwrap_or(u32::MAX))
    }

    fn stable_uuid(&mut self, name: String) -> wasmtime::Result<String> {
        self.handling("context.stable-uuid")?;
        Ok(stable_uuid(&self.facts.handler, &self.facts.key, &name).to_string())
    }
}

/// Depends only on its arguments, for ever: guests store these ids.
fn stable_uuid(handler: &HandlerName, key: &Key, name: &str) -> Uuid {
    // Neither handler nor key can hold a NUL, so the parts cannot run into each other.
    let digest = Sha256::new()
        .chain_update("wonce uuid\0")
        .chain_update(handler.as_str())
        .chain_update("\0")
        .chain_update(key.as_str())
        .chain_update("\0")
        .chain_update(name)
        .finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Uuid::new_v8(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stable_uuid_never_changes() {
        let handler = HandlerName::parse("payments").unwrap();
        let key = Key::parse("order-1").unwrap();
        let uuid = stable_uuid(&handler, &key, "invoice");
        assert_eq!(uuid.get_version_num(), 8);
        assert_eq!(uuid.to_string(), "d38d4e72-b3ab-88e9-b52a-592f4bba7b49");
        assert_ne!(uuid, stable_uuid(&handler, &key, "receipt"));
    }
}
