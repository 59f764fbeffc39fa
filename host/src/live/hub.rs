//! Where the frames of this host's stream come together and its readers begin. Readers are bounded,
//! take what they need when they are ready for it, and share what was written for one of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use tokio::sync::watch;
use wonce_api::live::{Cursor, Hello, HostSeen, HostTick, Message, PROTOCOL, Snapshot};
use wonce_core::alert::judge::Recent;

use super::fleet::Fleet;
use super::reader::{Place, Reader};
use super::ring::{Frame, KEPT_FRAMES, Ring};
use super::wire;
use crate::store::tick::{Heard, Since};
use crate::telemetry::metrics;

/// Readers at once.
pub const MAX_READERS: usize = 32;
/// A reader that took nothing for so long gives its place to one who asks for it.
pub(super) const IDLE_READER: Duration = Duration::from_secs(15);
/// A reader hears at least a comment in this time.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// A reader that is so many frames behind gets a snapshot: it is shorter to write once.
const MAX_LAG: u64 = 10;
/// The pace of ticks.
pub const TICK: Duration = Duration::from_secs(1);

/// All places are taken, by readers that read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

/// What a stream says of the host that it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    pub boot: String,
    pub name: String,
    /// The same in every host of this database.
    pub database: String,
}

/// See the module.
#[derive(Debug)]
pub struct Hub {
    about: About,
    inner: Mutex<Inner>,
    /// The last frame's number; 0 before the first. Gone when the host stops.
    latest: Mutex<Option<watch::Sender<u64>>>,
    readers: Mutex<Vec<Weak<Place>>>,
}

#[derive(Debug)]
struct Inner {
    fleet: Fleet,
    ring: Ring,
    seq: u64,
    /// Written for the first reader that asks, with the frame it belongs to.
    last_frame: Option<(u64, Bytes)>,
    snapshot: Option<(u64, Bytes)>,
}

impl Hub {
    #[must_use]
    pub fn new(about: About) -> Arc<Self> {
        let own = HostSeen {
            boot: about.boot.clone(),
            name: about.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            state: "alive".to_owned(),
            started_at: Timestamp::now().to_string(),
            heard_seconds_ago: 0.0,
        };
        let inner =
            Inner { fleet: Fleet::new(own), ring: Ring::default(), seq: 0, last_frame: None, snapshot: None };
        Arc::new(Self {
            about,
            inner: Mutex::new(inner),
            latest: Mutex::new(Some(watch::Sender::new(0))),
            readers: Mutex::default(),
        })
    }

    /// A place for a reader, who may say where it stood.
    ///
    /// # Errors
    /// When there is none.
    pub fn read(self: &Arc<Self>, resume: Option<Cursor>) -> Result<Reader, Full> {
        let latest = self.frames().ok_or(Full)?;
        let place = self.place()?;
        Ok(Reader::new(Arc::clone(self), place, latest, resume))
    }

    /// Changes with each frame, and is gone when the host stops; none when it already is.
    pub(super) fn frames(&self) -> Option<watch::Receiver<u64>> {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.as_ref().map(watch::Sender::subscribe)
    }

    pub(super) fn boot(&self) -> &str {
        &self.about.boot
    }

