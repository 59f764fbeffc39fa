//! As much HTTP/1.1 as a load generator needs: one keep-alive connection, one request at a time. A full
//! client would take the processor from those it measures.

use std::net::SocketAddr;

use anyhow::Context;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Longer than any answer of a host to one request.
const LONGEST_ANSWER: usize = 4 << 20;

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("connect to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::with_capacity(4096) })
    }

    /// Sends one request and reads its answer.
    pub(crate) async fn post(
        &mut self,
        path: &str,
        content_type: &str,
        body: &[u8],
    ) -> anyhow::Result<Answer> {
        self.exchange(&request(path, content_type, body)).await
    }

    /// The same with a request that was written before.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> anyhow::Result<Answer> {
        self.stream.write_all(request).await.context("send a request")?;
        loop {
            if let Some((answer, length)) = parse(&self.received)? {
                self.received.drain(..length);
                return Ok(answer);
            }
            anyhow::ensure!(self.received.len() < LONGEST_ANSWER, "an answer does not end");
            let read = self.stream.read_buf(&mut self.received).await.context("read an answer")?;
            anyhow::ensure!(read > 0, "the connection ended before the answer");
        }
    }
}

/// A whole request.
pub(crate) fn request(path: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// The first answer in `received` and its length, once it is complete.
fn parse(received: &[u8]) -> anyhow::Result<Option<(Answer, usize)>> {
    let Some(head_end) = received.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = std::str::from_utf8(&received[..head_end]).context("read an answer's head")?;
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|code| code.parse().ok());
    let status = status.context("read an answer's status")?;
    let length = lines.filter_map(|line| line.split_once(':')).find_map(|(name, value)| {
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>())
    });
    let length = length.context("an answer without a content-length")?.context("read an answer's length")?;
    let start = head_end + 4;
    let Some(body) = received.get(start..start + length) else { return Ok(None) };
    Ok(Some((Answer { status, body: body.to_vec() }, start + length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_once_it_is_complete_and_no_further() {
        let whole = b"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1";
        assert!(parse(&whole[..20]).unwrap().is_none());
        assert!(parse(&whole[..45]).unwrap().is_none());
        let (answer, length) = parse(whole).unwrap().unwrap();
        assert_eq!((answer.status, answer.body.as_slice(), length), (202, b"{}".as_slice(), 46));
    }

    #[test]
    fn an_answer_without_a_length_is_an_error() {
        assert!(parse(b"HTTP/1.1 200 OK\r\nx: y\r\n\r\n").is_err());
    }
}
