//! Every wait of these tests: bounded, and for a condition. The only timers are here.

use std::time::{Duration, Instant};

/// Far longer than any wait of a test that works.
const PATIENCE: Duration = Duration::from_secs(150);
/// Between two looks at a condition.
const PAUSE: Duration = Duration::from_millis(20);

/// Looks again and again until `look` sees something, and gives that.
///
/// # Panics
/// When it never comes; `what` says what was waited for.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let seen = async {
        loop {
            // Boxed, or every wait would carry the whole of what it looks at.
            if let Some(found) = Box::pin(look()).await {
                return found;
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    bounded(what, seen).await
}

/// Asks until the answer is yes.
///
/// # Panics
/// When it never is.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    eventually(what, async || Box::pin(holds()).await.then_some(())).await;
}

/// A wait that is written out as a loop, where a closure would keep a future from being sent.
#[derive(Debug)]
pub struct Looking {
    what: String,
    since: Instant,
}

impl Looking {
    /// Begins.
    #[must_use]
    pub fn for_condition(what: &str) -> Self {
        Self { what: what.to_owned(), since: Instant::now() }
    }

    /// Between two looks.
    ///
    /// # Panics
    /// When it has gone on for too long.
    pub async fn pause(&self) {
        assert!(self.since.elapsed() < PATIENCE, "this never came true: {}", self.what);
        tokio::time::sleep(PAUSE).await;
    }
}

/// Waits for a future.
///
/// # Panics
/// When it does not end.
pub async fn bounded<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("this never came true: {what}"),
    }
}
