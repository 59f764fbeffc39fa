//! Where this host's claims of a handler have got to, so that the next one need not walk over what
//! its neighbours hold or have settled. Only a hint: what lies before it is looked for again soon.
//!
//! Knows nothing of what is claimed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

/// How long a delivery that lies before the place can be passed over while later ones are due: one that was
/// accepted in a long transaction, for example.
const LOOK_BACK: Duration = Duration::from_millis(100);

/// The last delivery that was claimed, in the order of claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) due: SystemTime,
    pub(super) id: i64,
}

impl Place {
    /// Before every delivery: nothing was due when the epoch began.
    pub(super) const START: Self = Self { due: UNIX_EPOCH, id: 0 };
}

/// The place of one handler's claims. Claims of one host take turns: two at once would walk over
/// the same rows.
#[derive(Debug)]
pub struct ClaimTurns(Mutex<Turns>);

/// The right to claim now.
pub(super) type Turn<'a> = MutexGuard<'a, Turns>;

#[derive(Debug)]
pub(super) struct Turns {
    place: Place,
    looked_back: Instant,
}

impl Default for ClaimTurns {
    fn default() -> Self {
        Self(Mutex::new(Turns { place: Place::START, looked_back: Instant::now() }))
    }
}

impl ClaimTurns {
    pub(super) async fn next(&self) -> Turn<'_> {
        self.0.lock().await
    }

    /// Whether a claim is under way or the last one was full: then its worker goes on by itself,
    /// and nobody else needs to look whether anything is due.
    #[must_use]
    pub fn go_on(&self) -> bool {
        self.0.try_lock().map_or(true, |turns| turns.place != Place::START)
    }

    /// Some of what was claimed is still due: the next claim begins at the start.
    pub async fn look_back(&self) {
        self.0.lock().await.place = Place::START;
    }
}

impl Turns {
    /// Where the claim begins.
    pub(super) fn begin(&mut self) -> Place {
        if self.looked_back.elapsed() >= LOOK_BACK {
            self.place = Place::START;
        }
        if self.place == Place::START {
            self.looked_back = Instant::now();
        }
        self.place
    }

    /// How far the claim came: as far as its last delivery, or through everything.
    pub(super) fn ended(&mut self, last: Option<Place>) {
        self.place = last.unwrap_or(Place::START);
    }
}
