//! Several requests in one trip: each is sent when it is added, in that order, and all are
//! answered in the same order. Knows nothing of what they are.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use futures_util::future::{BoxFuture, MaybeDone, maybe_done};

/// Requests of one connection that are on their way.
pub(super) struct Trip<'a, T> {
    sent: Vec<MaybeDone<BoxFuture<'a, T>>>,
}

impl<'a, T> Trip<'a, T> {
    pub(super) fn new() -> Self {
        Self { sent: Vec::new() }
    }

    /// Sends a request. The driver writes a request to its connection when its future is first
    /// polled, so that is done here and now.
    pub(super) async fn send(&mut self, request: impl Future<Output = T> + Send + 'a) {
        let mut request = maybe_done(Box::pin(request) as BoxFuture<'a, T>);
        poll_fn(|cx| {
            let _ = Pin::new(&mut request).poll(cx);
            Poll::Ready(())
        })
        .await;
        self.sent.push(request);
    }

    /// Waits for every answer, the first first: the driver stops reading while an early answer is
    /// not taken.
    pub(super) async fn answers(self) -> Vec<T> {
        let mut answers = Vec::with_capacity(self.sent.len());
        for mut request in self.sent {
            Pin::new(&mut request).await;
            answers.extend(Pin::new(&mut request).take_output());
        }
        answers
    }
}
