//! A host that exists only in a unit test: it answers a handler's statements from a script and keeps what the
//! handler did. There is no database, no wasm and no wonce in it, so a test takes microseconds; whether the SQL is
//! right is for `wonce test` and a real Postgres to say.
//!
//! ```
//! use serde_json::json;
//! use wonce::mock::{self, Host};
//! use wonce::prelude::*;
//!
//! fn handle(event: Event) -> wonce::Result {
//!     let id: String = event.json::<serde_json::Value>()?["id"].as_str().unwrap_or_default().to_owned();
//!     if sql::execute("insert into app.users (id) values ($1) on conflict do nothing", &[&id])? == 0 {
//!         return Ok(ignored("known already"));
//!     }
//!     outbox::emit(Effect::to("email").json("welcome.requested", &json!({ "user": id }))?)?;
//!     Ok(Done)
//! }
//!
//! let run = Host::new()
//!     .expect("insert into app.users", mock::affected(1))
//!     .run(handle, mock::event("user.signed-up", &json!({ "id": "u-1" })));
//! assert_eq!(run.result, Ok(Done));
//! assert_eq!(run.statements[0].params, [sql::Value::Text("u-1".into())]);
//! assert_eq!(run.effects[0].sink, "email");
//! assert!(run.commits());
//! ```
//!
//! The script is strict: statements come in the order in which they are expected, each contains the words it is
//! expected by, and none is left over. Queued statements have no answer, so they are only kept. After a refused
//! statement the transaction is aborted, as it would be: every later statement and effect is refused too, and
//! [`Run::commits`] is false whatever the handler returned.

mod answer;
mod event;
mod handler;
pub(crate) mod imports;
mod run;
mod state;

pub use answer::{Answer, affected, connection_lost, no_rows, refused, refused_with, row, rows};
pub use event::{delivery, event, event_bytes};
pub use handler::{Handler, OfEvent, OfEventAndDelivery};
pub use run::{Emitted, Kind, Line, Run, Statement};

use std::time::Duration;

use crate::{Delivery, Event, Timestamp};
use state::State;

/// A scripted host for one call.
#[derive(Debug, Clone)]
#[must_use]
pub struct Host {
    state: State,
    delivery: Delivery,
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}

impl Host {
    /// A host that expects no statement, has no setting and knows every sink. Its time is 2026-01-01T00:00:00Z.
    pub fn new() -> Self {
        Self { state: State::default(), delivery: delivery() }
    }

    /// The next statement that waits for an answer is to contain `words`; white space counts as one blank.
    pub fn expect(mut self, words: &str, answer: Answer) -> Self {
        self.state.script.push_back((state::on_one_line(words), answer));
        self
    }

    /// A setting, as the manifest or the operator has it.
    pub fn setting(mut self, key: &str, value: &str) -> Self {
        self.state.settings.insert(key.to_owned(), value.to_owned());
        self
    }

    /// Only these sinks are known, as under `emits` in handler.toml.
    pub fn emits(mut self, sinks: &[&str]) -> Self {
        self.state.sinks = Some(sinks.iter().map(|sink| (*sink).to_owned()).collect());
        self
    }

    /// What `context::now` says.
    pub fn now(mut self, now: Timestamp) -> Self {
        self.state.now = now.as_micros();
        self
    }

    /// What `context::remaining` says.
    pub fn remaining(mut self, left: Duration) -> Self {
        self.state.remaining_ms = u32::try_from(left.as_millis()).unwrap_or(u32::MAX);
        self
    }

    /// Which delivery the handler sees; see [`delivery`].
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Which attempt it is: 1 is the first.
    pub fn attempt(mut self, attempt: u32) -> Self {
        self.delivery.attempt = attempt;
        self
    }

    /// Calls the handler once.
    ///
    /// # Panics
    /// When the handler does, and when it and the script do not agree: the text says where.
    pub fn run<A>(self, handler: impl Handler<A>, event: Event) -> Run {
        let Self { mut state, delivery } = self;
        state.key.clone_from(&delivery.key);
        let (result, state) = state.during(|| handler.handle(event, delivery));
        let left: Vec<&str> = state.script.iter().map(|(words, _)| words.as_str()).collect();
        assert!(
            left.is_empty() || state.aborted,
            "the handler ended with {result:?} and never ran what the script expects next: {left:#?}"
        );
        Run {
            result,
            statements: state.statements,
            effects: state.effects,
            log: state.log,
            aborted: state.aborted,
        }
    }
}

#[cfg(test)]
mod tests;
