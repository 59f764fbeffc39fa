//! `wonce run` and `wonce check`: both read the whole configuration first and say every mistake
//! at once.

use std::path::PathBuf;

use clap::Args;

use super::{Error, Finding, print};
use crate::config::{self, Config, Env, Flags, LogFormat as Configured};
use crate::runtime::{self, RunOptions};
use crate::store::deploy::OnOtherVersion;
use crate::telemetry::logs::{self, LogFormat, LogSettings, LogTarget};
use crate::telemetry::metrics;

/// Where the configuration is, and what the command line overrides in it.
#[derive(Debug, Args)]
pub(super) struct Configuration {
    /// The configuration file [default: ./wonce.toml if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Use this Postgres instead of a private one
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// Where the private database and compiled handlers are kept
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
    /// Where events come in
    #[arg(long, value_name = "ADDRESS")]
    http_listen: Option<String>,
    /// Where operators come in
    #[arg(long, value_name = "ADDRESS")]
    admin_listen: Option<String>,
    /// error, warn, info, debug, trace, or directives
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// json, pretty or auto
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    configuration: Configuration,
    /// Deploy this host's handlers even where a live host runs another version of them
    #[arg(long)]
    replace: bool,
}

#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    configuration: Configuration,
}

impl Configuration {
    fn load(self) -> Result<Config, Error> {
        let flags = Flags {
            config: self.config,
            database_url: self.database_url,
            data_dir: self.data_dir,
            http_listen: self.http_listen,
            admin_listen: self.admin_listen,
            log_level: self.log_level,
            log_format: self.log_format,
        };
        config::load(&flags, &Env::of_process()).map_err(|report| Error::Configuration(report.to_string()))
    }
}

impl Run {
    pub(super) async fn run(self) -> Result<Finding, Error> {
        let config = self.configuration.load()?;
        let failed = |error: anyhow::Error| Error::Host(format!("{error:#}"));
        let _written_to_the_end = logs::init(&log_settings(&config)).map_err(|e| failed(e.into()))?;
        let on_other_version = if self.replace { OnOtherVersion::Replace } else { OnOtherVersion::Refuse };
        let options = RunOptions { on_other_version };
        runtime::run(config, options, metrics::install()).await.map_err(failed)?;
        Ok(Finding::Fine)
    }
}

impl Check {
    pub(super) fn run(self) -> Result<Finding, Error> {
        let config = self.configuration.load()?;
        let file = config.file.as_ref().map_or("the defaults".to_owned(), |file| file.display().to_string());
        print(&format!(
            "{file}: fine ({} handlers, {} sinks, {} webhook sources)",
            config.handlers.len(),
            config.sinks.len(),
            config.sources.len()
        ))
    }
}

fn log_settings(config: &Config) -> LogSettings {
    LogSettings {
        format: match config.log.format {
            Configured::Json => LogFormat::Json,
            Configured::Pretty => LogFormat::Pretty,
            Configured::Auto => LogFormat::Auto,
        },
        filter: config.log.level.clone(),
        target: config.log.file.clone().map_or(LogTarget::Stderr, LogTarget::File),
        host: config.http.listen.to_string(),
    }
}
