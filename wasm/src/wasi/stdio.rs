//! What a guest writes to stdout or stderr, bounded in memory. Never refuses a write: a
//! runtime that cannot print panics. Knows nothing of log levels.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// Bytes of one stream that are kept from its beginning.
const KEPT_BYTES: usize = 64 << 10;
/// Bytes of one stream that are kept from its end: a panic's text comes last.
const TAIL_BYTES: usize = 4 << 10;
/// What one write may hold.
const WRITE_BYTES: usize = 64 << 10;

/// What came out of one stream.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    /// The beginning.
    pub(crate) kept: Vec<u8>,
    /// The end of what did not fit.
    pub(crate) tail: Vec<u8>,
    /// Whether anything between `kept` and the end of the stream was lost.
    pub(crate) lost: u64,
}

impl Captured {
    fn write(&mut self, bytes: &[u8]) {
        let room = KEPT_BYTES - self.kept.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.kept.extend_from_slice(head);
        if rest.is_empty() {
            return;
        }
        self.lost += rest.len() as u64;
        self.tail.extend_from_slice(&rest[rest.len().saturating_sub(TAIL_BYTES)..]);
        if self.tail.len() > 2 * TAIL_BYTES {
            self.tail.drain(..self.tail.len() - TAIL_BYTES);
        }
    }

    /// The last words of the stream.
    pub(crate) fn end(&self) -> String {
        let from = self.kept.len().saturating_sub(TAIL_BYTES);
        let mut end = self.kept[from..].to_vec();
        end.extend_from_slice(&self.tail);
        String::from_utf8_lossy(&end).into_owned()
    }
}

/// One stream; clones write to the same place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Output(Arc<Mutex<Captured>>);

impl Output {
    /// Takes out what was written.
    pub(crate) fn take(&self) -> Captured {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Captured> {
        // Nothing can panic half-way through a write.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for Output {
    async fn ready(&mut self) {}
}

impl OutputStream for Output {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.lock().write(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_BYTES)
    }
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.lock().write(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_bounded_and_its_last_words_are_kept() {
        let mut captured = Captured::default();
        for _ in 0..1_000 {
            captured.write(&[b'x'; 1_000]);
        }
        captured.write(b"panicked at the end");
        assert_eq!(captured.kept.len(), KEPT_BYTES);
        assert!(captured.tail.len() <= 2 * TAIL_BYTES);
        assert!(captured.end().ends_with("panicked at the end"));
    }
}
