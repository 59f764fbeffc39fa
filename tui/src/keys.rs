//! Every key with what it does and where: one table, from which the footer, the help, the palette
//! and the documents are made, so that none of them can be wrong. Knows no terminal.

use std::fmt;

/// A key as the console tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    Char(char),
    Ctrl(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
}

/// What a key can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    Help,
    Back,
    Quit,
    QuitNow,
    ShowOverview,
    ShowDead,
    ShowOperations,
    ShowHosts,
    ShowOutlets,
    ShowChanges,
    ShowSubject,
    ShowLast,
    Lookup,
    Palette,
    Filter,
    WindowShorter,
    WindowLonger,
    Freeze,
    Copy,
    Mouse,
    Redraw,
    Suspend,
    Down,
    Up,
    PageDown,
    PageUp,
    Top,
    Bottom,
    Open,
    SortNext,
    SortReverse,
    PauseHandler,
    ShowDeadOfHandler,
    NextStage,
    Replay,
    ReplayAll,
    Discard,
    DiscardAll,
    Restore,
    RestoreAll,
    Edit,
    Shelf,
    ShowDiscardedOf,
    ShowLogs,
    ShowLogsOfHandler,
    NextLevel,
    NextEntry,
    PreviousEntry,
    PauseOperation,
    AbortOperation,
}

/// Where a key means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Context {
    Everywhere,
    /// Something can be moved through.
    List,
    /// Rows can be put in another order.
    Sorted,
    /// Rows can be opened.
    Rows,
    /// A handler is chosen or shown.
    Handler,
    /// One handler is shown.
    HandlerPage,
    /// A dead letter or a group of them is chosen or shown.
    Dead,
    /// A list of dead letters or groups is shown.
    DeadList,
    /// A dead letter that may have been discarded is chosen or shown.
    Discarded,
    /// A list of discarded dead letters is shown.
    DiscardedList,
    /// Open dead letters, or discarded ones, are listed.
    Shelf,
    /// One dead letter is shown.
    Entry,
    /// An operation is chosen or shown.
    Operation,
    /// The log is shown.
    Logs,
}

/// One line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    pub action: Action,
    pub context: Context,
    /// The first is the one that is shown.
    pub keys: &'static [Key],
    /// The name in the configuration.
    pub name: &'static str,
    /// In the footer; empty when there is no room for it.
    pub hint: &'static str,
    /// In the help and in the palette.
    pub text: &'static str,
}

const fn on(
    context: Context,
    action: Action,
    keys: &'static [Key],
    name: &'static str,
    hint: &'static str,
    text: &'static str,
) -> Binding {
    Binding { action, context, keys, name, hint, text }
}

use Context as C;
use Key::{Char, Ctrl};

