//! A hint within one host that a handler has something due, from whoever knows: intake after its
//! commit, the scout, a worker that found more. A lost hint costs one poll interval, never an event.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

/// The bells of all handlers. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Wake {
    bells: Arc<Mutex<HashMap<i64, Arc<Notify>>>>,
}

impl Wake {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Something of this handler is due now: wakes one worker, which wakes the next if it finds
    /// work. A ring that nobody hears is kept for the next listener.
    pub fn due(&self, handler: i64) {
        self.bell(handler).notify_one();
    }

    /// Ready when the handler's bell is rung, or at once if it was rung since the last listener.
    pub fn notified(&self, handler: i64) -> impl Future<Output = ()> + Send + use<> {
        self.bell(handler).notified_owned()
    }

    fn bell(&self, handler: i64) -> Arc<Notify> {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(bells.entry(handler).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::Wake;

    #[tokio::test]
    async fn a_ring_before_anyone_listens_is_not_missed() {
        let wake = Wake::new();
        wake.due(7);
        wake.notified(7).await;
    }

    #[tokio::test]
    async fn a_hint_for_another_handler_wakes_nobody() {
        let wake = Wake::new();
        let mut registered = std::pin::pin!(wake.notified(7));
        wake.due(8);
        assert!(futures_util::poll!(registered.as_mut()).is_pending());
        wake.due(7);
        assert!(futures_util::poll!(registered).is_ready());
    }
}
