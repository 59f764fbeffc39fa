//! The last lines of this host's log, for whoever looks over the admin API: a ring that is bounded
//! in lines and bytes. Nobody is waited for: who reads too late misses lines and learns how many.
//! Knows nothing of readers, nor of the log's file.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use wonce_api::live::LogLine;

/// Lines that stay.
pub const KEPT_LINES: usize = 1_000;
/// And their bytes together.
const KEPT_BYTES: usize = 1 << 20;

/// The tail of the process' log.
pub static TAIL: LazyLock<Tail> = LazyLock::new(|| Tail::of(KEPT_LINES, KEPT_BYTES));

/// How much a line matters; the first is the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Error,
    Warn,
    Info,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Error, Level::Warn, Level::Info];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
        }
    }

    /// The level of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == word)
    }
}

/// Which lines somebody wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// And those that matter more.
    pub level: Level,
    /// Only lines about this handler.
    pub handler: Option<String>,
}

/// See the module.
#[derive(Debug)]
pub struct Tail {
    kept: Mutex<Kept>,
    /// The number of the last line; 0 before the first.
    latest: watch::Sender<u64>,
    max_lines: usize,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<(u64, Level, Arc<LogLine>)>,
    last: u64,
    bytes: usize,
}

/// What came after a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Later {
    /// Oldest first.
    pub lines: Vec<Arc<LogLine>>,
    /// The line up to which this is everything that was wanted.
    pub upto: u64,
    /// Lines that were gone already, wanted or not.
    pub missed: u64,
}

impl Tail {
    #[must_use]
    pub fn of(max_lines: usize, max_bytes: usize) -> Self {
        Self { kept: Mutex::default(), latest: watch::Sender::new(0), max_lines, max_bytes }
    }

    /// Adds a line, at the cost of the oldest.
    pub fn push(&self, level: Level, line: LogLine) {
        let mut kept = self.kept();
        kept.last += 1;
        kept.bytes += size(&line);
        let last = kept.last;
        kept.lines.push_back((last, level, Arc::new(line)));
        while kept.lines.len() > self.max_lines || kept.bytes > self.max_bytes {
            let Some((_, _, oldest)) = kept.lines.pop_front() else { break };
            kept.bytes -= size(&oldest);
        }
        drop(kept);
        self.latest.send_replace(last);
    }

    /// Changes with each line.
    #[must_use]
    pub fn latest(&self) -> watch::Receiver<u64> {
        self.latest.subscribe()
    }

    /// Behind which line the last `lines` wanted ones begin.
    #[must_use]
    pub fn before_the_last(&self, lines: usize, wanted: &Wanted) -> u64 {
        let kept = self.kept();
        let first = kept.lines.iter().rev().filter(|line| wants(wanted, line)).take(lines).last();
        first.map_or(kept.last, |(number, _, _)| number - 1)
    }

    /// At most `limit` of the lines after one.
    #[must_use]
    pub fn after(&self, line: u64, wanted: &Wanted, limit: usize) -> Later {
        let kept = self.kept();
        let oldest = kept.lines.front().map_or(kept.last + 1, |(number, _, _)| *number);
        let missed = oldest.saturating_sub(line.saturating_add(1));
        let mut later = Later { lines: Vec::new(), upto: kept.last, missed };
        let mut fresh = kept.lines.iter().filter(|(number, _, _)| *number > line).peekable();
        while let Some(kept_line) = fresh.next() {
            if wants(wanted, kept_line) {
                later.lines.push(Arc::clone(&kept_line.2));
            }
            if later.lines.len() == limit && fresh.peek().is_some() {
                later.upto = kept_line.0;
                break;
            }
        }
        later
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wants(wanted: &Wanted, (_, level, line): &(u64, Level, Arc<LogLine>)) -> bool {
    let is_about = |handler: &String| line.fields.get("handler") == Some(handler);
    *level <= wanted.level && wanted.handler.as_ref().is_none_or(is_about)
}

fn size(line: &LogLine) -> usize {
    let fields: usize = line.fields.iter().map(|(name, value)| name.len() + value.len()).sum();
    line.message.len() + fields
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const ALL: Wanted = Wanted { level: Level::Info, handler: None };

    fn line(message: &str, handler: &str) -> LogLine {
        LogLine {
            at: String::new(),
            level: String::new(),
            message: message.to_owned(),
            fields: BTreeMap::from([("handler".to_owned(), handler.to_owned())]),
        }
    }

    fn said(later: &Later) -> Vec<&str> {
        later.lines.iter().map(|line| line.message.as_str()).collect()
    }

    #[test]
    fn lines_come_once_in_order_and_in_parts() {
        let tail = Tail::of(10, 1_000);
        for message in ["1", "2", "3"] {
            tail.push(Level::Info, line(message, "a"));
        }
        let first = tail.after(0, &ALL, 2);
        assert_eq!((said(&first), first.upto, first.missed), (vec!["1", "2"], 2, 0));
        let rest = tail.after(first.upto, &ALL, 2);
        assert_eq!((said(&rest), rest.upto, rest.missed), (vec!["3"], 3, 0));
        assert_eq!(tail.after(3, &ALL, 2), Later { upto: 3, ..Later::default() });
    }

    #[test]
    fn a_late_reader_learns_how_many_lines_are_gone() {
        let tail = Tail::of(2, 1_000);
        for message in ["1", "2", "3", "4", "5"] {
            tail.push(Level::Info, line(message, "a"));
        }
        let later = tail.after(1, &ALL, 10);
        assert_eq!((said(&later), later.missed), (vec!["4", "5"], 2));
    }

    #[test]
    fn the_ring_is_bounded_in_bytes_too() {
        let tail = Tail::of(100, 30);
        for _ in 0..5 {
            tail.push(Level::Info, line("ten bytes!", ""));
        }
        let later = tail.after(0, &ALL, 10);
        assert_eq!((later.lines.len(), later.missed), (1, 4), "each has 17 bytes with the field's name");
        tail.push(Level::Info, line(&"x".repeat(100), ""));
        assert_eq!(tail.after(0, &ALL, 10), Later { upto: 6, missed: 6, ..Later::default() });
    }

    #[test]
    fn a_reader_gets_the_level_and_the_handler_that_it_wants() {
        let tail = Tail::of(10, 1_000);
        for (level, handler) in [
            (Level::Info, "a"),
            (Level::Warn, "a"),
            (Level::Error, "b"),
            (Level::Warn, "b"),
            (Level::Info, "b"),
        ] {
            tail.push(level, line(&format!("{} {handler}", level.as_str()), handler));
        }
        let warnings = Wanted { level: Level::Warn, handler: None };
        assert_eq!(said(&tail.after(0, &warnings, 10)), ["warn a", "error b", "warn b"]);
        let of_b = Wanted { level: Level::Info, handler: Some("b".to_owned()) };
        assert_eq!(said(&tail.after(0, &of_b, 10)), ["error b", "warn b", "info b"]);
        assert_eq!(said(&tail.after(tail.before_the_last(2, &of_b), &of_b, 10)), ["warn b", "info b"]);
        assert_eq!(tail.before_the_last(2, &Wanted { handler: Some("c".to_owned()), ..ALL }), 5);
    }
}
