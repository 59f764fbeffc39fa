//! A UUID as a value: parsed once, compared as bytes, written hyphenated in lower case.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A UUID. Reads from and writes to `uuid` columns, and JSON strings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid([u8; 16]);

/// The text is not a UUID.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a uuid: 32 hexadecimal digits, with or without hyphens, are expected")]
pub struct NotAUuid(String);

impl Uuid {
    /// From its 16 bytes, in the order they are written.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The 16 bytes, in the order they are written.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl FromStr for Uuid {
    type Err = NotAUuid;

    fn from_str(text: &str) -> Result<Self, NotAUuid> {
        let wrong = || NotAUuid(text.to_owned());
        let hyphens_fit = text.bytes().enumerate().all(|(at, byte)| byte != b'-' || matches!(at, 8 | 13 | 18 | 23));
        if !hyphens_fit || !matches!(text.len(), 32 | 36) {
            return Err(wrong());
        }
        let digits = text.bytes().filter(|byte| *byte != b'-').map(|byte| char::from(byte).to_digit(16));
        let digits = digits.collect::<Option<Vec<u32>>>().filter(|digits| digits.len() == 32).ok_or_else(wrong)?;
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = u8::try_from(pair[0] * 16 + pair[1]).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                out.write_str("-")?;
            }
            write!(out, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Uuid({self})")
    }
}

impl Serialize for Uuid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Uuid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_written_as_postgres_writes_it() {
        let text = "0190a6c2-8d5e-8abc-9def-00112233445f";
        let id: Uuid = "0190A6C28D5E8ABC9DEF00112233445F".parse().unwrap();
        assert_eq!(id.to_string(), text);
        assert_eq!(text.parse(), Ok(id));
    }

    #[test]
    fn text_that_is_almost_a_uuid_is_refused() {
        for text in [
            "",
            "0190a6c2-8d5e-8abc-9def-00112233445",
            "0190a6c28d5e-8abc-9def-0011-2233445f",
            "g190a6c2-8d5e-8abc-9def-00112233445f",
            "0190a6c2-8d5e-8abc-9def-00112233445é",
            "0190a6c28d5e8abc9def00112233445-",
        ] {
            assert!(text.parse::<Uuid>().is_err(), "{text}");
        }
    }
}