/// The keys of every context, the most wanted of each first.
pub const TABLE: &[Binding] = &[
    on(C::Rows, Action::Open, &[Key::Enter, Char('l'), Key::Right], "open", "open", "open the chosen row"),
    on(C::Dead, Action::Replay, &[Char('r')], "replay", "replay", "replay the chosen dead letter or group"),
    on(
        C::Dead,
        Action::Discard,
        &[Char('x')],
        "discard",
        "discard",
        "discard the chosen dead letter or group",
    ),
    on(
        C::DeadList,
        Action::ReplayAll,
        &[Char('R')],
        "replay_all",
        "",
        "replay all of the list, also those that the filter hides",
    ),
    on(
        C::DeadList,
        Action::DiscardAll,
        &[Char('X')],
        "discard_all",
        "",
        "discard all of the list, also those that the filter hides",
    ),
    on(
        C::Discarded,
        Action::Restore,
        &[Char('u')],
        "restore",
        "restore",
        "take back that the dead letter was discarded",
    ),
    on(
        C::DiscardedList,
        Action::RestoreAll,
        &[Char('U')],
        "restore_all",
        "restore all",
        "take back that all of the list were discarded, also those that the filter hides",
    ),
    on(
        C::Shelf,
        Action::Shelf,
        &[Char('d')],
        "discarded",
        "discarded",
        "show the discarded dead letters, or the open ones again",
    ),
    on(C::Entry, Action::Edit, &[Char('e')], "edit", "edit", "edit the payload in $VISUAL or $EDITOR"),
    on(
        C::Entry,
        Action::NextEntry,
        &[Char('J')],
        "next_entry",
        "next",
        "show the next dead letter of the list",
    ),
    on(C::Entry, Action::PreviousEntry, &[Char('K')], "previous_entry", "", "show the one before"),
    on(
        C::Operation,
        Action::PauseOperation,
        &[Char('p')],
        "pause_operation",
        "pause",
        "pause the operation, or let it run on",
    ),
    on(
        C::Operation,
        Action::AbortOperation,
        &[Char('a')],
        "abort_operation",
        "abort",
        "abort the operation: what is done stays done",
    ),
    on(
        C::Operation,
        Action::ShowDiscardedOf,
        &[Char('u')],
        "discarded_by",
        "restore",
        "show what the operation discarded, to take it back",
    ),
    on(
        C::Handler,
        Action::PauseHandler,
        &[Char('p')],
        "pause_handler",
        "pause",
        "pause the handler, or let it run on",
    ),
    on(
        C::Handler,
        Action::ShowDeadOfHandler,
        &[Char('D')],
        "dead_of_handler",
        "dead",
        "show the handler's dead letters",
    ),
    on(
        C::Handler,
        Action::ShowLogsOfHandler,
        &[Char('L')],
        "log_of_handler",
        "log",
        "show the handler's log lines",
    ),
    on(
        C::Logs,
        Action::NextLevel,
        &[Char('V')],
        "level",
        "level",
        "show only warnings and errors, only errors, or all again",
    ),
    on(C::HandlerPage, Action::NextStage, &[Char('d')], "stage", "stage", "show the times of another stage"),
    on(C::Everywhere, Action::Filter, &[Char('/')], "filter", "filter", "show only rows that hold a text"),
    on(C::Sorted, Action::SortNext, &[Char('s')], "sort", "sort", "put the rows in another order"),
    on(C::Sorted, Action::SortReverse, &[Char('S')], "sort_reverse", "", "turn the order of the rows round"),
    on(
        C::Everywhere,
        Action::WindowShorter,
        &[Char('[')],
        "window_shorter",
        "",
        "look through a shorter window",
    ),
    on(
        C::Everywhere,
        Action::WindowLonger,
        &[Char(']')],
        "window_longer",
        "window",
        "look through a longer window",
    ),
    on(
        C::Everywhere,
        Action::Freeze,
        &[Char('f')],
        "freeze",
        "freeze",
        "hold the screen still, or let it go on",
    ),
    on(C::Everywhere, Action::Palette, &[Char(':')], "palette", "command", "choose what to do by its name"),
    on(C::Everywhere, Action::Help, &[Char('?')], "help", "help", "show the keys"),
    on(C::Everywhere, Action::Lookup, &[Char('#')], "lookup", "", "look up an event by its key"),
    on(C::Everywhere, Action::Back, &[Key::Esc, Key::Left, Char('h')], "back", "back", "go back by one step"),
    on(C::Everywhere, Action::Quit, &[Char('q')], "quit", "quit", "go back, and from the first screen leave"),
    on(C::List, Action::Down, &[Char('j'), Key::Down], "down", "", "go down by a row"),
    on(C::List, Action::Up, &[Char('k'), Key::Up], "up", "", "go up by a row"),
    on(
        C::List,
        Action::PageDown,
        &[Ctrl('d'), Key::PageDown, Char(' ')],
        "page_down",
        "",
        "go down by a page",
    ),
    on(C::List, Action::PageUp, &[Ctrl('u'), Key::PageUp], "page_up", "", "go up by a page"),
    on(C::List, Action::Top, &[Char('g'), Key::Home], "top", "", "go to the first row"),
    on(C::List, Action::Bottom, &[Char('G'), Key::End], "bottom", "", "go to the last row"),
    on(C::Everywhere, Action::ShowOverview, &[Char('1')], "overview", "", "show the overview"),
    on(C::Everywhere, Action::ShowDead, &[Char('2')], "dead_letters", "", "show the dead letters"),
    on(C::Everywhere, Action::ShowOperations, &[Char('3')], "operations", "", "show the operations"),
    on(C::Everywhere, Action::ShowHosts, &[Char('4')], "hosts", "", "show the hosts"),
    on(C::Everywhere, Action::ShowOutlets, &[Char('5')], "outlets", "", "show the sources and the sinks"),
    on(
        C::Everywhere,
        Action::ShowChanges,
        &[Char('6')],
        "changes",
        "",
        "show what people did, and what fires",
    ),
    on(C::Everywhere, Action::ShowLogs, &[Char('7')], "log", "", "show the log of the hosts"),
    on(
        C::Everywhere,
        Action::ShowSubject,
        &[Char('\'')],
        "subject",
        "",
        "go to what the first line speaks of",
    ),
    on(C::Everywhere, Action::ShowLast, &[Char('-')], "last", "", "go to the screen before this one"),
    on(C::Everywhere, Action::Copy, &[Char('y')], "copy", "", "copy the name of what is chosen"),
    on(C::Everywhere, Action::Mouse, &[Char('M')], "mouse", "", "let the mouse choose rows, or give it back"),
    on(C::Everywhere, Action::Redraw, &[Ctrl('l')], "redraw", "", "draw the screen anew"),
    on(C::Everywhere, Action::Suspend, &[Ctrl('z')], "suspend", "", "go to the background; `fg` comes back"),
    on(C::Everywhere, Action::QuitNow, &[Ctrl('c')], "quit_now", "", "leave at once"),
];

