//! One event for one handler, as it stands between acceptance and settlement. Knows
//! nothing of the event's payload.

use crate::name::{Key, OrderingKey};

/// A counted try within a round: 1 is the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attempt(pub u32);

/// 0 until an operator replays the delivery, then one more each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Round(pub u32);

/// How the host tells one delivery from another, and one state of it from the next: a
/// write that finds another round or attempt in the row has been overtaken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    pub inbox_id: i64,
    pub key: Key,
    pub ordering_key: Option<OrderingKey>,
    pub round: Round,
    /// The attempt that is about to run, or ran.
    pub attempt: Attempt,
}

/// A payload's hash together with the rule that made it: hashes of different rules are
/// never compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadHash {
    pub rule: String,
    pub digest: [u8; 32],
}

/// What a second arrival of a known key is. The database says which (`wonce.repeat_of`): it alone
/// sees the delivery that owns the key at that moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// The same event again: counted, never handled again.
    Duplicate,
    /// Another payload under the same key: kept as a dead letter of its own.
    KeyConflict,
}
