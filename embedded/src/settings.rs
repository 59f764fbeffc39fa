//! What the caller may choose about the cluster, and the server options that follow from it. It never knows
//! where these choices were read from (a file, the environment, a test).

use std::path::PathBuf;

/// The choices for one private cluster; [`Settings::new`] gives the ordinary ones.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The folder that holds the cluster, its password, port, lock and log. Created when missing.
    pub dir: PathBuf,
    /// The folder with `initdb` and `postgres`; `None` searches the machine.
    pub bin_dir: Option<PathBuf>,
    /// The account that runs the server when wonce runs as root; `None` takes the owner of an existing
    /// cluster, else `postgres`, else `nobody`.
    pub user: Option<String>,
    /// Whether committed data must survive a power loss.
    pub durability: Durability,
    /// Extra server options (`name`, `value`), applied last, so they win over the built-in ones. A server that
    /// was adopted keeps the options it was started with.
    pub options: Vec<(String, String)>,
}

/// What a crash of the whole machine may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Nothing that was committed is lost.
    Durable,
    /// Everything may be lost when the machine dies, because `fsync` is off; a killed server still loses nothing.
    /// For tests only.
    Throwaway,
}

impl Settings {
    /// A durable cluster in `dir` with the binaries found on this machine.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            bin_dir: None,
            user: None,
            durability: Durability::Durable,
            options: Vec::new(),
        }
    }

    /// The same, but as fast and as careless as a test wants it.
    pub fn throwaway(dir: impl Into<PathBuf>) -> Self {
        Self { durability: Durability::Throwaway, ..Self::new(dir) }
    }

    /// Every server option in the order the command line gets them; a later one wins.
    pub(crate) fn server_options(&self) -> Vec<(String, String)> {
        let durability = match self.durability {
            Durability::Durable => DURABLE,
            Durability::Throwaway => THROWAWAY,
        };
        let built_in = COMMON.iter().chain(durability).map(|(name, value)| ((*name).into(), (*value).into()));
        built_in.chain(self.options.iter().cloned()).collect()
    }
}

/// Loopback only and no unix socket: a socket path longer than 107 bytes (a deep project folder) would stop the
/// server from starting, and nobody uses it. The connection check and the keepalives free the locks of a host
/// that vanished; the log keeps warnings only, because it is bounded.
const COMMON: &[(&str, &str)] = &[
    ("listen_addresses", "127.0.0.1"),
    ("unix_socket_directories", ""),
    ("cluster_name", "wonce"),
    ("max_connections", "100"),
    ("shared_buffers", "128MB"),
    ("client_connection_check_interval", "1s"),
    ("tcp_keepalives_idle", "30"),
    ("tcp_keepalives_interval", "10"),
    ("tcp_keepalives_count", "3"),
    ("autovacuum", "on"),
    ("autovacuum_naptime", "15s"),
    ("timezone", "UTC"),
    ("log_timezone", "UTC"),
    ("logging_collector", "off"),
    ("log_destination", "stderr"),
    ("log_line_prefix", "%m [%p] "),
    ("log_min_messages", "warning"),
    ("log_checkpoints", "off"),
];

const DURABLE: &[(&str, &str)] = &[("fsync", "on"), ("full_page_writes", "on"), ("synchronous_commit", "on")];

/// A commit still waits until the system has its record, which costs little without `fsync`: tests that kill the
/// server rely on it.
const THROWAWAY: &[(&str, &str)] =
    &[("fsync", "off"), ("full_page_writes", "off"), ("synchronous_commit", "on")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extra_option_comes_after_the_built_in_one() {
        let mut settings = Settings::new("/nowhere");
        settings.options.push(("max_connections".into(), "20".into()));
        let options = settings.server_options();
        let last = options.iter().rfind(|(name, _)| name == "max_connections");
        assert_eq!(last.map(|(_, value)| value.as_str()), Some("20"));
    }

    #[test]
    fn only_a_throwaway_cluster_runs_without_fsync() {
        let fsync =
            |settings: Settings| settings.server_options().into_iter().find(|(name, _)| name == "fsync");
        assert_eq!(fsync(Settings::new("/nowhere")), Some(("fsync".into(), "on".into())));
        assert_eq!(fsync(Settings::throwaway("/nowhere")), Some(("fsync".into(), "off".into())));
    }
}
