//! Where the host is and how to ask it: the options that every operator's verb shares.

use std::path::{Path, PathBuf};

use clap::Args;

use super::Error;
use crate::config::{self, Console};

/// Where a host's admin API is unless it is told otherwise.
const DEFAULT_URL: &str = "http://127.0.0.1:8081";
/// The configuration file whose `[admin]` table is looked at.
const CONFIG_FILE: &str = "wonce.toml";

#[derive(Debug, Args)]
pub(super) struct Connect {
    /// The host's admin API: http://HOST:PORT or unix:PATH [default: admin of ./wonce.toml, else http://127.0.0.1:8081]
    #[arg(long, env = "WONCE_URL", value_name = "URL", global = true)]
    connect: Option<String>,
    /// The bearer token of the admin API; better in the environment than on the command line
    #[arg(long, env = "WONCE_TOKEN", value_name = "TOKEN", hide_env_values = true, global = true)]
    token: Option<String>,
    /// Print the API's JSON document
    #[arg(long, global = true)]
    pub(super) json: bool,
}

/// Who asks, for the record of actions.
#[derive(Debug, Args)]
pub(super) struct Actor {
    /// Your name in the record of actions [default: the login name]
    #[arg(long = "as", env = "WONCE_ACTOR", value_name = "NAME")]
    actor: Option<String>,
}

impl Actor {
    pub(super) fn name(&self) -> Option<String> {
        let login = || std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).ok();
        self.actor.clone().or_else(login).filter(|name| !name.trim().is_empty())
    }
}

/// A place where an admin API may listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    Url(reqwest::Url),
    Unix(PathBuf),
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Url(url) => f.write_str(url.as_str().trim_end_matches('/')),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Connect {
    pub(super) fn address(&self) -> Result<Address, Error> {
        let text = match &self.connect {
            Some(text) => Some(text.clone()),
            None => configured(Path::new(CONFIG_FILE))?,
        };
        parse(text.as_deref().unwrap_or(DEFAULT_URL))
    }

    /// Every address that is named, for a verb that can go on with the next one.
    pub(super) fn targets(&self) -> Result<Vec<wonce_tui::net::Target>, Error> {
        let text = match &self.connect {
            Some(text) => Some(text.clone()),
            None => configured(Path::new(CONFIG_FILE))?,
        };
        let text = text.unwrap_or_else(|| DEFAULT_URL.to_owned());
        let targets = text.split(',').map(|one| one.trim().parse());
        targets
            .collect::<Result<_, _>>()
            .map_err(|error: wonce_tui::net::Error| Error::Console(error.to_string()))
    }

    /// The `[console]` table beside which the verb was started; the usual one without a file.
    pub(super) fn console(&self) -> Result<Console, Error> {
        let path = Path::new(CONFIG_FILE);
        let Ok(text) = std::fs::read_to_string(path) else { return Ok(Console::default()) };
        config::console(path, &text).map_err(|e| Error::Console(e.to_string()))
    }

    pub(super) fn token(&self) -> Option<&str> {
        self.token.as_deref().map(str::trim).filter(|t| !t.is_empty())
    }
}

fn parse(text: &str) -> Result<Address, Error> {
    let wrong = |reason: String| Error::Address { address: text.to_owned(), reason };
    if let Some(path) = text.strip_prefix("unix:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        return if path.is_empty() {
            Err(wrong("the path is empty".to_owned()))
        } else {
            Ok(Address::Unix(path.into()))
        };
    }
    let url = reqwest::Url::parse(text).map_err(|e| wrong(e.to_string()))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(Address::Url(url)),
        other => Err(wrong(format!("\"{other}:\" is not a way to reach it"))),
    }
}

/// The address in a configuration file, if there is such a file and it names one.
fn configured(path: &Path) -> Result<Option<String>, Error> {
    let Ok(text) = std::fs::read_to_string(path) else {
        return Ok(None);
    };
    let broken = |reason: String| Error::ConfigFile { path: path.display().to_string(), reason };
    let document: toml::Table = text.parse().map_err(|e: toml::de::Error| broken(e.message().to_owned()))?;
    let admin = document.get("admin").and_then(toml::Value::as_table);
    let text_of = |key: &str| admin.and_then(|t| t.get(key)).and_then(toml::Value::as_str);
    if let Some(socket) = text_of("socket") {
        return Ok(Some(format!("unix:{socket}")));
    }
    Ok(text_of("listen").map(|listen| format!("http://{listen}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_url_or_a_socket() {
        assert_eq!(parse("unix:/run/wonce.sock").expect("it works").to_string(), "unix:/run/wonce.sock");
        assert_eq!(
            parse("unix:///run/wonce.sock").expect("it works"),
            Address::Unix("/run/wonce.sock".into())
        );
        assert_eq!(parse("http://10.0.0.1:9").expect("it works").to_string(), "http://10.0.0.1:9");
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_next_step() {
        for text in ["", "localhost:8081", "ftp://x", "unix:"] {
            let error = parse(text).expect_err("refused").to_string();
            assert!(error.contains("write http://HOST:PORT"), "{text}: {error}");
        }
    }

    #[test]
    fn the_configuration_file_names_the_door() {
        let folder = std::env::temp_dir().join(format!("wonce-connect-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("it works");
        let file = folder.join("wonce.toml");
        std::fs::write(&file, "[admin]\nlisten = \"127.0.0.1:9001\"\n").expect("it works");
        assert_eq!(configured(&file).expect("it works").expect("it works"), "http://127.0.0.1:9001");
        std::fs::write(&file, "[admin]\nsocket = \"/run/w.sock\"\n").expect("it works");
        assert_eq!(configured(&file).expect("it works").expect("it works"), "unix:/run/w.sock");
        std::fs::write(&file, "[http]\n").expect("it works");
        assert_eq!(configured(&file).expect("it works"), None);
        std::fs::write(&file, "[admin\n").expect("it works");
        assert!(configured(&file).expect_err("refused").to_string().contains("mend it"));
        std::fs::remove_dir_all(&folder).expect("it works");
        assert_eq!(configured(&file).expect("it works"), None);
    }
}