/// The keys of one console: the table, with those that the configuration changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    bindings: Vec<(Binding, Vec<Key>)>,
}

impl Default for Keymap {
    fn default() -> Self {
        Self { bindings: TABLE.iter().map(|binding| (*binding, binding.keys.to_vec())).collect() }
    }
}

/// A key of the configuration that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("\"{name}\" is nothing that a key can do; `wonce top` lists the names under `?`")]
    Name { name: String },
    #[error(
        "\"{text}\" is no key for {name}; write one character, or one of Enter, Esc, Tab, BackTab, Backspace, Up, Down, Left, Right, PageUp, PageDown, Home, End, Space, Ctrl-LETTER"
    )]
    Key { name: String, text: String },
    #[error("{key} would mean both {first} and {second} on one screen; give one of them another key")]
    Twice { key: String, first: &'static str, second: &'static str },
}

impl Keymap {
    /// The table with other keys for some actions, by their names. Each replaces all keys of its
    /// action; `Ctrl-c` always leaves.
    ///
    /// # Errors
    /// When a name or a key is unknown, or a key would mean two things on one screen.
    pub fn with<'a>(changes: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Error> {
        let mut map = Self::default();
        for (name, text) in changes {
            let (_, keys) = map
                .bindings
                .iter_mut()
                .find(|(binding, _)| binding.name == name && binding.action != Action::QuitNow)
                .ok_or_else(|| Error::Name { name: name.to_owned() })?;
            let read = || text.split_whitespace().map(parse).collect::<Option<Vec<Key>>>();
            let wrong = || Error::Key { name: name.to_owned(), text: text.to_owned() };
            *keys = read().filter(|keys| !keys.is_empty()).ok_or_else(wrong)?;
        }
        for contexts in super::model::Screen::all_contexts() {
            map.check(&contexts)?;
        }
        Ok(map)
    }

    /// That no key means two things where these contexts meet.
    fn check(&self, contexts: &[Context]) -> Result<(), Error> {
        let mut known: Vec<(Key, &'static str)> = Vec::new();
        for (binding, keys) in self.of(contexts) {
            for key in keys {
                if let Some((_, first)) = known.iter().find(|(known, _)| known == key) {
                    return Err(Error::Twice { key: key.to_string(), first, second: binding.name });
                }
                known.push((*key, binding.name));
            }
        }
        Ok(())
    }

    /// What works where these contexts meet.
    pub fn of<'a>(&'a self, contexts: &'a [Context]) -> impl Iterator<Item = (&'a Binding, &'a [Key])> {
        let here = |(binding, _): &&(Binding, Vec<Key>)| contexts.contains(&binding.context);
        self.bindings.iter().filter(here).map(|(binding, keys)| (binding, keys.as_slice()))
    }

    /// What a key means there; nothing when it means nothing.
    #[must_use]
    pub fn action(&self, contexts: &[Context], key: Key) -> Option<Action> {
        self.of(contexts).find(|(_, keys)| keys.contains(&key)).map(|(binding, _)| binding.action)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Char(' ') => f.write_str("Space"),
            Char(c) => write!(f, "{c}"),
            Ctrl(c) => write!(f, "Ctrl-{c}"),
            other => {
                let named = NAMED.iter().find(|(_, key)| key == other);
                f.write_str(named.map_or("", |(name, _)| name))
            }
        }
    }
}

