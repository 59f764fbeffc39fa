//! After an unclean end a host runs its first claims one at a time and commits a mark before each
//! guest starts, so that a delivery under which hosts keep dying is found out instead of dying
//! with every host for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::store::host_boot::LastEnd;

/// Probation lasts for this many claims per permit: whatever was running when the host died is
/// certainly among them.
const CLAIMS_PER_PERMIT: usize = 2;
/// With this many marks and no settlement between, a delivery is dead: `crash_suspect`.
pub const MAX_MARKS: i32 = 3;

/// What is left of this host's probation.
#[derive(Debug)]
pub struct Probation {
    claims_left: AtomicUsize,
    one_at_a_time: Arc<Mutex<()>>,
}

impl Probation {
    /// None after a clean end.
    #[must_use]
    pub fn after(last: LastEnd, permits: usize) -> Self {
        let claims = match last {
            LastEnd::Clean => 0,
            LastEnd::Unclean => permits * CLAIMS_PER_PERMIT,
        };
        Self { claims_left: AtomicUsize::new(claims), one_at_a_time: Arc::default() }
    }

    /// Waits for this host's turn to claim, or `None` when probation is over. Asked before the
    /// claim: nobody waits with an open transaction.
    pub async fn turn(&self) -> Option<Turn> {
        if self.claims_left.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let turn = Arc::clone(&self.one_at_a_time).lock_owned().await;
        (self.claims_left.load(Ordering::Relaxed) > 0).then_some(Turn(turn))
    }

    /// Counts a claim that was made in a turn.
    pub fn claimed(&self, _turn: &Turn) {
        // Only the holder of the turn counts, so this cannot go below zero.
        self.claims_left.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Held from before a claim to its settlement.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "held for its drop")] OwnedMutexGuard<()>);
