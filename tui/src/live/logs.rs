//! The log lines that hosts say while somebody looks: the last of them, in the order in which they
//! came. Knows nothing of how they are asked for, nor of how they are drawn.

use std::collections::{BTreeMap, VecDeque};

use wonce_api::live::{LogLine, LogQuery, Message};

use super::Link;

/// Lines that are kept; the host's log has the rest.
pub const MAX_LINES: usize = 2_000;

/// See the module.
#[derive(Debug, Default)]
pub struct Logs {
    /// Which lines are followed; none while nobody looks.
    wanted: Option<LogQuery>,
    /// Counts what was wanted, so that late lines of another wish are told apart.
    round: u64,
    lines: VecDeque<Line>,
    last: u64,
    /// The last line on the screen.
    shown: u64,
    hosts: BTreeMap<usize, Feed>,
}

/// One host's stream of lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Feed {
    /// The host's name, once it has said it.
    pub host: String,
    pub link: Link,
}

/// One row of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// From 1; the same line keeps it.
    pub number: u64,
    pub host: String,
    pub said: Said,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    Line(LogLine),
    /// So many lines were not sent, because there were too many.
    Missed(u64),
}

impl Logs {
    /// Follows other lines from now on, or none; gives the round in which they come. `None` when
    /// nothing changes.
    pub fn follow(&mut self, wanted: Option<LogQuery>) -> Option<u64> {
        if self.wanted == wanted {
            return None;
        }
        *self = Self { wanted, round: self.round + 1, ..Self::default() };
        Some(self.round)
    }

    /// Whether what comes in this round is still wanted.
    #[must_use]
    pub fn is_now(&self, round: u64) -> bool {
        self.round == round
    }

    /// Takes one message of the host at a place.
    pub fn apply(&mut self, place: usize, message: Message) {
        match message {
            Message::Hello(hello) => self.hosts.entry(place).or_default().host = hello.host,
            Message::Log(batch) => {
                if batch.dropped > 0 {
                    self.push(place, Said::Missed(batch.dropped));
                }
                batch.lines.into_iter().for_each(|line| self.push(place, Said::Line(line)));
            }
            // Nothing else is of this stream.
            _ => {}
        }
    }

    /// Takes what became of the link to the host at a place.
    pub fn link(&mut self, place: usize, link: Link) {
        self.hosts.entry(place).or_default().link = link;
    }

    /// What came until now is on the screen.
    pub fn look(&mut self) {
        self.shown = self.last;
    }

    /// The lines on the screen, oldest first.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = &Line> {
        self.lines.iter().filter(|line| line.number <= self.shown)
    }

    /// Where lines come from, or why none do.
    pub fn feeds(&self) -> impl Iterator<Item = &Feed> {
        self.hosts.values()
    }

    fn push(&mut self, place: usize, said: Said) {
        self.last += 1;
        let host = self.hosts.get(&place).map_or_else(String::new, |feed| feed.host.clone());
        self.lines.push_back(Line { number: self.last, host, said });
        if self.lines.len() > MAX_LINES {
            self.lines.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use wonce_api::live::LogBatch;

    use super::*;

    fn batch(messages: &[&str], dropped: u64) -> Message {
        let line = |message: &&str| LogLine {
            at: String::new(),
            level: "info".to_owned(),
            message: (*message).to_owned(),
            fields: BTreeMap::new(),
        };
        Message::Log(LogBatch { lines: messages.iter().map(line).collect(), dropped })
    }

    #[test]
    fn lines_stay_in_order_and_those_that_are_missing_have_a_row() {
        let mut logs = Logs::default();
        let round = logs.follow(Some(LogQuery::default())).expect("it changes");
        assert!(logs.is_now(round) && logs.follow(Some(LogQuery::default())).is_none());
        logs.apply(0, batch(&["a", "b"], 0));
        logs.apply(1, batch(&["c"], 7));
        assert_eq!(logs.lines().count(), 0, "nobody has looked");
        logs.look();
        let rows: Vec<String> = logs
            .lines()
            .map(|line| match &line.said {
                Said::Line(line) => line.message.clone(),
                Said::Missed(lines) => format!("{lines} missed"),
            })
            .collect();
        assert_eq!(rows, ["a", "b", "7 missed", "c"]);
        assert!(logs.follow(None).is_some());
        assert!(!logs.is_now(round));
        assert_eq!(logs.lines().count(), 0);
    }

    #[test]
    fn the_oldest_lines_go_when_there_are_too_many() {
        let mut logs = Logs::default();
        for _ in 0..=MAX_LINES {
            logs.apply(0, batch(&["x"], 0));
        }
        logs.look();
        assert_eq!(logs.lines().count(), MAX_LINES);
        assert_eq!(logs.lines().next().map(|line| line.number), Some(2));
    }
}
