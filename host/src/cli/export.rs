//! `wonce dead export`: dead letters as JSON lines, one whole document of the admin API each. It
//! holds one page of summaries and a few documents, however many there are, and a reader that
//! goes away ends it in order. Knows nothing of what is in a document.

use std::io::{self, BufWriter, Write};

use clap::Args;
use futures_util::{StreamExt, stream};
use serde::de::IgnoredAny;
use wonce_api::dead_letter::DeadLetterList;

use super::client::{Answer, Client};
use super::connect::Connect;
use super::filter::Filter;
use super::{Error, Finding};

/// Summaries of one page.
const PAGE: &str = "500";
/// Documents that are asked for at once: each may hold a large payload.
const AT_ONCE: usize = 4;
/// The admin API's status of what is not there any more.
const GONE: u16 = 404;

#[derive(Debug, Args)]
pub(super) struct Export {
    #[command(flatten)]
    filter: Filter,
    /// Only with a smaller id: where another export ended
    #[arg(long, value_name = "ID")]
    before: Option<i64>,
    /// At most so many [default: all]
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
    #[command(flatten)]
    connect: Connect,
}

/// How far it came.
#[derive(Debug, Default)]
struct Progress {
    written: u64,
    /// The last that was written: where to go on.
    last: Option<i64>,
}

/// Why no more is written.
enum End {
    AllWritten,
    LimitReached,
    /// Nobody reads any more.
    ReaderGone,
}

impl Export {
    pub(super) async fn run(self) -> Result<Finding, Error> {
        let client = Client::new(&self.connect)?;
        let mut progress = Progress::default();
        let ended = self.write_all(&client, &mut progress, BufWriter::new(io::stdout())).await;
        // When stderr is gone too, the lines and the exit status have to do.
        let _ = writeln!(io::stderr(), "{}", summary(&progress, &ended));
        ended.map(|_| Finding::Fine)
    }

    async fn write_all(
        &self,
        client: &Client,
        progress: &mut Progress,
        mut out: impl Write,
    ) -> Result<End, Error> {
        let mut before = self.before;
        loop {
            let page = self.page(client, before).await?;
            let ids = page.dead_letters.iter().map(|letter| letter.id);
            let documents = stream::iter(ids).map(|id| async move { (id, document(client, id).await) });
            let mut documents = documents.buffered(AT_ONCE);
            while let Some((id, found)) = documents.next().await {
                if self.limit.is_some_and(|limit| progress.written >= limit) {
                    return flushed(&mut out, End::LimitReached);
                }
                let Some(document) = found? else { continue };
                match line(&mut out, &document) {
                    Ok(()) => (progress.written, progress.last) = (progress.written + 1, Some(id)),
                    Err(error) => return gone(&error),
                }
            }
            before = page.next_before;
            if before.is_none() {
                return flushed(&mut out, End::AllWritten);
            }
        }
    }

    async fn page(&self, client: &Client, before: Option<i64>) -> Result<DeadLetterList, Error> {
        let before = before.map(|id| id.to_string());
        let mut query = self.filter.query();
        query.push(("limit", PAGE));
        query.extend(before.as_deref().map(|id| ("before", id)));
        Ok(client.get(&["v1", "dead-letters"], &query, None).await?.value)
    }
}

/// A dead letter whole, as the host wrote it; `None` when it is not there any more.
async fn document(client: &Client, id: i64) -> Result<Option<String>, Error> {
    let answer: Result<Answer<IgnoredAny>, Error> =
        client.get(&["v1", "dead-letters", &id.to_string()], &[], None).await;
    match answer {
        Ok(answer) => Ok(Some(answer.json)),
        Err(Error::Refused(problem)) if problem.status == GONE => Ok(None),
        Err(error) => Err(error),
    }
}

/// A document on a line of its own: a line break in JSON is never part of a value.
fn line(out: &mut impl Write, document: &str) -> io::Result<()> {
    for part in document.split(['\n', '\r']) {
        out.write_all(part.as_bytes())?;
    }
    out.write_all(b"\n")
}

fn flushed(out: &mut impl Write, end: End) -> Result<End, Error> {
    out.flush().map_or_else(|error| gone(&error), |()| Ok(end))
}

/// A reader that went away (`| head`) is no error.
fn gone(error: &io::Error) -> Result<End, Error> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(End::ReaderGone),
        _ => Err(Error::Stdout { reason: error.to_string() }),
    }
}

fn summary(progress: &Progress, ended: &Result<End, Error>) -> String {
    let Progress { written, last } = progress;
    let letters = if *written == 1 { "dead letter" } else { "dead letters" };
    let rest = last.map_or_else(String::new, |id| format!("; the rest: --before {id}"));
    match ended {
        Ok(End::AllWritten) => format!("exported {written} {letters}"),
        Ok(End::LimitReached) => format!("exported {written} {letters}, as many as --limit says{rest}"),
        Ok(End::ReaderGone) => {
            format!("the reader went away during the export of {letters}; nothing was changed")
        }
        Err(_) => format!("exported {written} {letters}, and not all{rest}"),
    }
}