    /// Ends every stream.
    pub fn close(&self) {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// From where on the others are to be read.
    pub(super) fn since(&self, seconds: f64) -> Since {
        Since { seconds, action: self.inner().fleet.known_actions() }
    }

    /// What all hosts counted of a handler within a window that ends now.
    pub(super) fn recent(&self, handler: &str, window: Duration) -> Recent {
        self.inner().fleet.recent(handler, window)
    }

    /// The next frame.
    pub(super) fn beat(&self, own: HostTick, heard: Option<Heard>, elapsed_seconds: f64) {
        let mut inner = self.inner();
        let is_heard = heard.is_some();
        let (before, ticks) = inner.fleet.take(own, heard, elapsed_seconds);
        inner.seq += 1;
        let seq = inner.seq;
        inner.ring.push(Frame { seq, before, ticks });
        if let Some(gauges) = inner.fleet.gauges().filter(|_| is_heard) {
            let (gauges, hosts) = (gauges.clone(), inner.fleet.states());
            let alerts = inner.fleet.alerts().into_iter().map(|alert| (alert.handler, alert.rule)).collect();
            metrics::fleet(metrics::Fleet { gauges, read_at: Timestamp::now(), hosts, alerts });
        }
        drop(inner);
        if let Some(latest) = &*self.latest.lock().unwrap_or_else(PoisonError::into_inner) {
            latest.send_replace(seq);
        }
        self.living_readers();
    }

    pub(super) fn hello(&self) -> Bytes {
        let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let hello = Hello {
            protocol: PROTOCOL,
            boot: self.about.boot.clone(),
            host: self.about.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            database: self.about.database.clone(),
            now: Timestamp::now().to_string(),
            tick_ms: milliseconds(TICK),
            keep_alive_ms: milliseconds(KEEP_ALIVE),
            resumable_frames: u64::try_from(KEPT_FRAMES).unwrap_or(u64::MAX),
        };
        Bytes::from(wire::aside(&Message::Hello(hello)))
    }

    /// What a reader that comes back needs, and where it stands then.
    pub(super) fn resume(&self, from: &Cursor) -> (u64, Bytes) {
        let mut inner = self.inner();
        let missed = if from.boot == self.about.boot { inner.ring.after(from.seq) } else { None };
        match missed {
            Some(frame) => (frame.seq, self.write(frame)),
            None => inner.snapshot(&self.about.boot),
        }
    }

    /// The same for one that was never away.
    pub(super) fn after(&self, seq: u64) -> (u64, Bytes) {
        let mut inner = self.inner();
        let lag = inner.seq.saturating_sub(seq);
        if lag == 1 {
            return inner.last_frame(&self.about.boot);
        }
        match inner.ring.after(seq).filter(|_| lag <= MAX_LAG) {
            Some(frame) => (frame.seq, self.write(frame)),
            None => inner.snapshot(&self.about.boot),
        }
    }

    pub(super) fn snapshot(&self) -> (u64, Bytes) {
        self.inner().snapshot(&self.about.boot)
    }

    fn write(&self, frame: Frame) -> Bytes {
        let cursor = Cursor { boot: self.about.boot.clone(), seq: frame.seq };
        Bytes::from(wire::frame(&frame.into_messages(), &cursor))
    }

    fn place(&self) -> Result<Arc<Place>, Full> {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        readers.retain(|place| place.upgrade().is_some_and(|place| !place.is_lost()));
        if readers.len() >= MAX_READERS {
            let idle = readers.iter().filter_map(Weak::upgrade).max_by_key(|place| place.idle());
            let idle = idle.filter(|place| place.idle() >= IDLE_READER).ok_or(Full)?;
            idle.lose();
            readers.retain(|place| place.upgrade().is_some_and(|place| !place.is_lost()));
        }
        let place = Arc::new(Place::default());
        readers.push(Arc::downgrade(&place));
        metrics::live_readers(readers.len());
        Ok(place)
    }

    fn living_readers(&self) {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        readers.retain(|place| place.strong_count() > 0);
        metrics::live_readers(readers.len());
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn snapshot(&mut self, boot: &str) -> (u64, Bytes) {
        if let Some((seq, written)) = self.snapshot.as_ref().filter(|(seq, _)| *seq == self.seq) {
            return (*seq, written.clone());
        }
        let snapshot = Snapshot {
            seq: self.seq,
            now: Timestamp::now().to_string(),
            hosts: self.fleet.hosts(),
            history: self.fleet.history(),
            before: self.fleet.before(),
            gauges: self.fleet.gauges().cloned(),
            alerts: self.fleet.alerts(),
            changes: self.fleet.actions(),
            ops: self.fleet.ops(),
        };
        let cursor = Cursor { boot: boot.to_owned(), seq: self.seq };
        let written = Bytes::from(wire::frame(&[Message::Snapshot(Box::new(snapshot))], &cursor));
        self.snapshot = Some((self.seq, written.clone()));
        (self.seq, written)
    }

    fn last_frame(&mut self, boot: &str) -> (u64, Bytes) {
        if let Some((seq, written)) = self.last_frame.as_ref().filter(|(seq, _)| *seq == self.seq) {
            return (*seq, written.clone());
        }
        let Some(frame) = self.ring.after(self.seq.saturating_sub(1)) else { return self.snapshot(boot) };
        let cursor = Cursor { boot: boot.to_owned(), seq: frame.seq };
        let written = Bytes::from(wire::frame(&frame.into_messages(), &cursor));
        self.last_frame = Some((self.seq, written.clone()));
        (self.seq, written)
    }
}

#[cfg(test)]
mod tests;
