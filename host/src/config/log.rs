//! `[log]`: what is logged, how and where. Knows nothing of who logs.

use std::path::PathBuf;

use super::reader::Reader;
use super::report::Complaint;
use super::suggest;

const DEFAULT_LEVEL: &str = "info";
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    pub format: LogFormat,
    /// A level, or `target=level` parts with commas between: `info,wonce_host=debug`.
    pub level: String,
    /// Standard error if none is given.
    pub file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Pretty on a terminal, JSON elsewhere.
    Auto,
    Json,
    Pretty,
}

pub(crate) fn read(table: &mut Reader<'_, '_>) -> Log {
    let formats = [("auto", LogFormat::Auto), ("json", LogFormat::Json), ("pretty", LogFormat::Pretty)];
    Log {
        format: table.choice("format", &formats, LogFormat::Auto),
        level: table.parsed("level", level).unwrap_or_else(|| DEFAULT_LEVEL.to_owned()),
        file: table.file_path("file"),
    }
}

fn level(text: &str) -> Result<String, Complaint> {
    for part in text.split(',') {
        let word = part.rsplit_once('=').map_or(part, |(_, level)| level).trim();
        if !LEVELS.contains(&word) {
            let remedy = match suggest::nearest(word, LEVELS) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => {
                    "write one of off, error, warn, info, debug, trace, or target=level with commas".into()
                }
            };
            return Err(Complaint::new(format!("\"{word}\" is not a log level"), remedy));
        }
    }
    Ok(text.to_owned())
}