const NAMED: &[(&str, Key)] = &[
    ("Enter", Key::Enter),
    ("Esc", Key::Esc),
    ("Tab", Key::Tab),
    ("BackTab", Key::BackTab),
    ("Backspace", Key::Backspace),
    ("Up", Key::Up),
    ("Down", Key::Down),
    ("Left", Key::Left),
    ("Right", Key::Right),
    ("PageUp", Key::PageUp),
    ("PageDown", Key::PageDown),
    ("Home", Key::Home),
    ("End", Key::End),
    ("Space", Char(' ')),
];

fn parse(text: &str) -> Option<Key> {
    let one = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|c| chars.next().is_none() && !c.is_control())
    };
    if let Some(letter) = text.strip_prefix("Ctrl-") {
        return one(letter).filter(char::is_ascii_lowercase).map(Ctrl);
    }
    let named = NAMED.iter().find(|(name, _)| *name == text).map(|(_, key)| *key);
    named.or_else(|| one(text).map(Char))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things_on_one_screen() {
        assert_eq!(Keymap::with([]), Ok(Keymap::default()));
    }

    #[test]
    fn every_name_is_there_once_and_says_what_it_does() {
        for (index, binding) in TABLE.iter().enumerate() {
            let first = TABLE.iter().position(|other| other.name == binding.name);
            assert_eq!(first, Some(index), "{}", binding.name);
            assert!(!binding.keys.is_empty() && !binding.text.is_empty());
        }
    }

    #[test]
    fn a_configured_key_takes_the_place_of_the_usual_ones() {
        let map = Keymap::with([("freeze", "F Ctrl-f")]).expect("it works");
        let here = [Context::Everywhere];
        assert_eq!(map.action(&here, Char('F')), Some(Action::Freeze));
        assert_eq!(map.action(&here, Ctrl('f')), Some(Action::Freeze));
        assert_eq!(map.action(&here, Char('f')), None);
    }

    #[test]
    fn a_configured_key_that_cannot_be_is_refused_with_the_reason() {
        let refused = |name, key| Keymap::with([(name, key)]).expect_err("refused").to_string();
        assert!(refused("fly", "F").contains("\"fly\" is nothing that a key can do"));
        assert!(refused("freeze", "Hyper-f").contains("\"Hyper-f\" is no key for freeze"));
        assert!(refused("freeze", "").contains("is no key for freeze"));
        assert!(refused("freeze", "q").contains("q would mean both"));
        assert!(refused("quit_now", "Q").contains("nothing that a key can do"));
    }

    #[test]
    fn a_key_is_read_as_it_is_written() {
        for (binding, _) in Keymap::default().bindings {
            assert!(binding.keys.iter().all(|key| parse(&key.to_string()) == Some(*key)), "{}", binding.name);
        }
    }

    #[test]
    fn the_document_of_the_console_names_every_key() {
        let document = include_str!("../../docs/console.md");
        for binding in TABLE {
            let keys: Vec<String> = binding.keys.iter().map(|key| format!("`{key}`")).collect();
            let row = format!("| {} | {} | `{}` |", keys.join(" "), binding.text, binding.name);
            assert!(document.contains(&row), "docs/console.md lacks this line:\n{row}");
        }
    }
}
