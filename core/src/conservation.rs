//! The conservation law behind "nothing accepted is lost", per handler:
//!
//! ```text
//! accepted = pending + done + ignored + dead + discarded + duplicate_late + expired
//! ```
//!
//! Pure arithmetic; knows nothing of how the numbers are counted. It counts deliveries, so
//! what never owned one stays out of it:
//!
//! * A key conflict found at intake and a parked event are dead letters without a delivery:
//!   they were never accepted, and are in no term. Replaying one makes a delivery, and its
//!   commit counts `accepted` once.
//! * A key conflict found *late*, at the look before the invocation, was accepted. It must
//!   be counted, as an event at that commit, not from its dead letter: the letter may be
//!   discarded, or replayed under a new key, which accepts anew. So `duplicate_late` counts
//!   every late repeat, with the same payload or another.
//! * `dead` counts the open dead letters that own a settled delivery: reasons other than
//!   `key_conflict`, not parked, not replayed, not discarded. A replay moves one from dead
//!   to pending; a discard from dead to discarded. Neither accepts anything.
//! * `expired` counts settled rows that retention has removed, whatever their outcome was:
//!   each leaves its own term in the same commit.

/// The terms of one handler, all read in one snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ledger {
    /// From the tally: deliveries that intake committed.
    pub accepted: u64,
    /// Rows of the inbox.
    pub pending: u64,
    /// Settled rows by outcome.
    pub done: u64,
    pub ignored: u64,
    /// Open dead letters that own a delivery.
    pub dead: u64,
    /// Settled rows of dead letters that people gave up.
    pub discarded: u64,
    /// From the tally: accepted, then found under a key that had been settled meanwhile.
    pub duplicate_late: u64,
    /// From the tally: settled rows that retention removed.
    pub expired: u64,
}

/// What the law says of one ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Balance {
    Holds,
    /// So many accepted deliveries are nowhere: lost.
    Missing(u128),
    /// So many deliveries are somewhere but were never accepted: counted twice or forged.
    Surplus(u128),
}

impl Ledger {
    /// Where the accepted deliveries are now.
    #[must_use]
    pub fn accounted(&self) -> u128 {
        [self.pending, self.done, self.ignored, self.dead, self.discarded, self.duplicate_late, self.expired]
            .into_iter()
            .map(u128::from)
            .sum()
    }

    #[must_use]
    pub fn balance(&self) -> Balance {
        let accepted = u128::from(self.accepted);
        let accounted = self.accounted();
        if accepted > accounted {
            Balance::Missing(accepted - accounted)
        } else if accounted > accepted {
            Balance::Surplus(accounted - accepted)
        } else {
            Balance::Holds
        }
    }

    #[must_use]
    pub fn holds(&self) -> bool {
        self.balance() == Balance::Holds
    }
}
