//! The validated configuration: `wonce.toml`, the environment and the flags become one
//! [`Config`], or one [`Error`] that lists every mistake with its place, its reason and its
//! remedy. Nobody else reads the file or the environment, and nothing here knows what the
//! values are used for.

mod alert;
mod check;
mod console;
mod database;
mod document;
mod environment;
#[cfg(test)]
mod example;
mod grants;
mod handler;
mod log;
pub mod manifest;
mod policy;
mod reader;
mod report;
mod rules;
mod secret;
mod server;
mod sink;
mod source;
mod suggest;
mod telemetry;
mod units;
mod value;
mod walk;
mod work;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use wonce_core::name::{HandlerName, SinkName, SourceName};

pub use alert::Alert;
pub use console::Console;
pub use database::{Database, Embedded, Isolation, Server};
pub use environment::{Env, Flags};
pub use grants::{Grants, Privilege, Relation};
pub use handler::{HandlerConfig, Retention, Start};
pub use log::{Log, LogFormat};
pub use manifest::{Manifest, SubscriptionConfig};
pub use policy::{Limits, MAX_DEADLINE};
pub use report::{Error, Problem};
pub use secret::Secret;
pub use server::{Admin, AdminListen, Http};
pub use sink::{OnUnknown, SinkConfig, SinkKind};
pub use source::{SourceConfig, TypeRule};
pub use telemetry::{Otlp, OtlpProtocol, Telemetry};
pub use work::{Dispatch, Intake, Relay, Unrouted};

use document::Document;
use environment::Overrides;
use reader::Reader;
use walk::Walk;

const DEFAULT_FILE: &str = "wonce.toml";
const DEFAULT_DATA_DIR: &str = ".wonce";

/// Everything that an operator can say, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The file that was read; none if there was none and the defaults hold.
    pub file: Option<PathBuf>,
    /// Absolute. The embedded cluster and the compile cache live here.
    pub data_dir: PathBuf,
    pub database: Database,
    pub http: Http,
    pub admin: Admin,
    pub intake: Intake,
    /// Webhooks; any other source must send CloudEvents.
    pub sources: BTreeMap<SourceName, SourceConfig>,
    pub dispatch: Dispatch,
    pub relay: Relay,
    pub sinks: BTreeMap<SinkName, SinkConfig>,
    pub alert: Alert,
    pub handlers: BTreeMap<HandlerName, HandlerConfig>,
    pub log: Log,
    pub telemetry: Telemetry,
    pub console: Console,
    origin: Origin,
}

/// What the configuration was read from, to merge it with manifests that come later.
#[derive(Clone, Default)]
struct Origin {
    /// As reports name it.
    file: String,
    text: String,
    base: PathBuf,
    flags: Flags,
    env: Env,
}

/// Two configurations that say the same are equal, wherever they come from.
impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl std::fmt::Debug for Origin {
    /// The text may hold secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Origin").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Config {
    /// Whether `[handlers.<name>]` is written here.
    #[must_use]
    pub fn has_part_of(&self, name: &HandlerName) -> bool {
        Document::parse(&self.origin.file, &self.origin.text)
            .is_ok_and(|document| document.has(&["handlers", name.as_str()]))
    }

    /// A handler that was deployed to the database, as this host runs it: its manifest, what was set
    /// with the deploy over that, and what `[handlers.<name>]` says here over both.
    ///
    /// # Errors
    /// With every mistake in the manifest, and everything in which it does not fit this host.
    pub fn deployed(
        &self,
        manifest_text: &str,
        settings: &BTreeMap<String, String>,
    ) -> Result<HandlerConfig, Error> {
        let manifest = manifest::parse(handler::MANIFEST_FILE, manifest_text)?;
        let Origin { file, text, base, flags, env } = &self.origin;
        let document = Document::parse(file, text).map_err(|problem| Error::new(vec![problem]))?;
        let mut walk = Walk::new(document, Some(Overrides::new(flags, env)), base);
        let deployed = handler::Deployed { text: manifest_text, manifest: &manifest, settings };
        let merged = walk
            .read_all(|root| handler::merge(root, self.dispatch.invocations, &self.alert.rules, &deployed));
        if let Some(handler) = &merged {
            check::one(handler, self, &mut walk);
        }
        match merged {
            Some(handler) if walk.problems.is_empty() => Ok(handler),
            Some(_) | None => Err(Error::new(walk.problems)),
        }
    }
}

