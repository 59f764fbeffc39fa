//! The admin API of a world at an address, for what comes to it from outside.

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use wonce_host::admin::{AdminListener, router, serve};

use crate::api::state;
use crate::world::World;

pub(crate) struct Served {
    pub(crate) url: String,
    stop: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Served {
    pub(crate) async fn new(world: &World) -> Self {
        let tcp = TcpListener::bind("127.0.0.1:0").await.expect("it works");
        let url = format!("http://{}", tcp.local_addr().expect("it works"));
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(AdminListener::Tcp(tcp), router(state(world, None)), stop.clone()));
        Self { url, stop, serving }
    }

    /// Returns when nothing is served any more.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.serving.await.expect("it works").expect("it works");
    }
}
