//! `wonce send`: one event from flags, or many from JSON lines, to a host's HTTP door. A send
//! that got no answer is repeated: the host knows the event again, so that is harmless. Knows
//! nothing of how the command line is read.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use futures_util::StreamExt;
use wonce_api::receipt::EventReceipt;
use wonce_core::name::SourceName;

mod input;
mod lines;
mod progress;
mod request;
mod summary;

use progress::Progress;
use request::{Outgoing, Sender};
pub use summary::{Answer, Summary};

/// What to send, whereto and how.
#[derive(Debug, Clone)]
pub struct SendOptions {
    /// The host's address: `http://127.0.0.1:8080`.
    pub url: String,
    /// The wonce source of the path.
    pub source: SourceName,
    pub input: Input,
    /// Requests on their way at once; 1 keeps the order of the lines.
    pub concurrency: NonZeroUsize,
    /// How long one event is tried again while the host is busy or out of reach.
    pub patience: Duration,
}

/// What to send.
#[derive(Debug, Clone)]
pub enum Input {
    One(OneEvent),
    /// A CloudEvent in JSON on each line.
    Lines(Origin),
}

/// Where bytes come from.
#[derive(Debug, Clone)]
pub enum Origin {
    Stdin,
    File(PathBuf),
}

/// One event as the flags give it.
#[derive(Debug, Clone)]
pub struct OneEvent {
    pub event_type: String,
    /// CloudEvents `source`.
    pub source: String,
    /// `None` draws one, which every repetition of this send keeps.
    pub id: Option<String>,
    pub subject: Option<String>,
    pub data: Data,
    pub content_type: Option<String>,
}

/// The payload of one event.
#[derive(Debug, Clone)]
pub enum Data {
    Empty,
    Text(String),
    From(Origin),
}

/// Sends everything and sums up. Progress and refused lines go to stderr.
///
/// # Errors
/// When the input cannot be read or the address is wrong. Refused events are no error: they are
/// in the summary.
pub async fn run(options: SendOptions) -> anyhow::Result<Summary> {
    let sender = Sender::new(&options).context("cannot prepare to send")?;
    match options.input {
        Input::One(one) => send_one(&sender, one).await,
        Input::Lines(from) => send_lines(&sender, from, options.concurrency).await,
    }
}

async fn send_one(sender: &Sender, one: OneEvent) -> anyhow::Result<Summary> {
    let outgoing = input::one(one).await?;
    let mut summary = Summary::default();
    let answer = sender.send(&outgoing).await;
    if let Answer::Kept(receipt) | Answer::Conflict(receipt, _) = &answer {
        summary.receipt = Some(EventReceipt::clone(receipt));
    }
    if let Some(failure) = summary.count(None, &answer) {
        progress::say(&failure);
    }
    Ok(summary)
}

async fn send_lines(sender: &Sender, from: Origin, concurrency: NonZeroUsize) -> anyhow::Result<Summary> {
    let progress = Progress::new();
    let mut summary = Summary::default();
    let lines = lines::lines(lines::open(&from).await?);
    let mut answers = std::pin::pin!(
        lines
            .map(|line| async {
                let (number, text) = line?;
                let answer = match text {
                    Ok(text) => sender.send(&Outgoing::structured(text)).await,
                    Err(too_long) => Answer::Rejected(too_long),
                };
                Ok::<_, std::io::Error>((number, answer))
            })
            .buffer_unordered(concurrency.get())
    );
    while let Some(answered) = answers.next().await {
        let (number, answer) = answered.context("cannot read the events; those before were sent")?;
        if let Some(note) = summary.count(Some(number), &answer) {
            progress.note(&note);
        }
        progress.show(&summary);
    }
    progress.finish();
    Ok(summary)
}
