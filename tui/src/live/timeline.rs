//! What was counted, by time, once for every [`Window`]: each keeps [`COLUMNS`] columns and the one
//! that is filling, so that memory does not grow with time. Knows nothing of what is counted.

use std::collections::BTreeMap;

use super::clock::{COLUMNS, Window};

/// Milliseconds of the console's clock. History from before it started is negative.
pub(super) type Millis = i64;

/// A stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: Millis,
    /// Not in it.
    pub(super) to: Millis,
}

impl Span {
    /// The time before `to`; never empty, so that what was counted has a place.
    pub(super) fn before(to: Millis, covers_ms: u64) -> Self {
        let covers = Millis::try_from(covers_ms).unwrap_or(Millis::MAX).clamp(1, LONGEST_MS);
        Self { from: to.saturating_sub(covers), to }
    }
}

/// No span is longer: what is older has no column.
const LONGEST_MS: Millis = 3_600_000;

/// What a column holds. A piece that is split into shares is their sum again.
pub(super) trait Piece: Default + Clone {
    fn add(&mut self, other: &Self);
    /// The part between `from` and `to` of `of` equal steps.
    fn share(&self, from: u64, to: u64, of: u64) -> Self;
}

/// Of `n` things, those in the steps between `from` and `to` of `of`: exact when summed.
pub(super) fn share_of(n: u64, from: u64, to: u64, of: u64) -> u64 {
    let until = |step: u64| u128::from(n) * u128::from(step) / u128::from(of.max(1));
    u64::try_from(until(to) - until(from)).unwrap_or(u64::MAX)
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Timeline<T> {
    rings: [BTreeMap<i64, T>; Window::ALL.len()],
}

impl<T: Piece> Timeline<T> {
    /// Lays a piece over the columns of its time.
    pub(super) fn add(&mut self, span: Span, piece: &T) {
        for (window, ring) in Window::ALL.into_iter().zip(&mut self.rings) {
            let width = width(window);
            let of = span.to.abs_diff(span.from);
            for index in span.from.div_euclid(width)..=(span.to - 1).div_euclid(width) {
                let from = span.from.max(index * width).abs_diff(span.from);
                let to = span.to.min((index + 1) * width).abs_diff(span.from);
                let share = piece.share(from, to, of);
                ring.entry(index).or_default().add(&share);
            }
            prune(ring);
        }
    }

    /// Forgets what no window reaches any more.
    pub(super) fn pass(&mut self, now: Millis) {
        for (window, ring) in Window::ALL.into_iter().zip(&mut self.rings) {
            let first = last_column(window, now) - reach();
            while ring.first_key_value().is_some_and(|(index, _)| *index <= first) {
                ring.pop_first();
            }
        }
    }

    /// The columns of a window that ends now, oldest first; none where nothing was added.
    pub(super) fn columns(&self, window: Window, now: Millis) -> impl Iterator<Item = Option<&T>> {
        let last = last_column(window, now);
        let ring = &self.rings[place(window)];
        (last - reach() + 1..=last).map(|index| ring.get(&index))
    }

    /// The last ten seconds that are over, oldest first.
    pub(super) fn seconds(&self, now: Millis) -> impl Iterator<Item = Option<&T>> {
        let over = now.div_euclid(1_000);
        let ring = &self.rings[place(Window::OneMinute)];
        (over - RATE_SECONDS..over).map(|index| ring.get(&index))
    }

    /// All columns of a window, to shrink them.
    pub(super) fn columns_mut(&mut self, window: Window) -> impl DoubleEndedIterator<Item = &mut T> {
        self.rings[place(window)].values_mut()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.rings.iter().flat_map(BTreeMap::values)
    }

    /// Everything within the window.
    pub(super) fn sum(&self, window: Window, now: Millis) -> T {
        let mut sum = T::default();
        self.columns(window, now).flatten().for_each(|piece| sum.add(piece));
        sum
    }

    /// Everything within the last ten seconds.
    pub(super) fn recent(&self, now: Millis) -> T {
        let mut sum = T::default();
        self.seconds(now).flatten().for_each(|piece| sum.add(piece));
        sum
    }
}

/// Rates are over so many seconds.
const RATE_SECONDS: i64 = 10;

fn reach() -> i64 {
    i64::try_from(COLUMNS).unwrap_or(i64::MAX)
}

fn prune<T>(ring: &mut BTreeMap<i64, T>) {
    let Some(first) = ring.last_key_value().map(|(last, _)| last - reach()) else { return };
    while ring.first_key_value().is_some_and(|(index, _)| *index < first) {
        ring.pop_first();
    }
}

fn place(window: Window) -> usize {
    match window {
        Window::OneMinute => 0,
        Window::FiveMinutes => 1,
        Window::QuarterHour => 2,
        Window::Hour => 3,
    }
}

pub(super) fn width(window: Window) -> Millis {
    Millis::try_from(window.column().as_millis()).unwrap_or(Millis::MAX)
}

/// The column that holds what was counted just now.
fn last_column(window: Window, now: Millis) -> i64 {
    (now - 1).div_euclid(width(window))
}

/// How many seconds of each column of a window are over, oldest first; at least a quarter of one, so
/// that a column that has just begun shows no spike.
pub(super) fn elapsed_seconds(window: Window, now: Millis) -> impl Iterator<Item = f64> {
    let (width, last) = (width(window), last_column(window, now));
    (last - reach() + 1..=last).map(move |index| {
        let over = (now - index * width).clamp(width / 4, width);
        std::time::Duration::from_millis(over.unsigned_abs()).as_secs_f64()
    })
}

/// When something was heard. It has a column wherever something could have been counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard;

impl Piece for Heard {
    fn add(&mut self, _: &Self) {}

    fn share(&self, _: u64, _: u64, _: u64) -> Self {
        Heard
    }
}

/// Counts by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Named(pub(super) BTreeMap<String, u64>);

impl Named {
    /// What came on top of `before`.
    pub(super) fn since(now: &BTreeMap<String, u64>, before: Option<&BTreeMap<String, u64>>) -> Self {
        let known = |name: &String| before.and_then(|before| before.get(name)).copied().unwrap_or(0);
        let more = now.iter().map(|(name, n)| (name.clone(), n.saturating_sub(known(name))));
        Self(more.filter(|(_, n)| *n > 0).collect())
    }

    pub(super) fn total(&self) -> u64 {
        self.0.values().sum()
    }

    pub(super) fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }
}

impl Piece for Named {
    fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(name, n)| *self.0.entry(name.clone()).or_default() += n);
    }

    fn share(&self, from: u64, to: u64, of: u64) -> Self {
        let shares = self.0.iter().map(|(name, n)| (name.clone(), share_of(*n, from, to, of)));
        Self(shares.filter(|(_, n)| *n > 0).collect())
    }
}

/// The last value in a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Last(pub(super) Option<u64>);

impl Piece for Last {
    fn add(&mut self, other: &Self) {
        self.0 = other.0.or(self.0);
    }

    fn share(&self, _: u64, _: u64, _: u64) -> Self {
        *self
    }
}
