//! The composition root: builds everything from the configuration, starts the services, and owns
//! the order in which they stop. Everybody is known here; nobody knows this module but the
//! command line and the tests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wonce_wasm::{Sandbox, Settings as SandboxSettings};

use crate::config::Config;
use crate::live::{About, Beat, Hub, Sampler};
use crate::pipeline::dispatch::{Dispatch, Drained, Shared};
use crate::pipeline::intake::intake;
use crate::pipeline::notice::Notices;
use crate::pipeline::operation::Operations;
use crate::pipeline::probation::Probation;
use crate::pipeline::relay::Relay;
use crate::pipeline::scout::{Scout, Vitals};
use crate::pipeline::submitted::SubmittedMover;
use crate::pipeline::upkeep::Upkeep;
use crate::pipeline::wake::Wake;
use crate::service::Services;
use crate::sink::{Sink, Sinks};
use crate::store::Store;
use crate::store::alert::Tell;
use crate::store::deploy::OnOtherVersion;
use crate::store::lease::LeasePool;
use crate::telemetry::metrics;
use crate::telemetry::metrics::MetricsHandle;

mod boot;
mod boot_file;
mod database;
mod doors;
mod exports;
mod handlers;
mod settings;
mod signal;
mod started;
mod versions;

use boot::Boot;
use boot_file::BootFile;
use database::Database;
use exports::Exports;
use started::Started;
use versions::Versions;

/// How long services that only tidy up may take to stop.
const TIDY_STOP: Duration = Duration::from_secs(5);
/// How long the relay and the intake may take to finish what they hold.
const FLOW_STOP: Duration = Duration::from_secs(30);

/// How long the private database may take to shut down before it is left to the next start.
const DATABASE_STOP: Duration = Duration::from_secs(60);

/// What the command line adds to the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOptions {
    pub on_other_version: OnOtherVersion,
}

/// A running host.
#[derive(Debug)]
pub struct Host {
    /// Where events come in.
    pub http: SocketAddr,
    /// Where operators come in, unless it is a unix socket.
    pub admin: Option<SocketAddr>,
    pub boot: Uuid,
    /// Says that this boot lives, to whom starts in the same folder.
    _boot_file: BootFile,
    store: Store,
    live: Arc<Hub>,
    early_end: CancellationToken,
    doors: Services,
    intake: Services,
    dispatch: Services,
    flow: Services,
    tidy: Services,
    /// After all that they tell of.
    exports: Services,
    /// The private database, which goes last.
    database: Services,
    drain: Duration,
}

/// Where the host sends what.
struct WaysOut {
    sinks: Sinks,
    /// Who is told of alerts.
    webhook: Option<Arc<dyn Sink>>,
}

/// Runs a host until a signal says stop, which may be before it has started: a start can wait for
/// long for a database or for another host's lock.
///
/// # Errors
/// When it cannot start, or a service ended early.
pub async fn run(config: Config, options: RunOptions, metrics: MetricsHandle) -> anyhow::Result<()> {
    let mut stopping = std::pin::pin!(signal::next()?);
    let mut started = Started::default();
    let host = tokio::select! {
        host = Host::start_into(&mut started, &config, options, metrics) => host,
        name = &mut stopping => {
            tracing::info!(signal = name, "stopping before the start was over; a second signal ends it at once");
            return unless_signalled(started.give_back()).await;
        }
    };
    match host {
        Ok(host) => run_until(stopping, host).await,
        Err(error) => {
            unless_signalled(started.give_back()).await?;
            Err(error)
        }
    }
}

async fn run_until(stopping: impl Future<Output = &'static str>, host: Host) -> anyhow::Result<()> {
    let early_end = host.early_end.clone();
    tokio::select! {
        name = stopping => tracing::info!(signal = name, drain_ms = host.drain.as_millis(),
            "stopping: no new claims, running invocations finish; a second signal ends it at once"),
        () = early_end.cancelled() => {}
    }
    let failed = early_end.is_cancelled();
    unless_signalled(host.stop()).await?;
    anyhow::ensure!(!failed, "a service ended early; see the log");
    Ok(())
}

