//! Where hosts are and how to speak to them. Knows nothing of what is said.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::{Method, RequestBuilder, Url};

use super::Error;
use super::error::root_cause;

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// More addresses help nobody.
pub const MAX_HOSTS: usize = 32;

/// A place where an admin API listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Url(Url),
    Unix(PathBuf),
}

/// The hosts that may be asked, each with its client. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Hosts {
    hosts: Vec<Host>,
    token: Option<String>,
}

/// One of them.
#[derive(Debug, Clone)]
pub(super) struct Host {
    pub(super) target: Target,
    http: reqwest::Client,
    base: Url,
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Url(url) => f.write_str(url.as_str().trim_end_matches('/')),
            Target::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl std::str::FromStr for Target {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |reason: &str| Error::Address { text: text.to_owned(), reason: reason.to_owned() };
        if let Some(path) = text.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.is_empty() {
                Err(wrong("the path is empty"))
            } else {
                Ok(Target::Unix(path.into()))
            };
        }
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        match url.scheme() {
            "http" | "https" if url.has_host() => Ok(Target::Url(url)),
            other => Err(wrong(&format!("\"{other}:\" is not a way to reach it"))),
        }
    }
}

impl Hosts {
    /// The token is sent to each of them.
    ///
    /// # Errors
    /// When there is none or too many, or no client can be made for one.
    pub fn new(targets: Vec<Target>, token: Option<String>) -> Result<Self, Error> {
        // Fails only when a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let wrong =
            |text: &str, reason: &str| Error::Address { text: text.to_owned(), reason: reason.to_owned() };
        if targets.is_empty() || targets.len() > MAX_HOSTS {
            return Err(wrong("", &format!("name 1 to {MAX_HOSTS} of them")));
        }
        let host = |target: Target| {
            let builder = reqwest::Client::builder().connect_timeout(CONNECT_LIMIT).no_proxy();
            let (builder, base) = match &target {
                Target::Url(url) => (builder, url.clone()),
                Target::Unix(path) => {
                    let base = Url::parse("http://localhost");
                    let base = base.map_err(|error| wrong(&target.to_string(), &error.to_string()))?;
                    (builder.unix_socket(path.as_path()), base)
                }
            };
            let http = builder.build().map_err(|error| wrong(&target.to_string(), &root_cause(&error)))?;
            Ok(Host { target, http, base })
        };
        Ok(Self { hosts: targets.into_iter().map(host).collect::<Result<_, Error>>()?, token })
    }

    /// How many there are; at least one.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Each of them alone.
    pub fn each(&self) -> impl Iterator<Item = Hosts> {
        self.hosts.iter().map(|host| Hosts { hosts: vec![host.clone()], token: self.token.clone() })
    }

    /// The one at a place; places go round.
    pub(super) fn at(&self, place: usize) -> &Host {
        &self.hosts[place % self.hosts.len()]
    }

    pub(super) fn request(
        &self,
        host: &Host,
        method: Method,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<RequestBuilder, Error> {
        let mut url = host.base.clone();
        match url.path_segments_mut() {
            Ok(mut segments) => segments.pop_if_empty().extend(path),
            Err(()) => {
                let reason = "it can have no path".to_owned();
                return Err(Error::Address { text: host.target.to_string(), reason });
            }
        };
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request = host.http.request(method, url);
        Ok(match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        })
    }
}
