//! One reader's way through the stream: hello, what it missed or a snapshot, then frame by frame,
//! each taken when the reader is ready for it. Whoever is late gets one frame for many, or a
//! snapshot; nothing is kept for anybody. Knows nothing of the connection it reads over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::watch;
use wonce_api::live::{Bye, Cursor, Message};

use super::hub::{Hub, KEEP_ALIVE};
use super::wire;

/// When a reader may come back after the host has stopped, or took its place away.
const RETRY_MS: u64 = 1_000;

/// A reader's claim to be served; lost when it reads nothing and another one wants it.
#[derive(Debug)]
pub(super) struct Place {
    read: Mutex<Instant>,
    lost: AtomicBool,
}

/// See the module.
#[derive(Debug)]
pub struct Reader {
    hub: Arc<Hub>,
    place: Arc<Place>,
    latest: watch::Receiver<u64>,
    at: At,
}

#[derive(Debug)]
enum At {
    Door { resume: Option<Cursor> },
    Welcome { resume: Option<Cursor> },
    Frame(u64),
    End,
}

impl Default for Place {
    fn default() -> Self {
        Self { read: Mutex::new(Instant::now()), lost: AtomicBool::new(false) }
    }
}

impl Place {
    /// For how long nothing was read.
    pub(super) fn idle(&self) -> Duration {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    pub(super) fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    fn reads(&self) {
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    #[cfg(test)]
    pub(super) fn read_last(&self, ago: Duration) {
        let at = Instant::now().checked_sub(ago).expect("the machine is older");
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }
}

impl Reader {
    pub(super) fn new(
        hub: Arc<Hub>,
        place: Arc<Place>,
        latest: watch::Receiver<u64>,
        resume: Option<Cursor>,
    ) -> Self {
        Self { hub, place, latest, at: At::Door { resume } }
    }

    /// The next piece of the stream; none when it is over.
    pub async fn next(&mut self) -> Option<Bytes> {
        self.place.reads();
        if self.place.is_lost() {
            return self.bye("slow");
        }
        match std::mem::replace(&mut self.at, At::End) {
            At::Door { resume } => {
                self.at = At::Welcome { resume };
                Some(self.hub.hello())
            }
            At::Welcome { resume } => Some(self.welcome(resume.as_ref())),
            At::Frame(seq) => self.frame_after(seq).await,
            At::End => None,
        }
    }

    fn welcome(&mut self, resume: Option<&Cursor>) -> Bytes {
        let (seq, bytes) = match resume {
            Some(cursor) => self.hub.resume(cursor),
            None => self.hub.snapshot(),
        };
        self.at = At::Frame(seq);
        bytes
    }

    async fn frame_after(&mut self, seq: u64) -> Option<Bytes> {
        // Put back before the wait, which may be dropped.
        self.at = At::Frame(seq);
        let newer = self.latest.wait_for(|latest| *latest > seq);
        let waited = tokio::time::timeout(KEEP_ALIVE, newer).await.map(|newer| newer.map(drop));
        match waited {
            Err(_) => Some(Bytes::from_static(wire::KEEP_ALIVE)),
            Ok(Err(_)) => self.bye("stopping"),
            Ok(Ok(())) => {
                let (seq, bytes) = self.hub.after(seq);
                self.at = At::Frame(seq);
                Some(bytes)
            }
        }
    }

    fn bye(&mut self, reason: &str) -> Option<Bytes> {
        if let At::End = self.at {
            return None;
        }
        self.at = At::End;
        let bye = Bye { reason: reason.to_owned(), retry_ms: RETRY_MS };
        Some(Bytes::from(wire::aside(&Message::Bye(bye))))
    }
}

#[cfg(test)]
impl Reader {
    pub(super) fn place(&self) -> &Place {
        &self.place
    }
}
