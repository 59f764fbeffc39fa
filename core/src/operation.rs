//! An operation: one verb for many dead letters, whose list is frozen when it is asked for. Says
//! in which states one can be and what may follow. Knows nothing of where it is kept or who
//! carries it out.

/// What is done to each dead letter. The one word in code, tables, API, command line and docs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationVerb {
    Replay,
    Discard,
    Restore,
}

impl OperationVerb {
    pub const ALL: [OperationVerb; 3] =
        [OperationVerb::Replay, OperationVerb::Discard, OperationVerb::Restore];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            OperationVerb::Replay => "replay",
            OperationVerb::Discard => "discard",
            OperationVerb::Restore => "restore",
        }
    }

    /// The state of the dead letters that it is for.
    #[must_use]
    pub fn acts_on(self) -> &'static str {
        match self {
            OperationVerb::Replay | OperationVerb::Discard => "dead",
            OperationVerb::Restore => "discarded",
        }
    }

    /// The verb of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.as_str() == word)
    }
}

/// Where an operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationState {
    /// Hosts do one item after the other.
    Running,
    /// A person stopped it; what is left waits.
    Paused,
    /// A person ended it; what is left stays as it is.
    Aborted,
    /// Every item was done or refused.
    Finished,
}

/// What a wish for another state comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    Changed(OperationState),
    /// It is so already.
    Unchanged,
    /// It has ended, and what has ended stays so.
    Ended,
    /// Nobody can wish for this state: only the last item brings it about.
    NotByWish,
}

impl OperationState {
    pub const ALL: [OperationState; 4] =
        [OperationState::Running, OperationState::Paused, OperationState::Aborted, OperationState::Finished];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            OperationState::Running => "running",
            OperationState::Paused => "paused",
            OperationState::Aborted => "aborted",
            OperationState::Finished => "finished",
        }
    }

    /// The state of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether nothing more will be done.
    #[must_use]
    pub fn has_ended(self) -> bool {
        match self {
            OperationState::Aborted | OperationState::Finished => true,
            OperationState::Running | OperationState::Paused => false,
        }
    }

    /// What becomes of an operation in this state when a person wants another.
    #[must_use]
    pub fn wanted(self, wanted: OperationState) -> Transition {
        use OperationState::{Aborted, Finished, Paused, Running};
        match (self, wanted) {
            (_, Finished) => Transition::NotByWish,
            (Running, Running) | (Paused, Paused) | (Aborted, Aborted) => Transition::Unchanged,
            (Running, Paused | Aborted) | (Paused, Running | Aborted) => Transition::Changed(wanted),
            (Aborted, Running | Paused) | (Finished, Running | Paused | Aborted) => Transition::Ended,
        }
    }
}

/// What became of one dead letter of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemState {
    Waiting,
    Succeeded,
    /// The verb was not possible; its result says why, and the dead letter is as it was.
    Refused,
}

impl ItemState {
    pub const ALL: [ItemState; 3] = [ItemState::Waiting, ItemState::Succeeded, ItemState::Refused];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ItemState::Waiting => "waiting",
            ItemState::Succeeded => "succeeded",
            ItemState::Refused => "refused",
        }
    }

    /// The state of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}
