//! The clock by which running guests look up: one thread that raises the engine's epoch at a
//! fixed beat. Knows nothing of deadlines; each store compares its own.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wasmtime::Engine;

/// How often a guest that computes gives way to others, and the grain of its deadline.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Owns the thread; dropping it stops and joins the thread.
#[derive(Debug)]
pub(crate) struct Ticker {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn start(engine: Engine) -> io::Result<Self> {
        let (stop, stopped) = sync_channel(1);
        let thread = thread::Builder::new().name("wonce-epoch".to_owned()).spawn(move || {
            while matches!(stopped.recv_timeout(TICK), Err(RecvTimeoutError::Timeout)) {
                engine.increment_epoch();
            }
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the epoch thread panicked; deadlines of computing guests were not kept");
        }
    }
}