/// Waits for an orderly end, which the next signal cuts short.
async fn unless_signalled(ending: impl Future<Output = ()>) -> anyhow::Result<()> {
    tokio::select! {
        () = ending => Ok(()),
        name = signal::next()? => {
            tracing::warn!(signal = name, "ended at once; what was running is pending again");
            anyhow::bail!("ended by a second {name}");
        }
    }
}

impl Host {
    /// Starts everything; when this returns the host takes events.
    ///
    /// # Errors
    /// When the database, the sandbox, a handler, a sink or a listener is not to be had.
    pub async fn start(config: &Config, options: RunOptions, metrics: MetricsHandle) -> anyhow::Result<Self> {
        let mut started = Started::default();
        let host = Self::start_into(&mut started, config, options, metrics).await;
        if host.is_err() {
            started.give_back().await;
        }
        host
    }

    /// The same, with what was started so far left in `started` when it fails or is dropped.
    async fn start_into(
        started: &mut Started,
        config: &Config,
        options: RunOptions,
        metrics: MetricsHandle,
    ) -> anyhow::Result<Self> {
        let database = Database::open(config, started).await?;
        let store = database.store.clone();
        let boot = Boot::begin(&store, config).await?;
        started.boot = Some(boot.id);
        let sandbox = Sandbox::new(SandboxSettings {
            slots: config.dispatch.invocations,
            cache_dir: Some(config.data_dir.join("compiled")),
            ..SandboxSettings::default()
        })?;
        let versions =
            Versions::new(config.clone(), &database, sandbox.clone(), boot.id, options.on_other_version);
        versions.begin().await?;
        let versions = Arc::new(versions);
        let doors = doors::bind(config, versions.lineup().kept_headers()).await?;
        let ways_out = WaysOut {
            sinks: settings::sinks(config).context("set up the sinks")?,
            webhook: settings::alert_webhook(config)?,
        };
        let exports = Exports::new(config, &boot, metrics)?;
        let (id, last_end) = (boot.id, boot.last_end);
        let database_id = store.database_id().await?;
        let live = Hub::new(About { boot: id.to_string(), name: boot.name.clone(), database: database_id });
        let boot_file = boot.take_over()?;
        // Nothing fails or waits from here on: the services find the host complete.
        let permits = config.dispatch.invocations as usize;
        let shared = Arc::new(Shared {
            store: store.clone(),
            pool: LeasePool::new(permits),
            sandbox,
            permits: Arc::new(Semaphore::new(permits)),
            max_permits: permits,
            wake: Wake::new(),
            relay: Arc::new(Notify::new()),
            probation: Probation::after(last_end, permits),
            vitals: Arc::new(Vitals::default()),
            boot: id,
        });
        metrics::watch_permits(&shared.permits, shared.max_permits);
        let early_end = CancellationToken::new();
        let group = || Services::new(early_end.clone());
        let mut host = Self {
            http: doors.http_address,
            admin: doors.admin_address,
            boot: id,
            _boot_file: boot_file,
            store,
            live,
            doors: group(),
            intake: group(),
            dispatch: group(),
            flow: group(),
            tidy: group(),
            exports: group(),
            database: group(),
            drain: config.dispatch.drain,
            early_end,
        };
        if let Some(embedded) = started.embedded.take() {
            host.database.spawn("database", |stop| database::watch(embedded, stop));
        }
        exports.serve(&mut host.exports);
        host.serve(config, shared, versions, doors, ways_out, metrics);
        tracing::info!(http = %host.http, admin = %settings::admin_text(config, host.admin), boot = %host.boot,
                       "wonce is running");
        Ok(host)
    }

