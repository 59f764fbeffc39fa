//! The environment and the flags as overrides of single keys. `http.listen` is overridden by
//! `WONCE_HTTP_LISTEN`; a few keys have a second, customary variable. Only this module reads
//! the process environment, and it knows nothing of what a key means.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::document::{KeyPath, Segment};
use super::report::Problem;
use super::suggest;

const PREFIX: &str = "WONCE_";
/// Keys with a second variable. The `WONCE_` name of the key itself counts first.
const ALIASES: [(&str, &str, Spelling); 12] = [
    ("database.url", "DATABASE_URL", Spelling::Ours),
    ("database.embedded.bin_dir", "WONCE_PG_BIN", Spelling::Ours),
    ("log.level", "WONCE_LOG", Spelling::Ours),
    ("telemetry.otlp.endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT", Spelling::Ours),
    ("telemetry.otlp.protocol", "OTEL_EXPORTER_OTLP_PROTOCOL", Spelling::Ours),
    ("telemetry.otlp.timeout", "OTEL_EXPORTER_OTLP_TIMEOUT", Spelling::Millis),
    ("telemetry.otlp.interval", "OTEL_METRIC_EXPORT_INTERVAL", Spelling::Millis),
    ("telemetry.otlp.traces", "OTEL_TRACES_EXPORTER", Spelling::Exporter),
    ("telemetry.otlp.metrics", "OTEL_METRICS_EXPORTER", Spelling::Exporter),
    ("telemetry.otlp.sampling_ratio", "OTEL_TRACES_SAMPLER_ARG", Spelling::Ours),
    ("telemetry.otlp.queue", "OTEL_BSP_MAX_QUEUE_SIZE", Spelling::Ours),
    ("telemetry.otlp.service_name", "OTEL_SERVICE_NAME", Spelling::Ours),
];
/// Variables of ours that are no keys: the file itself, and what the client commands read.
const OTHERS: &[&str] = &[
    "WONCE_CONFIG",
    "WONCE_URL",
    "WONCE_TOKEN",
    // Only a test build looks at it; any other one refuses it like every unknown variable.
    #[cfg(feature = "crash-points")]
    "WONCE_CRASH_AT",
];

/// How a customary variable writes what a key of ours takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Ours,
    /// A bare number of milliseconds.
    Millis,
    /// `otlp` or `none`.
    Exporter,
}

impl Spelling {
    /// As the key has it; what it cannot read it leaves to the key to refuse.
    fn in_ours(self, text: &str) -> String {
        match (self, text) {
            (Self::Millis, number) if number.bytes().all(|b| b.is_ascii_digit()) => format!("{number}ms"),
            (Self::Exporter, "otlp") => "true".to_owned(),
            (Self::Exporter, "none") => "false".to_owned(),
            (Self::Ours | Self::Millis | Self::Exporter, text) => text.to_owned(),
        }
    }
}

/// A copy of the environment, so that tests bring their own.
#[derive(Clone, Default)]
pub struct Env(BTreeMap<String, String>);

impl Env {
    /// The variables of this process that are UTF-8.
    #[must_use]
    pub fn of_process() -> Self {
        let utf8 = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self(std::env::vars_os().filter_map(utf8).collect())
    }

    /// The variable's value. An empty one counts as not set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

impl std::fmt::Debug for Env {
    /// Names only: values may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Env {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// What the command line says about the configuration; the cli fills it. A flag wins over
/// the environment, which wins over the file, which wins over the default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--config`: this file must exist. Without it `WONCE_CONFIG` counts, then `wonce.toml`.
    pub config: Option<PathBuf>,
    /// `--database-url`
    pub database_url: Option<String>,
    /// `--data-dir`
    pub data_dir: Option<String>,
    /// `--http-listen`
    pub http_listen: Option<String>,
    /// `--admin-listen`
    pub admin_listen: Option<String>,
    /// `--log-level`
    pub log_level: Option<String>,
    /// `--log-format`
    pub log_format: Option<String>,
}

/// A value from outside the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Override {
    pub(crate) origin: Origin,
    pub(crate) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Variable(String),
    Flag(&'static str),
}

/// Flags and environment, asked key by key; remembers which variables are keys.
#[derive(Debug, Default)]
pub(crate) struct Overrides {
    pub(crate) env: Env,
    flags: BTreeMap<&'static str, (&'static str, String)>,
    known: BTreeSet<String>,
}

impl Overrides {
    pub(crate) fn new(flags: &Flags, env: &Env) -> Self {
        let given = [
            ("database.url", "--database-url", &flags.database_url),
            ("data_dir", "--data-dir", &flags.data_dir),
            ("http.listen", "--http-listen", &flags.http_listen),
            ("admin.listen", "--admin-listen", &flags.admin_listen),
            ("log.level", "--log-level", &flags.log_level),
            ("log.format", "--log-format", &flags.log_format),
        ];
        let flags =
            given.into_iter().filter_map(|(key, flag, text)| Some((key, (flag, text.clone()?)))).collect();
        let known = OTHERS.iter().map(|name| (*name).to_owned()).collect();
        Self { env: env.clone(), flags, known }
    }

    /// The override of a key, if there is one; its variables count as known from now on.
    pub(crate) fn find(&mut self, path: &KeyPath) -> Option<Override> {
        let dotted = path.to_string();
        let own = variable(path).map(|name| (name, Spelling::Ours));
        let alias = ALIASES.iter().find(|(key, ..)| *key == dotted);
        let alias = alias.map(|(_, name, spelling)| ((*name).to_owned(), *spelling));
        let names: Vec<(String, Spelling)> = own.into_iter().chain(alias).collect();
        self.known.extend(names.iter().map(|(name, _)| name.clone()));
        if let Some((flag, text)) = self.flags.get(dotted.as_str()) {
            return Some(Override { origin: Origin::Flag(flag), text: text.clone() });
        }
        let (set, spelling) = names.into_iter().find(|(name, _)| self.env.get(name).is_some())?;
        let text = spelling.in_ours(self.env.get(&set)?);
        Some(Override { origin: Origin::Variable(set), text })
    }

    /// Variables that look like ours and are no key. Call it when every key was asked for.
    pub(crate) fn unknown_variables(&self) -> Vec<Problem> {
        let ours = self.env.0.keys().filter(|name| name.starts_with(PREFIX));
        let unknown = ours.filter(|name| !self.known.contains(*name));
        unknown
            .map(|name| Problem {
                file: "environment".to_owned(),
                line: None,
                key: name.clone(),
                reason: "no key has this variable, so it would be ignored".to_owned(),
                remedy: match suggest::nearest(name, self.known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean {near}? Otherwise unset it"),
                    None => {
                        "unset it; a key's variable is WONCE_<TABLE>_<KEY>, e.g. WONCE_HTTP_LISTEN".into()
                    }
                },
            })
            .collect()
    }
}

/// `http.listen` is `WONCE_HTTP_LISTEN`. What stands in an array has no variable.
fn variable(path: &KeyPath) -> Option<String> {
    let mut name = PREFIX.trim_end_matches('_').to_owned();
    for segment in &path.0 {
        match segment {
            Segment::Name(text) => {
                name.push('_');
                name.extend(text.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_uppercase() }));
            }
            Segment::Index(_) => return None,
        }
    }
    Some(name)
}
