//! `wonce send`: the flags of one event, or a file of them.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use wonce_core::name::SourceName;

use super::{Error, Finding, print};
use crate::send::{self, Data, Input, OneEvent, Origin, SendOptions};

/// How long one event is tried again while the host is busy or away.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Debug, Args)]
pub(super) struct Send {
    /// The host's door for events
    #[arg(long, env = "WONCE_HTTP_URL", value_name = "URL", default_value = "http://127.0.0.1:8080")]
    url: String,
    /// The wonce source that the events come in by
    #[arg(long, value_name = "NAME", default_value = "cli")]
    source: String,
    /// Send one CloudEvent in JSON per line of this file; - is stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["event_type", "id", "data", "subject"])]
    file: Option<String>,
    /// Events on their way at once; 1 keeps the order of the lines
    #[arg(long, value_name = "N", default_value = "16")]
    concurrency: NonZeroUsize,
    /// The event's type
    #[arg(long = "type", value_name = "TYPE", required_unless_present = "file")]
    event_type: Option<String>,
    /// The event's id; without one it gets an id that only this send knows
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// The event's subject
    #[arg(long, value_name = "SUBJECT")]
    subject: Option<String>,
    /// The payload: text, @FILE, or - for stdin
    #[arg(long, value_name = "TEXT")]
    data: Option<String>,
    /// The payload's media type
    #[arg(long, value_name = "TYPE", default_value = "application/json")]
    content_type: String,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

impl Send {
    pub(super) async fn run(self) -> Result<Finding, Error> {
        let json = self.json;
        let summary = send::run(self.options()?).await.map_err(|error| Error::Host(format!("{error:#}")))?;
        if json {
            print(&serde_json::to_string(&summary).map_err(|error| Error::Host(error.to_string()))?)?;
        } else {
            print(&summary.to_string())?;
        }
        Ok(if summary.exit_status() == 0 { Finding::Fine } else { Finding::Differs })
    }

    fn options(self) -> Result<SendOptions, Error> {
        let name = SourceName::parse(self.source.clone());
        let source =
            name.map_err(|e| Error::Host(format!("\"{}\" is no source's name: {e}", self.source)))?;
        let input = match (self.file, self.event_type) {
            (Some(file), _) => Input::Lines(origin(&file)),
            (None, event_type) => Input::One(OneEvent {
                event_type: event_type.unwrap_or_default(),
                source: source.to_string(),
                id: self.id,
                subject: self.subject,
                content_type: self.data.is_some().then_some(self.content_type),
                data: data(self.data),
            }),
        };
        Ok(SendOptions { url: self.url, source, input, concurrency: self.concurrency, patience: PATIENCE })
    }
}

fn data(text: Option<String>) -> Data {
    match text {
        None => Data::Empty,
        Some(text) if text == "-" => Data::From(Origin::Stdin),
        Some(text) => match text.strip_prefix('@') {
            Some(path) => Data::From(origin(path)),
            None => Data::Text(text),
        },
    }
}

fn origin(path: &str) -> Origin {
    if path == "-" { Origin::Stdin } else { Origin::File(PathBuf::from(path)) }
}