    /// Starts the services of every step.
    fn serve(
        &mut self,
        config: &Config,
        shared: Arc<Shared>,
        versions: Arc<Versions>,
        doors: doors::Doors,
        ways_out: WaysOut,
        metrics: MetricsHandle,
    ) {
        let WaysOut { sinks, webhook } = ways_out;
        let store = shared.store.clone();
        let lineup = versions.lineup();
        let routes = lineup.routes();
        let (intake, committers) =
            intake(store.clone(), routes.clone(), shared.wake.clone(), settings::intake(config));
        self.intake.spawn("intake", |stop| committers.run(stop));

        let mover = SubmittedMover {
            store: store.clone(),
            routes,
            wake: shared.wake.clone(),
            unrouted: settings::unrouted(config),
            max_event_bytes: settings::bytes(config.http.max_event_bytes),
        };
        self.flow.spawn("submitted", |stop| mover.run(stop));
        let operations =
            Operations { store: store.clone(), wake: shared.wake.clone(), parked: Arc::new(intake.clone()) };
        self.flow.spawn("operations", |stop| operations.run(stop));
        let relay =
            Relay::new(store.clone(), sinks, settings::relay(config, self.boot), Arc::clone(&shared.relay));
        self.flow.spawn("relay", |stop| relay.run(stop));

        let scout = Scout {
            shared: Arc::clone(&shared),
            lineup: lineup.clone(),
            poll_interval: config.dispatch.poll_interval,
        };
        self.tidy.spawn("scout", |stop| scout.run(stop));
        let dispatch = Dispatch::new(Arc::clone(&shared), lineup.clone());
        let drain = self.drain;
        self.dispatch.spawn("dispatch", move |stop| async move {
            if dispatch.run(stop, drain).await == Drained::CutOff {
                tracing::warn!(drain_ms = drain.as_millis(),
                               "some invocations did not end in time and were cut off; their deliveries are pending again");
            }
        });
        let upkeep = Upkeep { store: store.clone(), boot: self.boot, lineup };
        self.tidy.spawn("upkeep", |stop| upkeep.run(stop));
        let following = Arc::clone(&versions);
        self.tidy.spawn("versions", |stop| following.run(stop));
        let beat = Beat::new(store.clone(), self.boot, Arc::clone(&self.live));
        self.tidy.spawn("live", |stop| beat.run(stop));
        let tell = if webhook.is_some() { Tell::Webhook } else { Tell::Nobody };
        if let Some(webhook) = webhook {
            let notices = Notices::new(store.clone(), webhook);
            self.flow.spawn("notices", |stop| notices.run(stop));
        }
        let sampler = Sampler { store, boot: self.boot, live: Arc::clone(&self.live), tell };
        self.tidy.spawn("gauges", |stop| sampler.clone().gauges(stop));
        self.tidy.spawn("books", |stop| sampler.books(stop));
        let shown = doors::Shown { metrics, live: Arc::clone(&self.live), plugins: versions };
        doors.serve(&mut self.doors, config, intake, &shared, shown);
    }

    /// Fires when a service ended before it was told to.
    #[must_use]
    pub fn early_end(&self) -> CancellationToken {
        self.early_end.clone()
    }

    /// Stops in the order of the journey: no new events, what is accepted is committed, running
    /// invocations finish (bounded), effects in flight get their answer, then the database.
    pub async fn stop(self) {
        self.live.close();
        self.doors.stop(TIDY_STOP).await;
        self.intake.stop(FLOW_STOP).await;
        self.dispatch.stop(self.drain + TIDY_STOP).await;
        self.flow.stop(FLOW_STOP).await;
        self.tidy.stop(TIDY_STOP).await;
        self.exports.stop(TIDY_STOP).await;
        started::record_clean_stop(&self.store, self.boot).await;
        self.store.close();
        self.database.stop(DATABASE_STOP).await;
        tracing::info!("wonce has stopped");
    }
}
