//! The stream of this host's log lines, apart from the other so that a flood of lines delays no
//! number: hello, the last lines, then batches at a bounded pace. Nothing is kept for a reader; one
//! that is late learns how many lines it missed. Knows nothing of the connection it reads over.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use wonce_api::live::{Bye, Cursor, LogBatch, Message};

use super::hub::{Full, Hub, KEEP_ALIVE};
use super::wire;
use crate::telemetry::logs::tail::{Later, Tail, Wanted};
use crate::telemetry::metrics;

/// Readers at once.
pub const MAX_LOG_READERS: usize = 8;
/// Lines of one batch.
const BATCH_LINES: usize = 200;
/// Lines from before the reader came.
const FIRST_LINES: usize = 100;
/// Between two batches: at most two a second, so a reader takes at most 400 lines a second.
const BATCH_PAUSE: Duration = Duration::from_millis(500);
/// When a reader may come back.
const RETRY_MS: u64 = 1_000;

/// The tail of the log and the places of those who read it.
#[derive(Debug)]
pub struct Logs {
    tail: &'static Tail,
    places: Arc<Semaphore>,
    pace: Pace,
}

/// How often something is said.
#[derive(Debug, Clone, Copy)]
struct Pace {
    batch_pause: Duration,
    keep_alive: Duration,
}

/// One reader's way through the lines.
#[derive(Debug)]
pub struct LogReader {
    hub: Arc<Hub>,
    tail: &'static Tail,
    wanted: Wanted,
    lines: watch::Receiver<u64>,
    /// Gone when the host stops.
    frames: watch::Receiver<u64>,
    at: At,
    /// The line up to which everything was said.
    line: u64,
    pace: Pace,
    /// Given back with the reader.
    _place: OwnedSemaphorePermit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Door,
    Welcome,
    Lines,
    End,
}

impl Logs {
    #[must_use]
    pub fn new(tail: &'static Tail) -> Self {
        let pace = Pace { batch_pause: BATCH_PAUSE, keep_alive: KEEP_ALIVE };
        Self { tail, places: Arc::new(Semaphore::new(MAX_LOG_READERS)), pace }
    }

    /// A place for a reader, who may say where it stood.
    ///
    /// # Errors
    /// When there is none.
    pub fn read(&self, hub: &Arc<Hub>, wanted: Wanted, resume: Option<&Cursor>) -> Result<LogReader, Full> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| Full)?;
        let frames = hub.frames().ok_or(Full)?;
        let lines = self.tail.latest();
        let line = match resume.filter(|cursor| cursor.boot == hub.boot()) {
            Some(cursor) => cursor.seq.min(*lines.borrow()),
            None => self.tail.before_the_last(FIRST_LINES, &wanted),
        };
        Ok(LogReader {
            hub: Arc::clone(hub),
            tail: self.tail,
            wanted,
            lines,
            frames,
            at: At::Door,
            line,
            pace: self.pace,
            _place: place,
        })
    }
}

impl LogReader {
    /// The next piece of the stream; none when it is over.
    pub async fn next(&mut self) -> Option<Bytes> {
        match self.at {
            At::Door => {
                self.at = At::Welcome;
                Some(self.hub.hello())
            }
            // Said even when there are none, so that a reader knows that it has them all.
            At::Welcome => {
                self.at = At::Lines;
                let later = self.tail.after(self.line, &self.wanted, BATCH_LINES);
                Some(self.say(later))
            }
            At::Lines => self.later().await,
            At::End => None,
        }
    }

    async fn later(&mut self) -> Option<Bytes> {
        let stopped = {
            let (tail, wanted, line) = (self.tail, &self.wanted, &mut self.line);
            let (lines, frames, pace) = (&mut self.lines, &mut self.frames, self.pace);
            tokio::select! {
                later = newer(tail, wanted, line, lines, pace) => Ok(later),
                () = over(frames) => Err("stopping"),
            }
        };
        match stopped {
            Ok(Some(later)) => Some(self.say(later)),
            Ok(None) => Some(Bytes::from_static(wire::KEEP_ALIVE)),
            Err(reason) => {
                self.at = At::End;
                let bye = Bye { reason: reason.to_owned(), retry_ms: RETRY_MS };
                Some(Bytes::from(wire::aside(&Message::Bye(bye))))
            }
        }
    }

    fn say(&mut self, later: Later) -> Bytes {
        self.line = later.upto;
        metrics::live_log_lines_missed(later.missed);
        let lines = later.lines.iter().map(|line| line.as_ref().clone()).collect();
        let cursor = Cursor { boot: self.hub.boot().to_owned(), seq: self.line };
        let batch = LogBatch { lines, dropped: later.missed };
        Bytes::from(wire::frame(&[Message::Log(batch)], &cursor))
    }
}

/// The next batch that has anything in it; none when it is time for a sign of life. Lines that are
/// not wanted are passed over for good.
async fn newer(
    tail: &Tail,
    wanted: &Wanted,
    line: &mut u64,
    lines: &mut watch::Receiver<u64>,
    pace: Pace,
) -> Option<Later> {
    let batch = async {
        loop {
            tokio::time::sleep(pace.batch_pause).await;
            // It cannot fail: the tail outlives its readers.
            let _ = lines.wait_for(|latest| *latest > *line).await;
            let later = tail.after(*line, wanted, BATCH_LINES);
            if !later.lines.is_empty() || later.missed > 0 {
                return later;
            }
            *line = later.upto;
        }
    };
    tokio::time::timeout(pace.keep_alive, batch).await.ok()
}

/// Waits until the host stops.
async fn over(frames: &mut watch::Receiver<u64>) {
    while frames.changed().await.is_ok() {}
}

#[cfg(test)]
mod tests;
