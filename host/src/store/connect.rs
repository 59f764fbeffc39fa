//! How wonce logs in: URL, TLS, keepalives and the control pool.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime, Timeouts};
use rustls::ClientConfig;
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::Error;

/// The oldest Postgres that wonce is tested on.
const OLDEST_VERSION: i32 = 150_000;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A dead peer is noticed after about 15 s: its deliveries must become free.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 2;

/// A parsed database URL. `Debug` and `Display` never show the password.
#[derive(Clone)]
pub struct DatabaseUrl {
    config: Config,
    tls: Arc<ClientConfig>,
}

impl std::fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("DatabaseUrl").field(&self.to_string()).finish()
    }
}

impl std::fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "postgres://{}@{:?}/{}",
            self.config.get_user().unwrap_or("?"),
            self.config.get_hosts(),
            self.config.get_dbname().unwrap_or("?")
        )
    }
}

impl FromStr for DatabaseUrl {
    type Err = Error;

    fn from_str(url: &str) -> Result<Self, Error> {
        let mut config: Config = url
            .parse()
            .map_err(|e| Error::Url { url: without_password(url), reason: super::error::root_cause(&e) })?;
        config
            .application_name("wonce")
            .connect_timeout(CONNECT_TIMEOUT)
            .keepalives(true)
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVE_RETRIES);
        Ok(Self { config, tls: tls_config() })
    }
}

impl DatabaseUrl {
    /// The same database for another login.
    #[must_use]
    pub fn with_login(&self, user: &str, password: &str) -> Self {
        let mut config = self.config.clone();
        config.user(user).password(password);
        Self { config, tls: Arc::clone(&self.tls) }
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn tls(&self) -> MakeRustlsConnect {
        MakeRustlsConnect::new((*self.tls).clone())
    }
}

pub(super) fn control_pool(url: &DatabaseUrl, connections: usize, wait: Duration) -> Result<Pool, Error> {
    let manager = Manager::from_config(
        url.config.clone(),
        url.tls(),
        ManagerConfig { recycling_method: RecyclingMethod::Fast },
    );
    Pool::builder(manager)
        .max_size(connections)
        .timeouts(Timeouts {
            wait: Some(wait),
            create: Some(CONNECT_TIMEOUT),
            recycle: Some(CONNECT_TIMEOUT),
        })
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|e| Error::Unreachable { reason: e.to_string() })
}

pub(super) async fn require_supported_version(client: &Object) -> Result<(), Error> {
    let row = super::migrate::SERVER_VERSION.query_one(&***client, &[]).await?;
    let number: i32 = row.get(0);
    if number < OLDEST_VERSION {
        return Err(Error::UnsupportedVersion { found: row.get(1) });
    }
    Ok(())
}

/// The system's certificates; used only when the URL asks for TLS (`sslmode`).
fn tls_config() -> Arc<ClientConfig> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring supports the default protocol versions");
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}

fn without_password(url: &str) -> String {
    match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 < at => format!("{}://…{}", &url[..scheme], &url[at..]),
        _ => "…".to_owned(),
    }
}
