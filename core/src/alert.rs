//! Alert rules: when a handler's state calls for people. The rules with their words and units are
//! here, what is measured against them and what follows is in [`judge`], what people read in
//! [`words`]. Knows nothing of where numbers come from, and no clock: for how long something has
//! been so is handed in.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::fault::FaultClass;

pub mod judge;
pub mod words;

/// The longest window of an error share, and the longest time without a claim that can be told:
/// hosts remember what was counted for so long.
pub const MAX_WINDOW: Duration = Duration::from_secs(300);
/// Between a class share's word and its class.
const CLASS_SHARE: &str = "class_share.";

/// What is watched. Its word is its key in the configuration, and the end of the alert's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum AlertRule {
    /// Open dead letters.
    DeadLetters,
    /// How long ago the oldest open dead letter failed.
    DeadLetterAge,
    /// How long the oldest due delivery has been due.
    OldestDueAge,
    /// Failed runs of all runs within the window.
    ErrorShare,
    /// Runs that ended with this class, of all that ended within the window.
    ClassShare(FaultClass),
    /// Deliveries are due and none was claimed for so long, though the handler is not paused.
    NoClaims,
}

/// What a rule's limit and values count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    Letters,
    Seconds,
    /// 0 to 1.
    Share,
}

/// A word is no rule's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no alert rule")]
pub struct NoRule(pub String);

/// The rules of one handler. What is not limited is not watched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlertRules {
    /// By rule, in the rule's unit. A value that reaches its limit is over it.
    pub limits: BTreeMap<AlertRule, f64>,
    /// Over which runs a share is taken.
    #[serde(rename = "error_window_ms", with = "millis")]
    pub error_window: Duration,
    /// A share of fewer runs says nothing.
    pub error_min_runs: u64,
    /// An alert fires when its limit was reached for so long without a break.
    #[serde(rename = "for_ms", with = "millis")]
    pub wait: Duration,
    /// It is resolved when the value was below the limit for so long, or far below it at once.
    #[serde(rename = "calm_ms", with = "millis")]
    pub calm: Duration,
}

impl Default for AlertRules {
    /// Nothing is watched; with a limit, ten seconds make an alert and a minute ends it.
    fn default() -> Self {
        Self {
            limits: BTreeMap::new(),
            error_window: MAX_WINDOW,
            error_min_runs: 20,
            wait: Duration::from_secs(10),
            calm: Duration::from_secs(60),
        }
    }
}

impl AlertRule {
    /// All but the shares of single classes.
    pub const PLAIN: [AlertRule; 5] = [
        AlertRule::DeadLetters,
        AlertRule::DeadLetterAge,
        AlertRule::OldestDueAge,
        AlertRule::ErrorShare,
        AlertRule::NoClaims,
    ];

    #[must_use]
    pub fn unit(self) -> Unit {
        match self {
            AlertRule::DeadLetters => Unit::Letters,
            AlertRule::DeadLetterAge | AlertRule::OldestDueAge | AlertRule::NoClaims => Unit::Seconds,
            AlertRule::ErrorShare | AlertRule::ClassShare(_) => Unit::Share,
        }
    }
}

impl fmt::Display for AlertRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AlertRule::DeadLetters => f.write_str("dead_letters"),
            AlertRule::DeadLetterAge => f.write_str("dead_letter_age"),
            AlertRule::OldestDueAge => f.write_str("oldest_due_age"),
            AlertRule::ErrorShare => f.write_str("error_share"),
            AlertRule::ClassShare(class) => write!(f, "{CLASS_SHARE}{class}"),
            AlertRule::NoClaims => f.write_str("no_claims"),
        }
    }
}

impl FromStr for AlertRule {
    type Err = NoRule;

    fn from_str(word: &str) -> Result<Self, NoRule> {
        let class = |word: &str| FaultClass::ALL.into_iter().find(|class| class.as_str() == word);
        let of_class = word.strip_prefix(CLASS_SHARE).and_then(class).map(AlertRule::ClassShare);
        let plain = || Self::PLAIN.into_iter().find(|rule| rule.to_string() == word);
        of_class.or_else(plain).ok_or_else(|| NoRule(word.to_owned()))
    }
}

impl From<AlertRule> for String {
    fn from(rule: AlertRule) -> Self {
        rule.to_string()
    }
}

impl TryFrom<String> for AlertRule {
    type Error = NoRule;

    fn try_from(word: String) -> Result<Self, NoRule> {
        word.parse()
    }
}

impl Unit {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Unit::Letters => "letters",
            Unit::Seconds => "seconds",
            Unit::Share => "share",
        }
    }
}

/// Durations as whole milliseconds.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}
