//! How the console stands to the host that it follows. Plain values; the way there is `net`.

use serde::Serialize;

use super::Moment;

/// The state of the live stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Link {
    /// The first answer is not there yet.
    Connecting {
        /// The address that is tried.
        to: String,
        #[serde(skip)]
        since: Moment,
        /// Which try it is, from 1.
        attempt: u32,
    },
    /// Frames come in.
    Live {
        /// The address that answers.
        at: String,
        /// Since when without a break.
        #[serde(skip)]
        since: Moment,
    },
    /// Nothing comes in: what is shown was true when it was heard last.
    Stale {
        /// When something was heard last.
        #[serde(skip)]
        since: Moment,
        /// The address that is tried next.
        to: String,
        /// One sentence for people.
        reason: String,
        attempt: u32,
        /// When it is tried again.
        #[serde(skip)]
        next: Moment,
    },
    /// No host lets the console in, and asking again will not change that: a person must act.
    Refused {
        #[serde(skip)]
        since: Moment,
        /// One sentence for people that says what to do.
        reason: String,
    },
}

impl Default for Link {
    fn default() -> Self {
        Link::Connecting { to: String::new(), since: Moment::default(), attempt: 1 }
    }
}

impl Link {
    #[must_use]
    pub fn is_live(&self) -> bool {
        matches!(self, Link::Live { .. })
    }

    /// Why nothing comes in, when it was already.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Link::Connecting { .. } | Link::Live { .. } => None,
            Link::Stale { reason, .. } | Link::Refused { reason, .. } => Some(reason),
        }
    }

    /// Since when the link is in this state; for a stale one, when something was heard last.
    #[must_use]
    pub fn since(&self) -> Moment {
        match self {
            Link::Connecting { since, .. }
            | Link::Live { since, .. }
            | Link::Stale { since, .. }
            | Link::Refused { since, .. } => *since,
        }
    }
}
