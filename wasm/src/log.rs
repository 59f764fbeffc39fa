//! The lines that one invocation logged, bounded. Knows nothing of where they go.

/// How serious the guest thinks a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LogLevel {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
}

/// How a line came out of the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogOrigin {
    /// The contract's `log.write`.
    Log,
    Stdout,
    Stderr,
}

/// One line, without control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub level: LogLevel,
    pub origin: LogOrigin,
    pub message: String,
    pub fields: Vec<(String, String)>,
}

/// Keeps lines up to a count and a sum of bytes, and counts what it drops.
#[derive(Debug)]
pub(crate) struct LogBook {
    lines: Vec<LogLine>,
    dropped: u64,
    lines_left: u64,
    bytes_left: usize,
}

impl LogBook {
    pub(crate) fn new(lines: u64, bytes: u64) -> Self {
        let bytes_left = usize::try_from(bytes).unwrap_or(usize::MAX);
        Self { lines: Vec::new(), dropped: 0, lines_left: lines, bytes_left }
    }

    /// Keeps the line, cut to what is left; a line of which nothing is left is dropped.
    pub(crate) fn write(&mut self, mut line: LogLine) {
        if self.lines_left == 0 || self.bytes_left == 0 {
            self.dropped += 1;
            return;
        }
        self.lines_left -= 1;
        self.take(&mut line.message);
        line.fields.retain_mut(|(name, value)| {
            let room = self.bytes_left > name.len();
            self.take(name);
            self.take(value);
            room
        });
        self.lines.push(line);
    }

    /// Counts a piece of output that was lost before it came here.
    pub(crate) fn lost(&mut self, lines: u64) {
        self.dropped += lines;
    }

    /// The kept lines and the count of dropped ones.
    pub(crate) fn close(self) -> (Vec<LogLine>, u64) {
        (self.lines, self.dropped)
    }

    fn take(&mut self, text: &mut String) {
        if text.len() > self.bytes_left {
            text.truncate(text.floor_char_boundary(self.bytes_left));
        }
        self.bytes_left -= text.len();
        if text.contains(char::is_control) {
            // A control character may be two bytes and a space is one: never longer.
            *text = text.replace(char::is_control, " ");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: &str) -> LogLine {
        LogLine {
            level: LogLevel::Info,
            origin: LogOrigin::Log,
            message: message.to_owned(),
            fields: Vec::new(),
        }
    }

    #[test]
    fn a_line_over_the_byte_limit_is_cut_at_a_character() {
        let mut book = LogBook::new(10, 5);
        book.write(line("abcdéf"));
        book.write(line("next"));
        let (lines, dropped) = book.close();
        // "é" would end at byte 6; byte 5 is inside it.
        assert_eq!(lines, [line("abcd"), line("n")]);
        assert_eq!(dropped, 0);
    }

    #[test]
    fn lines_over_the_count_are_dropped_and_counted() {
        let mut book = LogBook::new(1, 100);
        book.write(line("a"));
        book.write(line("b"));
        book.write(line("c"));
        let (lines, dropped) = book.close();
        assert_eq!((lines.len(), dropped), (1, 2));
    }

    #[test]
    fn control_characters_do_not_reach_a_terminal() {
        let mut book = LogBook::new(1, 100);
        book.write(line("a\u{1b}[2J\nb"));
        assert_eq!(book.close().0, [line("a [2J b")]);
    }
}
