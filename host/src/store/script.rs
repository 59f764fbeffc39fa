//! Several statements as one text in one request: each runs as if it came alone, but they cost one
//! message and one answer. Knows nothing of what they do, and quotes nothing: whoever adds a
//! statement answers for its text.

use futures_util::{TryStreamExt, pin_mut};
use tokio_postgres::{Client, SimpleQueryMessage};

/// Statements in their order.
#[derive(Debug, Default)]
pub(super) struct Script {
    text: String,
}

/// Which statement was refused; those before it were done, those behind it never began.
#[derive(Debug)]
pub(super) struct Stopped {
    /// Its place, from 0.
    pub(super) step: usize,
    pub(super) error: tokio_postgres::Error,
}

impl Script {
    /// Adds one statement. It must be exactly one.
    pub(super) fn add(&mut self, statement: &str) {
        self.text.push_str(statement);
        self.text.push(';');
    }

    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Runs them all.
    ///
    /// # Errors
    /// The first refused statement.
    pub(super) async fn run(&self, client: &Client) -> Result<(), Stopped> {
        let mut step = 0;
        let stopped = |step, error| Stopped { step, error };
        let answers = client.simple_query_raw(&self.text).await.map_err(|error| stopped(step, error))?;
        pin_mut!(answers);
        while let Some(answer) = answers.try_next().await.map_err(|error| stopped(step, error))? {
            if matches!(answer, SimpleQueryMessage::CommandComplete(_)) {
                step += 1;
            }
        }
        Ok(())
    }
}
