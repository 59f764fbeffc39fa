//! Logs: one JSON object a line with stable, flat field names, or a readable form on a terminal.
//! Lines go through a bounded queue to one writer thread, so that a reader who stops reading
//! cannot stop the host. Knows nothing of what is logged.
//!
//! Fields with a fixed meaning are listed in [`STABLE_FIELDS`]; use exactly these names, in
//! events or in the spans around them:
//! `tracing::warn!(handler = %name, key = %key, attempt = attempt.0, error_class = %class, "…")`.

use std::path::PathBuf;

use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

mod capture;
mod json;
pub mod tail;
mod writer;

use capture::Capture;
pub use json::{FlatJson, STABLE_FIELDS};
use tail::TAIL;
pub use writer::{LogGuard, LogWriter};

/// How lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    Json,
    Pretty,
    /// Pretty on a terminal, JSON elsewhere.
    #[default]
    Auto,
}

/// Where lines go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LogTarget {
    #[default]
    Stderr,
    /// Appended to; created when missing.
    File(PathBuf),
}

/// What `init` needs.
#[derive(Debug, Clone)]
pub struct LogSettings {
    pub format: LogFormat,
    /// A level or directives of `tracing`: `info`, `warn,wonce_host=debug`.
    pub filter: String,
    pub target: LogTarget,
    /// The value of the field `host` in every JSON line.
    pub host: String,
}

/// Why logging could not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "log filter \"{filter}\" is not understood: {reason}; write a level (\"info\") or directives (\"warn,wonce_host=debug\")"
    )]
    Filter { filter: String, reason: String },
    #[error(
        "cannot open log file \"{path}\" for appending: {reason}; check that its folder exists and is writable"
    )]
    File { path: String, reason: String },
    #[error("cannot start the log writer: {reason}")]
    Writer { reason: String },
    #[error("cannot start logging twice in one process; call it once, where the program starts")]
    Twice,
}

/// Starts logging for the whole process. Keep the guard until the very end: dropping it writes
/// what is still queued.
///
/// # Errors
/// When the filter is not understood, the file cannot be opened, or logging runs already.
pub fn init(settings: &LogSettings) -> Result<LogGuard, Error> {
    let filter = parse_filter(&settings.filter)?;
    let (writer, guard) = LogWriter::open(&settings.target)?;
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match effective(settings, writer.is_terminal()) {
        LogFormat::Json | LogFormat::Auto => Box::new(FlatJson::new(writer, settings.host.clone())),
        LogFormat::Pretty => {
            let ansi = writer.is_terminal();
            Box::new(tracing_subscriber::fmt::layer().with_ansi(ansi).with_writer(writer))
        }
    };
    let shown = Capture(&TAIL).with_filter(parse_filter(&settings.filter)?);
    let layers = tracing_subscriber::registry().with(lines.with_filter(filter)).with(shown);
    layers.try_init().map_err(|_| Error::Twice)?;
    Ok(guard)
}

fn parse_filter(filter: &str) -> Result<EnvFilter, Error> {
    EnvFilter::try_new(filter).map_err(|e| Error::Filter { filter: filter.to_owned(), reason: e.to_string() })
}

fn effective(settings: &LogSettings, terminal: bool) -> LogFormat {
    match (settings.format, terminal) {
        (LogFormat::Auto, true) => LogFormat::Pretty,
        (LogFormat::Auto, false) => LogFormat::Json,
        (LogFormat::Json | LogFormat::Pretty, _) => settings.format,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_is_not_understood_is_refused_with_its_text() {
        let error = parse_filter("wonce=loud").expect_err("no such level");
        assert!(error.to_string().contains("\"wonce=loud\""), "{error}");
    }

    #[test]
    fn auto_is_pretty_on_a_terminal_and_json_elsewhere() {
        let settings = LogSettings {
            format: LogFormat::Auto,
            filter: "info".to_owned(),
            target: LogTarget::Stderr,
            host: "h".to_owned(),
        };
        assert_eq!(effective(&settings, true), LogFormat::Pretty);
        assert_eq!(effective(&settings, false), LogFormat::Json);
    }
}
