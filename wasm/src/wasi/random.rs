//! Randomness that a retry repeats: SHA-256 of the handler, the key and a counter. Knows
//! nothing of secrets: whoever knows handler and key knows every byte.

use std::convert::Infallible;

use rand_core::TryRng;
use sha2::{Digest, Sha256};
use wonce_core::name::{HandlerName, Key};

const BLOCK: usize = 32;

pub(super) struct DeliveryRandom {
    seed: [u8; BLOCK],
    counter: u64,
    block: [u8; BLOCK],
    used: usize,
}

impl DeliveryRandom {
    /// `purpose` keeps the streams of one delivery apart.
    pub(super) fn new(purpose: &str, handler: &HandlerName, key: &Key) -> Self {
        // No part but the last can hold a NUL, so the parts cannot run into each other.
        let seed = Sha256::new()
            .chain_update("wonce random\0")
            .chain_update(purpose)
            .chain_update("\0")
            .chain_update(handler.as_str())
            .chain_update("\0")
            .chain_update(key.as_str())
            .finalize();
        Self { seed: seed.into(), counter: 0, block: [0; BLOCK], used: BLOCK }
    }

    /// The stream's first 16 bytes.
    pub(super) fn first(mut self) -> u128 {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        u128::from_le_bytes(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes {
            if self.used == BLOCK {
                self.block = Sha256::new()
                    .chain_update(self.seed)
                    .chain_update(self.counter.to_le_bytes())
                    .finalize()
                    .into();
                self.counter += 1;
                self.used = 0;
            }
            *chunk = self.block[self.used];
            self.used += 1;
        }
    }
}

impl TryRng for DeliveryRandom {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.fill(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(purpose: &str, key: &str) -> u128 {
        let handler = HandlerName::parse("payments").unwrap();
        DeliveryRandom::new(purpose, &handler, &Key::parse(key).unwrap()).first()
    }

    #[test]
    fn the_same_delivery_gets_the_same_bytes_and_another_does_not() {
        assert_eq!(random("secure", "k1"), random("secure", "k1"));
        assert_ne!(random("secure", "k1"), random("secure", "k2"));
        assert_ne!(random("secure", "k1"), random("insecure", "k1"));
    }

    #[test]
    fn blocks_of_one_stream_differ() {
        let handler = HandlerName::parse("payments").unwrap();
        let mut stream = DeliveryRandom::new("secure", &handler, &Key::parse("k").unwrap());
        let mut bytes = [0; 2 * BLOCK];
        stream.fill(&mut bytes);
        assert_ne!(bytes[..BLOCK], bytes[BLOCK..]);
    }
}
