//! Time as the model sees it: moments that come in with what happened, and the windows that people
//! look through. Knows no clock.

use std::time::Duration;

/// A moment of the console's own monotonic clock, in milliseconds since it started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

impl Moment {
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; zero when it is not after it.
    #[must_use]
    pub const fn since(self, earlier: Moment) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    #[must_use]
    pub fn plus(self, later: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(later.as_millis()).unwrap_or(u64::MAX)))
    }
}

/// Columns of every window: what is drawn over time has so many points.
pub const COLUMNS: usize = 60;

/// How far back the counts of a screen reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Window {
    OneMinute,
    #[default]
    FiveMinutes,
    QuarterHour,
    Hour,
}

impl Window {
    /// The shortest first.
    pub const ALL: [Window; 4] = [Window::OneMinute, Window::FiveMinutes, Window::QuarterHour, Window::Hour];

    /// `1m`, `5m`, `15m` or `1h`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Window::OneMinute => "1m",
            Window::FiveMinutes => "5m",
            Window::QuarterHour => "15m",
            Window::Hour => "1h",
        }
    }

    /// The one that has this label.
    #[must_use]
    pub fn of_label(label: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|window| window.label() == label)
    }

    #[must_use]
    pub const fn span(self) -> Duration {
        Duration::from_secs(match self {
            Window::OneMinute => 60,
            Window::FiveMinutes => 300,
            Window::QuarterHour => 900,
            Window::Hour => 3_600,
        })
    }

    /// The time of one of its [`COLUMNS`].
    #[must_use]
    pub const fn column(self) -> Duration {
        Duration::from_secs(match self {
            Window::OneMinute => 1,
            Window::FiveMinutes => 5,
            Window::QuarterHour => 15,
            Window::Hour => 60,
        })
    }

    /// The next longer one; the longest stays.
    #[must_use]
    pub const fn longer(self) -> Self {
        match self {
            Window::OneMinute => Window::FiveMinutes,
            Window::FiveMinutes => Window::QuarterHour,
            Window::QuarterHour | Window::Hour => Window::Hour,
        }
    }

    /// The next shorter one; the shortest stays.
    #[must_use]
    pub const fn shorter(self) -> Self {
        match self {
            Window::Hour => Window::QuarterHour,
            Window::QuarterHour => Window::FiveMinutes,
            Window::FiveMinutes | Window::OneMinute => Window::OneMinute,
        }
    }
}
