//! The two doors of a host: one for events, one for operators. Bound before anything is promised,
//! so that a taken address stops the start; opened when everything behind them runs.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use async_trait::async_trait;
use tokio::net::{TcpListener, UnixListener};

use super::settings;
use crate::admin::plugins::Plugins;
use crate::admin::{self, AdminListener, AdminState, Readiness, Ready};
use crate::config::{AdminListen, Config};
use crate::live::{Hub, Logs};
use crate::pipeline::dispatch::Shared;
use crate::pipeline::intake::Intake;
use crate::pipeline::scout::Vitals;
use crate::service::Services;
use crate::source::http::{self, HttpSettings};
use crate::source::webhook::KeptHeaders;
use crate::telemetry::logs::tail::TAIL;
use crate::telemetry::metrics::MetricsHandle;

/// Both doors, still closed.
#[derive(Debug)]
pub(super) struct Doors {
    pub(super) http_address: SocketAddr,
    pub(super) admin_address: Option<SocketAddr>,
    http: TcpListener,
    admin: AdminListener,
    http_settings: HttpSettings,
}

/// What operators come for, beside the store.
pub(super) struct Shown {
    pub(super) metrics: MetricsHandle,
    pub(super) live: Arc<Hub>,
    pub(super) plugins: Arc<dyn Plugins>,
}

/// Binds both.
pub(super) async fn bind(config: &Config, keep: KeptHeaders) -> anyhow::Result<Doors> {
    let http = TcpListener::bind(config.http.listen).await.with_context(|| {
        format!(
            "cannot listen on {} for events; stop what listens there or change http.listen",
            config.http.listen
        )
    })?;
    let (admin, admin_address) = match &config.admin.listen {
        AdminListen::Unix(path) => (AdminListener::Unix(bind_unix(path)?), None),
        AdminListen::Tcp(address) => {
            let listener = TcpListener::bind(address).await.with_context(|| {
                format!(
                    "cannot listen on {address} for operators; stop what listens there or change admin.listen"
                )
            })?;
            let bound = listener.local_addr()?;
            (AdminListener::Tcp(listener), Some(bound))
        }
    };
    Ok(Doors {
        http_address: http.local_addr()?,
        admin_address,
        http,
        admin,
        http_settings: settings::http(config, &keep)?,
    })
}

/// A socket file that a killed host left behind is taken over; one that answers is not.
fn bind_unix(path: &Path) -> anyhow::Result<UnixListener> {
    if std::os::unix::net::UnixStream::connect(path).is_err() && path.exists() {
        std::fs::remove_file(path)
            .with_context(|| format!("cannot remove the stale socket \"{}\"", path.display()))?;
    }
    let listener = UnixListener::bind(path).with_context(|| {
        format!("cannot listen on \"{}\" for operators; change admin.socket", path.display())
    })?;
    let only_me = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(path, only_me)
        .with_context(|| format!("cannot protect the socket \"{}\"", path.display()))?;
    Ok(listener)
}

impl Doors {
    /// Opens both.
    pub(super) fn serve(
        self,
        services: &mut Services,
        config: &Config,
        intake: Intake,
        shared: &Arc<Shared>,
        shown: Shown,
    ) {
        let Shown { metrics, live, plugins } = shown;
        let state = AdminState {
            store: shared.store.clone(),
            settings: settings::admin(config, self.admin_address),
            readiness: Arc::new(ByVitals(Arc::clone(&shared.vitals))),
            metrics: Arc::new(move || metrics.render()),
            live,
            logs: Arc::new(Logs::new(&TAIL)),
            parked: Some(Arc::new(intake.clone())),
            plugins: Some(plugins),
        };
        let operators = admin::router(state);
        let events = http::router(Arc::new(intake), self.http_settings);
        let (http, admin) = (self.http, self.admin);
        services.spawn("events", move |stop| async move {
            said(axum::serve(http, events).with_graceful_shutdown(stop.cancelled_owned()).await);
        });
        services.spawn("admin", move |stop| async move { said(admin::serve(admin, operators, stop).await) });
    }
}

fn said(ended: std::io::Result<()>) {
    if let Err(error) = ended {
        tracing::error!(error = %error, "a listener failed");
    }
}

/// Readiness by what the scout and the workers saw.
struct ByVitals(Arc<Vitals>);

#[async_trait]
impl Readiness for ByVitals {
    async fn ready(&self) -> Ready {
        match self.0.ready() {
            Ok(()) => Ready::Ready,
            Err(reason) => Ready::NotReady { reason },
        }
    }
}
