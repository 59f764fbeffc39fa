//! Serves a router on the operators' door until told to stop.

use std::io;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;

/// How long answers in flight may take after the stop.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);

/// A bound door. Bind first, so that a taken address is an error at start.
#[derive(Debug)]
pub enum AdminListener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// Answers until `stop`, then lets answers in flight end, for at most five seconds.
///
/// # Errors
/// When the listener fails for good.
pub async fn serve(listener: AdminListener, router: Router, stop: CancellationToken) -> io::Result<()> {
    let stopped = stop.clone().cancelled_owned();
    let serving = async {
        match listener {
            AdminListener::Tcp(tcp) => axum::serve(tcp, router).with_graceful_shutdown(stopped).await,
            AdminListener::Unix(unix) => axum::serve(unix, router).with_graceful_shutdown(stopped).await,
        }
    };
    let drained = async {
        stop.cancelled().await;
        tokio::time::sleep(DRAIN_LIMIT).await;
    };
    tokio::select! {
        result = serving => result,
        () = drained => {
            tracing::warn!(seconds = DRAIN_LIMIT.as_secs(), "admin answers in flight were cut at the stop");
            Ok(())
        }
    }
}