/// Reads and checks the whole configuration. Relative paths in it start at the file's
/// directory, or at the working directory if there is no file.
///
/// # Errors
/// With every mistake that was found, or the one that kept the file from being read.
pub fn load(flags: &Flags, env: &Env) -> Result<Config, Error> {
    let file = open(flags, env).map_err(|problem| Error::new(vec![problem]))?;
    let name = file.path.as_deref().unwrap_or(Path::new(DEFAULT_FILE)).display().to_string();
    let document = Document::parse(&name, &file.text).map_err(|problem| Error::new(vec![problem]))?;
    let base = file.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let mut walk = Walk::new(document, Some(Overrides::new(flags, env)), base);
    let mut config = walk.read(tables);
    check::all(&config, &mut walk);
    config.origin = Origin {
        file: name.clone(),
        text: file.text.clone(),
        base: base.to_owned(),
        flags: flags.clone(),
        env: env.clone(),
    };
    config.file.clone_from(&file.path);
    if walk.problems.is_empty() { Ok(config) } else { Err(Error::new(walk.problems)) }
}

/// The `[console]` table of a file alone: who looks at a fleet need not be able to run a host.
///
/// # Errors
/// With the mistakes in it, or the one that keeps the file from being read.
pub fn console(path: &Path, text: &str) -> Result<Console, Error> {
    let document =
        Document::parse(&path.display().to_string(), text).map_err(|problem| Error::new(vec![problem]))?;
    let mut walk = Walk::new(document, None, Path::new(""));
    let console = walk.read_one("console", console::read);
    if walk.problems.is_empty() { Ok(console) } else { Err(Error::new(walk.problems)) }
}

/// Reads the tables, in the order of the example file.
fn tables(root: &mut Reader<'_, '_>) -> Config {
    let data_dir = data_dir(root);
    let database = root.section("database", database::read);
    let http = root.section("http", server::read_http);
    let admin = root.section("admin", server::read_admin);
    let intake = root.section("intake", work::read_intake);
    let sources = source::read(root);
    let dispatch = root.section("dispatch", work::read_dispatch);
    let relay = root.section("relay", work::read_relay);
    let sinks = sink::read(root);
    let alert = root.section("alert", alert::read_common);
    let handlers = handler::read(root, dispatch.invocations, &alert.rules);
    let log = root.section("log", log::read);
    let telemetry = root.section("telemetry", telemetry::read);
    let console = root.section("console", console::read);
    Config {
        file: None,
        data_dir,
        database,
        http,
        admin,
        intake,
        sources,
        dispatch,
        relay,
        sinks,
        alert,
        handlers,
        log,
        telemetry,
        console,
        origin: Origin::default(),
    }
}

/// Absolute, because Postgres changes its working directory.
fn data_dir(root: &mut Reader<'_, '_>) -> PathBuf {
    let path = root.file_path("data_dir").unwrap_or_else(|| root.walk.resolve(DEFAULT_DATA_DIR));
    match std::path::absolute(&path) {
        Ok(path) => path,
        Err(error) => {
            let reason = format!("\"{}\" cannot be made absolute: {error}", path.display());
            root.complain("data_dir", reason, "name a directory, such as \"/var/lib/wonce\"");
            path
        }
    }
}

/// The text to read and where it came from.
struct File {
    path: Option<PathBuf>,
    text: String,
}

/// Opens the named file, or `wonce.toml` if it is there.
fn open(flags: &Flags, env: &Env) -> Result<File, Problem> {
    let named = flags.config.clone().or_else(|| env.get("WONCE_CONFIG").map(PathBuf::from));
    let path = named.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(File { path: Some(path), text }),
        Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => {
            Ok(File { path: None, text: String::new() })
        }
        Err(error) => Err(Problem {
            file: path.display().to_string(),
            line: None,
            key: String::new(),
            reason: format!("the configuration cannot be read: {error}"),
            remedy: "name a readable file with --config or WONCE_CONFIG".to_owned(),
        }),
    }
}
