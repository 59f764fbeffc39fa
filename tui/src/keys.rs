//! Keys, what they can do and where, and the keys of one console: the table with what its
//! configuration changed. Knows no terminal.

use std::fmt;

use self::Key::{Char, Ctrl};

mod table;

pub use table::TABLE;

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
    ShowEffects,
    NextState,
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
    /// Effects are listed.
    Effects,
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
