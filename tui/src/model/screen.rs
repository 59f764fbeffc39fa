//! The screens: what each asks for, which keys mean something on it, and what it is called. Knows
//! nothing of what is on them.

use wonce_api::dead_letter::{GroupQuery, Selection};
use wonce_api::live::{LogLevel, LogQuery};
use wonce_core::effect::EffectState;

use crate::desk::{Question, Shelf};
use crate::keys::Context;

/// What is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Screen {
    Overview,
    Handler(String),
    /// Dead letters by cause, of one handler or of all.
    Groups(Option<String>),
    /// Dead letters one by one.
    Letters(Selection, Shelf),
    Letter(i64),
    Operations,
    Operation(i64),
    Event {
        handler: String,
        key: String,
    },
    Hosts,
    Outlets,
    /// Effects to one sink or to all, in one state or in all but `confirmed`.
    Effects(Option<String>, Option<EffectState>),
    Changes,
    /// Log lines of one handler or of all.
    Logs {
        handler: Option<String>,
        /// And what matters more.
        level: LogLevel,
    },
    Help,
}

impl Screen {
    /// What the screen asks a host for; nothing when the stream says it all.
    #[must_use]
    pub fn question(&self) -> Option<Question> {
        Some(match self {
            Screen::Handler(name) => Question::Handler(name.clone()),
            Screen::Groups(handler) => {
                Question::Groups(GroupQuery { handler: handler.clone(), ..GroupQuery::default() })
            }
            Screen::Letters(selection, shelf) => Question::Letters(selection.clone(), *shelf),
            Screen::Letter(id) => Question::Letter(*id),
            Screen::Effects(sink, state) => Question::Effects(sink.clone(), *state),
            Screen::Operations => Question::Operations,
            Screen::Operation(id) => Question::Operation(*id),
            Screen::Event { handler, key } => Question::Event { handler: handler.clone(), key: key.clone() },
            Screen::Overview
            | Screen::Hosts
            | Screen::Outlets
            | Screen::Changes
            | Screen::Logs { .. }
            | Screen::Help => return None,
        })
    }

    /// Which log lines the screen follows; none on any other.
    #[must_use]
    pub fn log_lines(&self) -> Option<LogQuery> {
        match self {
            Screen::Logs { handler, level } => {
                Some(LogQuery { level: Some(level.as_str().to_owned()), handler: handler.clone() })
            }
            _ => None,
        }
    }

    /// Which keys mean something here.
    #[must_use]
    pub fn contexts(&self) -> Vec<Context> {
        use Context as C;
        let more: &[Context] = match self {
            Screen::Overview => &[C::List, C::Sorted, C::Rows, C::Handler],
            Screen::Handler(_) => &[C::List, C::Handler, C::HandlerPage],
            Screen::Groups(_) => &[C::List, C::Rows, C::Dead, C::Shelf],
            Screen::Letters(_, Shelf::Open) => &[C::List, C::Rows, C::Dead, C::DeadList, C::Shelf],
            Screen::Letters(_, Shelf::Discarded) => {
                &[C::List, C::Rows, C::Discarded, C::DiscardedList, C::Shelf]
            }
            Screen::Letter(_) => &[C::List, C::Dead, C::Discarded, C::Entry],
            Screen::Outlets => &[C::List, C::Rows],
            Screen::Effects(..) => &[C::List, C::Rows, C::Effects],
            Screen::Logs { .. } => &[C::List, C::Rows, C::Logs],
            Screen::Operations => &[C::List, C::Rows, C::Operation],
            Screen::Operation(_) => &[C::List, C::Operation],
            Screen::Event { .. } | Screen::Hosts | Screen::Changes | Screen::Help => &[C::List],
        };
        more.iter().copied().chain([C::Everywhere]).collect()
    }

    /// The contexts of every kind of screen.
    #[must_use]
    pub fn all_contexts() -> Vec<Vec<Context>> {
        let none = String::new;
        let all = [
            Screen::Overview,
            Screen::Handler(none()),
            Screen::Groups(None),
            Screen::Letters(Selection::default(), Shelf::Open),
            Screen::Letters(Selection::default(), Shelf::Discarded),
            Screen::Letter(0),
            Screen::Operations,
            Screen::Operation(0),
            Screen::Event { handler: none(), key: none() },
            Screen::Hosts,
            Screen::Outlets,
            Screen::Effects(None, None),
            Screen::Changes,
            Screen::Logs { handler: None, level: LogLevel::Info },
            Screen::Help,
        ];
        all.iter().map(Screen::contexts).collect()
    }

    /// Where it is, for the last line.
    #[must_use]
    pub fn title(&self) -> String {
        match self {
            Screen::Overview => "overview".to_owned(),
            Screen::Handler(name) => format!("handler {name}"),
            Screen::Groups(None) => "dead letters by cause".to_owned(),
            Screen::Groups(Some(handler)) => format!("dead letters of {handler}"),
            Screen::Letters(_, shelf) => format!("{} dead letters", shelf.label()),
            Screen::Letter(id) => format!("dead letter {id}"),
            Screen::Operations => "operations".to_owned(),
            Screen::Operation(id) => format!("operation {id}"),
            Screen::Event { key, .. } => format!("event {key}"),
            Screen::Hosts => "hosts".to_owned(),
            Screen::Outlets => "sources and sinks".to_owned(),
            Screen::Effects(None, _) => "effects".to_owned(),
            Screen::Effects(Some(sink), _) => format!("effects to {sink}"),
            Screen::Changes => "changes and alerts".to_owned(),
            Screen::Logs { handler: None, .. } => "log".to_owned(),
            Screen::Logs { handler: Some(handler), .. } => format!("log of {handler}"),
            Screen::Help => "help".to_owned(),
        }
    }
}
