//! What a rule makes of a measurement, and what an alert becomes by it. Two limits of time and two
//! of value keep an alert from flapping: it fires when its limit was reached for a while, and is
//! resolved when the value is far below, or was below for a while. Knows nothing of rows.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{AlertRule, AlertRules};
use crate::fault::FaultClass;

/// Below this share of its limit a value is far below it.
const FAR_BELOW: f64 = 0.5;

/// One handler as it was measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    pub claims: Claims,
    /// Open ones.
    pub dead_letters: u64,
    /// How long ago the oldest open one failed; none when none is open.
    pub dead_letter_age: Option<Duration>,
    /// How long the oldest due delivery has been due; none when none is.
    pub oldest_due_age: Option<Duration>,
    pub recent: Recent,
}

/// Whether the handler may claim at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Claims {
    #[default]
    Wanted,
    /// People paused it.
    Paused,
}

/// What all hosts counted lately.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recent {
    /// Runs within the window that ended in a commit.
    pub committed: u64,
    /// Runs within the window that the handler itself failed.
    pub failed: u64,
    /// All classified failures within the window.
    pub faults: BTreeMap<FaultClass, u64>,
    /// For how long nothing was claimed, as far as anybody remembers.
    pub unclaimed: Duration,
}

/// Where a value stands to its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// It has reached the limit.
    Over,
    /// It is below, or there is too little to say.
    Below,
    FarBelow,
}

/// Where an alert stands. The one word for it in code and tables; what is quiet has no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    Quiet,
    /// The limit is reached, not yet for long enough.
    Suspected,
    Firing,
    /// It fires, and the value has been below the limit for a while.
    Calming,
}

impl Standing {
    pub const ALL: [Standing; 4] =
        [Standing::Quiet, Standing::Suspected, Standing::Firing, Standing::Calming];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Standing::Quiet => "quiet",
            Standing::Suspected => "suspected",
            Standing::Firing => "firing",
            Standing::Calming => "calming",
        }
    }

    /// The standing of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|standing| standing.as_str() == word)
    }

    /// Whether people are to know of it.
    #[must_use]
    pub fn fires(self) -> bool {
        match self {
            Standing::Firing | Standing::Calming => true,
            Standing::Quiet | Standing::Suspected => false,
        }
    }

    /// Where an alert stands next, which has stood like this for `held`.
    #[must_use]
    pub fn next(self, held: Duration, level: Level, rules: &AlertRules) -> Standing {
        use Standing::{Calming, Firing, Quiet, Suspected};
        match (self, level) {
            (Quiet, Level::Over) if rules.wait.is_zero() => Firing,
            (Quiet, Level::Over) => Suspected,
            (Suspected, Level::Over) if held >= rules.wait => Firing,
            (Suspected, Level::Over) => Suspected,
            (Firing, Level::Over) | (Calming, Level::Over) => Firing,
            (Firing, Level::Below) if rules.calm.is_zero() => Quiet,
            (Firing, Level::Below) => Calming,
            (Calming, Level::Below) if held < rules.calm => Calming,
            (Quiet | Suspected | Calming, Level::Below) => Quiet,
            (Quiet | Suspected | Firing | Calming, Level::FarBelow) => Quiet,
        }
    }
}

/// What a rule measures, in its unit; none when there is too little to say.
#[must_use]
pub fn measure(rule: AlertRule, seen: &Seen, rules: &AlertRules) -> Option<f64> {
    let age = |age: Option<Duration>| Some(age.map_or(0.0, |age| age.as_secs_f64()));
    let recent = &seen.recent;
    match rule {
        AlertRule::DeadLetters => Some(float(seen.dead_letters)),
        AlertRule::DeadLetterAge => age(seen.dead_letter_age),
        AlertRule::OldestDueAge => age(seen.oldest_due_age),
        AlertRule::ErrorShare => share(recent.failed, recent.committed + recent.failed, rules),
        AlertRule::ClassShare(class) => {
            let faults = recent.faults.get(&class).copied().unwrap_or(0);
            share(faults, recent.committed + recent.faults.values().sum::<u64>(), rules)
        }
        AlertRule::NoClaims => match seen.claims {
            // What is due for a shorter time than nothing was claimed had no claim to wait for.
            Claims::Wanted => age(seen.oldest_due_age.map(|due| due.min(recent.unclaimed))),
            Claims::Paused => Some(0.0),
        },
    }
}

/// Where a value stands to a limit. What cannot be said neither fires nor resolves at once.
#[must_use]
pub fn level(value: Option<f64>, limit: f64) -> Level {
    match value {
        None => Level::Below,
        Some(value) if value >= limit => Level::Over,
        Some(value) if value < limit * FAR_BELOW => Level::FarBelow,
        Some(_) => Level::Below,
    }
}

fn share(part: u64, all: u64, rules: &AlertRules) -> Option<f64> {
    (all > 0 && all >= rules.error_min_runs).then(|| float(part) / float(all))
}

#[expect(clippy::cast_precision_loss, reason = "a number for people and limits")]
fn float(number: u64) -> f64 {
    number as f64
}
