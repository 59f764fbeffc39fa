//! The host's long-lived tasks: each has a name, one stop signal and one owner, which waits for
//! it. A service that ends before it was told to is a bug or a lost resource, and stops the host.

use std::future::Future;
use std::time::Duration;

use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::CancellationToken;

/// A group of services that stop together.
#[derive(Debug)]
pub struct Services {
    stop: CancellationToken,
    /// Fires when any service of the host ends early.
    early_end: CancellationToken,
    running: Vec<(&'static str, JoinHandle<()>)>,
}

impl Services {
    /// A group whose early ends fire `early_end`.
    #[must_use]
    pub fn new(early_end: CancellationToken) -> Self {
        Self { stop: CancellationToken::new(), early_end, running: Vec::new() }
    }

    /// Starts a service. It gets the group's stop signal.
    pub fn spawn<F>(&mut self, name: &'static str, service: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (stop, early_end) = (self.stop.clone(), self.early_end.clone());
        let work = service(stop.clone());
        let watch = EarlyEnd { name, stop, early_end };
        self.running.push((
            name,
            tokio::spawn(async move {
                let _watch = watch;
                work.await;
            }),
        ));
    }

    /// Stops all of them and waits up to `limit` for each; what still runs then is cut off.
    pub async fn stop(self, limit: Duration) {
        self.stop.cancel();
        for (name, mut task) in self.running {
            match tokio::time::timeout(limit, &mut task).await {
                Ok(ended) => report(name, ended),
                Err(_) => {
                    tracing::warn!(
                        service = name,
                        limit_ms = limit.as_millis(),
                        "service did not stop in time and is cut off"
                    );
                    task.abort();
                }
            }
        }
    }
}

/// Speaks up when its service ends, by return or by panic, before anyone asked.
struct EarlyEnd {
    name: &'static str,
    stop: CancellationToken,
    early_end: CancellationToken,
}

impl Drop for EarlyEnd {
    fn drop(&mut self) {
        if !self.stop.is_cancelled() {
            tracing::error!(service = self.name, "service ended before it was told to; the host stops");
            self.early_end.cancel();
        }
    }
}

fn report(name: &'static str, ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(service = name, error = %error, "service ended badly");
    }
}
