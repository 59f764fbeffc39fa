//! SIGINT and SIGTERM: the first asks for a graceful stop, the second ends it.

use tokio::signal::unix::{SignalKind, signal};

/// Waits for the next signal. Registered at the call, so none is lost while the host starts.
pub(super) fn next() -> std::io::Result<impl Future<Output = &'static str>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => "SIGINT",
            _ = terminate.recv() => "SIGTERM",
        }
    })
}
