//! JSON lines, one at a time and bounded: a line that is too long is skipped without being held.
//! Knows nothing of what the lines say.

use std::io;

use anyhow::Context;
use futures_util::Stream;
use tokio::fs::File;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, BufReader};

use super::Origin;

/// The longest line that is read, in bytes; the host has a limit of its own.
const MAX_LINE_BYTES: usize = 64 << 20;

/// A line's number, from 1, and its bytes, or why it is not read.
pub(super) type Line = (u64, Result<Vec<u8>, String>);

pub(super) async fn open(from: &Origin) -> anyhow::Result<Box<dyn AsyncBufRead + Send + Unpin>> {
    match from {
        Origin::Stdin => Ok(Box::new(BufReader::new(tokio::io::stdin()))),
        Origin::File(path) => {
            let file = File::open(path).await;
            let file = file.with_context(|| format!("cannot open \"{}\"", path.display()))?;
            Ok(Box::new(BufReader::new(file)))
        }
    }
}

/// The lines that are not blank.
pub(super) fn lines(
    reader: impl AsyncBufRead + Send + Unpin,
) -> impl Stream<Item = Result<Line, io::Error>> + Send {
    futures_util::stream::unfold((reader, 0), |(mut reader, mut number)| async move {
        loop {
            number += 1;
            match read_line(&mut reader, MAX_LINE_BYTES).await {
                Ok(None) => return None,
                Ok(Some(Ok(line))) if line.trim_ascii().is_empty() => {}
                Ok(Some(line)) => return Some((Ok((number, line)), (reader, number))),
                Err(error) => return Some((Err(error), (reader, number))),
            }
        }
    })
}

/// One line without its end, or `None` at the end of the input.
async fn read_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    limit: usize,
) -> io::Result<Option<Result<Vec<u8>, String>>> {
    let (mut line, mut length) = (Vec::new(), 0);
    loop {
        let bytes = reader.fill_buf().await?;
        let ended = bytes.is_empty();
        let newline = bytes.iter().position(|byte| *byte == b'\n');
        let part = &bytes[..newline.unwrap_or(bytes.len())];
        length += part.len();
        if length <= limit {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(newline.is_some());
        reader.consume(used);
        match (newline, ended) {
            (None, true) if length == 0 => return Ok(None),
            (None, false) => {}
            (Some(_), _) | (None, true) if length <= limit => return Ok(Some(Ok(line))),
            (Some(_), _) | (None, true) => {
                return Ok(Some(Err(format!(
                    "it has {length} bytes, and at most {limit} are read; shorten it"
                ))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::TryStreamExt;

    use super::{lines, read_line};

    #[tokio::test]
    async fn blank_lines_are_skipped_but_counted_and_the_last_needs_no_end() {
        let input: &[u8] = b"{\"a\":1}\r\n\n  \n{\"b\":2}";
        let read: Vec<_> = lines(input).try_collect().await.expect("memory can be read");
        assert_eq!(read, [(1, Ok(b"{\"a\":1}\r".to_vec())), (4, Ok(b"{\"b\":2}".to_vec()))]);
    }

    #[tokio::test]
    async fn a_line_over_the_limit_is_named_and_the_next_one_read() {
        let mut input: &[u8] = b"0123456789\nok\n";
        let first = read_line(&mut input, 5).await.expect("memory can be read").expect("a line");
        assert!(first.is_err_and(|reason| reason.contains("10 bytes")));
        let second = read_line(&mut input, 5).await.expect("memory can be read").expect("a line");
        assert_eq!(second, Ok(b"ok".to_vec()));
        assert_eq!(read_line(&mut input, 5).await.expect("memory can be read"), None);
    }
}
