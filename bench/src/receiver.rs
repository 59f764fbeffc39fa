//! Where effects go. It can hold its answers back: then a sink that sends one effect at a time stays busy with the
//! first one, and a drain is measured without its relay.

use std::net::SocketAddr;

use anyhow::Context;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use tokio::sync::watch;

/// A listening receiver. Dropping it ends its server.
#[derive(Debug)]
pub(crate) struct Receiver {
    address: SocketAddr,
    gate: watch::Sender<Gate>,
    server: tokio::task::JoinHandle<()>,
}

/// Whether effects are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    Held,
    Open,
}

impl Receiver {
    pub(crate) async fn listen(gate: Gate) -> anyhow::Result<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.context("open the receiver")?;
        let address = listener.local_addr()?;
        let (gate, seen) = watch::channel(gate);
        let router = Router::new().route("/receipts", post(receive)).with_state(seen);
        let server = tokio::spawn(async move {
            // It ends with the task; an error would show as effects that are never confirmed.
            let _ended = axum::serve(listener, router).await;
        });
        Ok(Self { address, gate, server })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on everything is answered.
    pub(crate) fn open(&self) {
        self.gate.send_replace(Gate::Open);
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn receive(State(mut gate): State<watch::Receiver<Gate>>) -> StatusCode {
    match gate.wait_for(|gate| *gate == Gate::Open).await {
        Ok(_) => StatusCode::ACCEPTED,
        Err(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}
