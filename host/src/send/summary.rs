//! What became of all events of one send, and whether that is a success. Knows nothing of HTTP.

use std::fmt;

use wonce_api::receipt::{EventReceipt, Verdict};

/// What became of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The host has it, or had it before.
    Kept(EventReceipt),
    /// Another payload has its key; the host keeps it as a dead letter. With the host's words.
    Conflict(EventReceipt, String),
    /// The host will not take it as it is.
    Rejected(String),
    /// It could not be delivered within the patience; sending it again is harmless.
    Unsent(String),
}

/// Counts of events. Each event is counted once, by the best that became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// At least one handler got it for the first time.
    pub accepted: u64,
    /// Every handler that wants it had it before.
    pub duplicate: u64,
    /// Kept for people; no handler got it.
    pub parked: u64,
    /// No handler wants it, and the host ignores such events.
    pub ignored: u64,
    /// Kept as a dead letter: another payload has its key.
    pub conflict: u64,
    pub rejected: u64,
    pub unsent: u64,
    /// The host's receipt when one event was sent.
    pub receipt: Option<EventReceipt>,
    /// Why the last event that failed did.
    pub last_failure: Option<String>,
}

impl Summary {
    /// Takes an answer in; a failure is returned as a line for people.
    pub(super) fn count(&mut self, line: Option<u64>, answer: &Answer) -> Option<String> {
        let (counter, failure) = match answer {
            Answer::Kept(receipt) => (self.kept(receipt), None),
            Answer::Conflict(_, reason) => (&mut self.conflict, Some(reason)),
            Answer::Rejected(reason) => (&mut self.rejected, Some(reason)),
            Answer::Unsent(reason) => (&mut self.unsent, Some(reason)),
        };
        *counter += 1;
        let failure = match line {
            Some(line) => format!("line {line}: {}", failure?),
            None => failure?.clone(),
        };
        self.last_failure = Some(failure.clone());
        Some(failure)
    }

    fn kept(&mut self, receipt: &EventReceipt) -> &mut u64 {
        if receipt.has(Verdict::Accepted) {
            &mut self.accepted
        } else if receipt.has(Verdict::Duplicate) {
            &mut self.duplicate
        } else if receipt.has(Verdict::Parked) {
            &mut self.parked
        } else {
            &mut self.ignored
        }
    }

    /// All events so far.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.accepted
            + self.duplicate
            + self.parked
            + self.ignored
            + self.conflict
            + self.rejected
            + self.unsent
    }

    /// The exit status: 0 when every event was kept or known, 1 otherwise.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        u8::from(self.conflict + self.rejected + self.unsent > 0)
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} sent: {} accepted, {} duplicate", self.total(), self.accepted, self.duplicate)?;
        let rest = [
            (self.parked, "parked"),
            (self.ignored, "ignored"),
            (self.conflict, "key conflict"),
            (self.rejected, "rejected"),
            (self.unsent, "unsent"),
        ];
        rest.iter()
            .filter(|(count, _)| *count > 0)
            .try_for_each(|(count, word)| write!(f, ", {count} {word}"))
    }
}
