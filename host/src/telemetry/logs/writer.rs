//! The way of a line out of the process: a bounded queue and one thread. A full queue drops the
//! line and counts it: a log must never stop an event. Knows nothing of what a line says.

use std::fs::OpenOptions;
use std::io::{IsTerminal, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use tracing_subscriber::fmt::MakeWriter;

use super::{Error, LogTarget};
use crate::telemetry::metrics;

/// Lines that wait for the writer thread; more are dropped and counted.
const LOG_QUEUE_LINES: usize = 16_384;
/// How long the end of the process waits for queued lines.
const FLUSH_WAIT: Duration = Duration::from_secs(2);
const FULL_QUEUE_PAUSE: Duration = Duration::from_millis(5);

enum Message {
    Line(Vec<u8>),
    /// Everything before it is written when the answer comes.
    Flush(SyncSender<()>),
}

/// Hands lines to the writer thread. Cheap to clone.
#[derive(Debug, Clone)]
pub struct LogWriter {
    queue: SyncSender<Message>,
    terminal: bool,
}

/// Writes what is still queued when it is dropped.
#[derive(Debug)]
pub struct LogGuard {
    queue: SyncSender<Message>,
}

impl LogWriter {
    /// Opens the target and starts its thread.
    ///
    /// # Errors
    /// When the file cannot be opened or the thread not be started.
    pub fn open(target: &LogTarget) -> Result<(Self, LogGuard), Error> {
        let (out, terminal): (Box<dyn Write + Send>, bool) =
            match target {
                LogTarget::Stderr => (Box::new(std::io::stderr()), std::io::stderr().is_terminal()),
                LogTarget::File(path) => {
                    let file = OpenOptions::new().create(true).append(true).open(path).map_err(|e| {
                        Error::File { path: path.display().to_string(), reason: e.to_string() }
                    })?;
                    (Box::new(file), false)
                }
            };
        Self::start(out, terminal, LOG_QUEUE_LINES)
    }

    fn start(out: Box<dyn Write + Send>, terminal: bool, lines: usize) -> Result<(Self, LogGuard), Error> {
        let (queue, waiting) = sync_channel(lines);
        std::thread::Builder::new()
            .name("wonce-log".to_owned())
            .spawn(move || write_lines(&waiting, out))
            .map_err(|e| Error::Writer { reason: e.to_string() })?;
        Ok((Self { queue: queue.clone(), terminal }, LogGuard { queue }))
    }

    /// Whether a person is watching.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }
}

fn write_lines(waiting: &Receiver<Message>, mut out: Box<dyn Write + Send>) {
    while let Ok(message) = waiting.recv() {
        match message {
            Message::Line(line) => {
                if out.write_all(&line).is_err() {
                    metrics::log_line_dropped();
                }
            }
            Message::Flush(answer) => {
                let _ = out.flush();
                let _ = answer.send(());
            }
        }
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        let give_up = Instant::now() + FLUSH_WAIT;
        let (answer, written) = sync_channel(1);
        let mut message = Message::Flush(answer);
        // A plain `send` would wait for ever behind a full queue that nobody empties.
        while let Err(TrySendError::Full(back)) = self.queue.try_send(message) {
            if Instant::now() >= give_up {
                return;
            }
            message = back;
            std::thread::sleep(FULL_QUEUE_PAUSE);
        }
        let _ = written.recv_timeout(give_up.saturating_duration_since(Instant::now()));
    }
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { queue: &self.queue, bytes: Vec::new() }
    }
}

/// Gathers one line and queues it as a whole.
#[derive(Debug)]
pub struct Line<'a> {
    queue: &'a SyncSender<Message>,
    bytes: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        match self.queue.try_send(Message::Line(std::mem::take(&mut self.bytes))) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => metrics::log_line_dropped(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Takes a line only when told to.
    struct Stuck {
        entered: mpsc::Sender<()>,
        go: Receiver<()>,
        written: mpsc::Sender<String>,
    }

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let _ = self.entered.send(());
            let _ = self.go.recv();
            let _ = self.written.send(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_who_stops_reading_does_not_stop_the_writers() {
        let (entered, is_stuck) = mpsc::channel();
        let (release, go) = mpsc::channel();
        let (written, lines) = mpsc::channel();
        let (writer, guard) =
            LogWriter::start(Box::new(Stuck { entered, go, written }), false, 1).expect("starts");
        let log = |text: &str| writer.make_writer().write_all(text.as_bytes()).expect("gathers");
        log("one");
        is_stuck.recv().expect("the thread holds line one");
        log("two");
        log("three is dropped");
        drop(release);
        drop(guard);
        assert_eq!(lines.try_iter().collect::<Vec<_>>(), ["one", "two"]);
    }

    #[test]
    fn a_file_is_appended_to_and_complete_when_the_guard_is_dropped() {
        let path = std::env::temp_dir().join(format!("wonce-log-{}.log", uuid::Uuid::new_v4()));
        for text in ["first\n", "second\n"] {
            let (writer, guard) = LogWriter::open(&LogTarget::File(path.clone())).expect("opens");
            writer.make_writer().write_all(text.as_bytes()).expect("gathers");
            drop(guard);
        }
        assert_eq!(std::fs::read_to_string(&path).expect("is there"), "first\nsecond\n");
        std::fs::remove_file(&path).expect("is removed");
    }
}
