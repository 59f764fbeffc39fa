//! The file that the server writes its messages to, and its bound: whenever the file is over the limit, its
//! content moves to `postgres.log.1`. The server appends and needs not know, so an adopted server is bounded as
//! well. It never reads the messages for their meaning.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::Duration;

/// The size at which the log is moved away; the two files together hold about twice that.
const LIMIT_BYTES: u64 = 8 << 20;
/// How often the size is looked at.
const CHECK_EVERY: Duration = Duration::from_secs(30);
/// How much of the end an error message shows.
const TAIL_LINES: usize = 15;
const TAIL_BYTES: u64 = 16 << 10;

/// The server's log file.
#[derive(Debug, Clone)]
pub(crate) struct ServerLog {
    path: PathBuf,
}

/// A place in the log, to show later only what was written after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(u64);

/// The task that keeps the log bounded; it ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Keeper(tokio::task::JoinHandle<()>);

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ServerLog {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// Opens the log for a server and marks its present end.
    pub(crate) fn open(&self) -> io::Result<(File, Mark)> {
        self.bound()?;
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)?;
        let end = file.metadata()?.len();
        Ok((file, Mark(end)))
    }

    /// The last lines after `mark`, or a word that there are none.
    pub(crate) fn tail(&self, mark: Mark) -> String {
        let text = self.read_from(mark).unwrap_or_else(|error| format!("(the log cannot be read: {error})"));
        let lines: Vec<&str> = text.lines().collect();
        match &lines[lines.len().saturating_sub(TAIL_LINES)..] {
            [] => "(it wrote nothing)".into(),
            last => last.join("\n"),
        }
    }

    /// Starts the task that bounds the log.
    pub(crate) fn keep_bounded(&self) -> Keeper {
        let log = self.clone();
        Keeper(tokio::spawn(async move {
            loop {
                tokio::time::sleep(CHECK_EVERY).await;
                if let Err(error) = log.bound() {
                    tracing::warn!(path = %log.path.display(), %error, "cannot bound the database log");
                }
            }
        }))
    }

    fn read_from(&self, mark: Mark) -> io::Result<String> {
        let mut file = File::open(&self.path)?;
        let end = file.metadata()?.len();
        file.seek(SeekFrom::Start(mark.0.max(end.saturating_sub(TAIL_BYTES)).min(end)))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A line written between the copy and the cut is lost; the server keeps the file open, so it cannot be
    /// renamed instead.
    fn bound(&self) -> io::Result<()> {
        match fs::metadata(&self.path) {
            Ok(meta) if meta.len() > LIMIT_BYTES => {}
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        }
        let mut before = OsString::from(&self.path);
        before.push(".1");
        fs::copy(&self.path, before)?;
        OpenOptions::new().write(true).open(&self.path)?.set_len(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_tail_shows_only_what_came_after_the_mark() {
        let dir = tempfile::tempdir().unwrap();
        let log = ServerLog::new(dir.path().join("log"));
        let (mut file, start) = log.open().unwrap();
        assert_eq!(log.tail(start), "(it wrote nothing)");
        writeln!(file, "old").unwrap();
        let (mut file, mark) = log.open().unwrap();
        for line in 0..100 {
            writeln!(file, "line {line}").unwrap();
        }
        let tail = log.tail(mark);
        assert!(tail.starts_with("line 85\n") && tail.ends_with("line 99"), "{tail}");
        assert!(log.tail(start).ends_with("line 99"));
    }

    #[test]
    fn a_log_over_the_limit_moves_away_under_its_writer() {
        let dir = tempfile::tempdir().unwrap();
        let log = ServerLog::new(dir.path().join("log"));
        let (mut file, _) = log.open().unwrap();
        file.write_all(&vec![b'x'; usize::try_from(LIMIT_BYTES).unwrap() + 1]).unwrap();
        log.bound().unwrap();
        writeln!(file, "after").unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("log")).unwrap(), "after\n");
        assert_eq!(fs::metadata(dir.path().join("log.1")).unwrap().len(), LIMIT_BYTES + 1);
    }
}
