//! Waits for what a host does in its own time. The only place of these tests with a timer.

use std::time::Duration;

/// Far longer than anything that works takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Looks again and again until `look` sees something, and gives that.
///
/// # Panics
/// When it never comes; `what` says what was waited for.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let seen = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    match tokio::time::timeout(PATIENCE, seen).await {
        Ok(found) => found,
        Err(_) => panic!("waited {} s for this, and it never came: {what}", PATIENCE.as_secs()),
    }
}
