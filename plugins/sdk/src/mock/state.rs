//! What a call under test can see and has done so far; one for each thread while a call runs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::answer::Answer;
use super::event::NOW;
use super::run::{Emitted, Kind, Line, Statement};
use crate::bindings::wonce::handler::outbox;
use crate::sql::{self, Value};

/// As of the host.
const DEFAULT_REMAINING_MS: u32 = 5_000;

#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) script: VecDeque<(String, Answer)>,
    pub(super) settings: BTreeMap<String, String>,
    pub(super) sinks: Option<BTreeSet<String>>,
    pub(super) key: String,
    pub(super) now: i64,
    pub(super) remaining_ms: u32,
    pub(super) statements: Vec<Statement>,
    pub(super) effects: Vec<Emitted>,
    pub(super) log: Vec<Line>,
    pub(super) aborted: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            script: VecDeque::new(),
            settings: BTreeMap::new(),
            sinks: None,
            key: String::new(),
            now: NOW,
            remaining_ms: DEFAULT_REMAINING_MS,
            statements: Vec::new(),
            effects: Vec::new(),
            log: Vec::new(),
            aborted: false,
        }
    }
}

thread_local! {
    static CURRENT: RefCell<Option<State>> = const { RefCell::new(None) };
}

/// Takes the state away again when the call panics, so that the next test of the thread finds none.
struct Current;

impl Drop for Current {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(|current| *current = None);
    }
}

/// What an import does with the state.
pub(super) fn with<R>(import: &str, act: impl FnOnce(&mut State) -> R) -> R {
    CURRENT.with_borrow_mut(|current| match current {
        Some(state) => act(state),
        None => panic!(
            "`{import}` needs a host: call the handler through `wonce::mock::Host` in a test, or build it for wasm32-wasip2"
        ),
    })
}

impl State {
    /// Runs a call with this as its host; the state afterwards.
    pub(super) fn during<R>(self, call: impl FnOnce() -> R) -> (R, Self) {
        let outer = CURRENT.replace(Some(self));
        assert!(outer.is_none(), "a mock host runs one call at a time on a thread");
        let held = Current;
        let result = call();
        let state = CURRENT.take().unwrap_or_default();
        drop(held);
        (result, state)
    }

    /// Keeps a statement and finds its answer.
    pub(super) fn answer(&mut self, kind: Kind, text: &str, params: &[Value]) -> Result<Answer, sql::Error> {
        self.statements.push(Statement { kind, text: text.to_owned(), params: params.to_vec() });
        if self.aborted {
            return Err(sql::Error::Aborted);
        }
        let sent = on_one_line(text);
        let Some((words, answer)) = self.script.pop_front() else {
            panic!(
                "the handler runs a statement that the script does not expect; nothing is left of it:\n  {sent}"
            )
        };
        assert!(
            sent.contains(&words),
            "the script expects another statement:\n  expected: …{words}…\n       sent: {sent}"
        );
        match answer {
            Answer::Affected(_) | Answer::Rows(_) => Ok(answer),
            Answer::Refused(error) => {
                self.aborted = true;
                Err(sql::Error::Database(error))
            }
            Answer::ConnectionLost => {
                self.aborted = true;
                Err(sql::Error::ConnectionLost("scripted".to_owned()))
            }
        }
    }

    /// Keeps a statement that waits for no answer.
    pub(super) fn queue(&mut self, text: &str, params: &[Value]) -> Result<(), sql::Error> {
        self.statements.push(Statement { kind: Kind::Queue, text: text.to_owned(), params: params.to_vec() });
        if self.aborted { Err(sql::Error::Aborted) } else { Ok(()) }
    }

    /// Keeps an effect; its dedup key.
    pub(super) fn emit(&mut self, effect: &Emitted) -> Result<String, outbox::Error> {
        if self.aborted {
            return Err(outbox::Error::Aborted);
        }
        if self.sinks.as_ref().is_some_and(|known| !known.contains(&effect.sink)) {
            return Err(outbox::Error::UnknownSink(effect.sink.clone()));
        }
        let derived = format!("{}/{}", self.key, self.effects.len());
        let key = effect.dedup_key.clone().unwrap_or(derived);
        self.effects.push(effect.clone());
        Ok(key)
    }
}

/// White space is the author's business.
pub(super) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
