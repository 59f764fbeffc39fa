//! What the console holds: the fleet, where the person stands in it, and what is being typed. Plain
//! values; `update` changes them, `view` draws them. Knows no terminal and no clock.

use crate::command::quoted;
use crate::desk::{Answer, Deed};
use crate::keys::Keymap;
use crate::live::{Fleet, HandlerDetail, Logs, Moment, Overview, Window};
use crate::theme::Theme;

mod screen;

pub use screen::Screen;

/// How long a short message stays on the screen.
pub const TOAST_MS: u64 = 6_000;
/// A text that is typed is no longer.
pub const MAX_TYPED: usize = 200;

/// How far an asked document is.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Page {
    #[default]
    Waiting,
    /// What was said, and when.
    Here(Moment, Answer),
    /// One sentence that says what to do, when it was said, and what was known before.
    Failed(Moment, String, Option<Answer>),
}

impl Page {
    /// What is known, however old.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Page::Waiting => None,
            Page::Here(_, answer) => Some(answer),
            Page::Failed(_, _, answer) => answer.as_ref(),
        }
    }
}

/// A screen with what the person has done to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub screen: Screen,
    pub page: Page,
    /// When its question was asked last, and whether the answer is awaited.
    pub asked: Option<Moment>,
    pub awaits: Option<u64>,
    /// The chosen row by its name, so that it stays chosen when rows change places.
    pub chosen: Option<String>,
    /// Where the chosen row was: what is chosen when it is gone.
    pub index: usize,
    /// The first line that is shown of a page that is read.
    pub scroll: usize,
    /// Only rows that hold this text.
    pub filter: String,
}

impl Place {
    #[must_use]
    pub fn new(screen: Screen) -> Self {
        Self {
            screen,
            page: Page::Waiting,
            asked: None,
            awaits: None,
            chosen: None,
            index: 0,
            scroll: 0,
            filter: String::new(),
        }
    }
}

/// By what the handlers are ordered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    #[default]
    Worst,
    Name,
    Rate,
    Errors,
    Slowest,
    Depth,
    Dead,
}

impl Sort {
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Sort::Worst => Sort::Name,
            Sort::Name => Sort::Rate,
            Sort::Rate => Sort::Errors,
            Sort::Errors => Sort::Slowest,
            Sort::Slowest => Sort::Depth,
            Sort::Depth => Sort::Dead,
            Sort::Dead => Sort::Worst,
        }
    }

    /// For the title of the table.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Sort::Worst => "worst first",
            Sort::Name => "by name",
            Sort::Rate => "by rate",
            Sort::Errors => "by error share",
            Sort::Slowest => "by p99",
            Sort::Depth => "by depth",
            Sort::Dead => "by dead letters",
        }
    }
}

/// Which end comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Usual,
    Reversed,
}

/// Where the next key goes.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Entry {
    /// Each means what the table says.
    #[default]
    Keys,
    /// Into the filter of the screen.
    Filter,
    /// Into the name of what is to be done.
    Palette(Palette),
    /// Into the key of an event.
    Lookup(String),
    /// Into a dialog that asks before something is changed.
    Confirm(Box<Dialog>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Palette {
    pub typed: String,
    pub index: usize,
}

/// Where the next key goes within a dialog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Focus {
    Count,
    Reason,
    #[default]
    Cancel,
    DoIt,
}

/// A question to the person: what exactly will be done, and whether.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialog {
    pub deed: Deed,
    pub title: String,
    /// What it will do and to what.
    pub facts: Vec<(&'static str, String)>,
    /// How it is said on the command line, apart from the reason.
    pub command: String,
    /// The number that has to be typed first; none when nothing has to.
    pub count: Option<i64>,
    pub typed: String,
    pub reason: String,
    pub needs_reason: Need,
    pub focus: Focus,
    /// Why it was not done.
    pub complaint: String,
}

/// Whether something must be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Welcome,
    Required,
}

impl Dialog {
    /// The command with the reason.
    #[must_use]
    pub fn command_line(&self) -> String {
        match self.reason.trim() {
            "" => self.command.clone(),
            reason => format!("{} --reason {}", self.command, quoted(reason)),
        }
    }

    /// The fields that can be reached, in their order.
    #[must_use]
    pub fn fields(&self) -> Vec<Focus> {
        let count = self.count.map(|_| Focus::Count);
        count.into_iter().chain([Focus::Reason, Focus::Cancel, Focus::DoIt]).collect()
    }
}

/// Whether a short message is welcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
}

/// A short message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toast {
    pub text: String,
    pub tone: Tone,
    pub until: Moment,
}

/// Whether the screen goes with the stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Flow {
    #[default]
    Live,
    Frozen {
        since: Moment,
    },
}

/// Whether the terminal tells the console of the mouse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mouse {
    #[default]
    Left,
    Taken,
}

/// See the module.
#[derive(Debug)]
pub struct Model {
    pub fleet: Fleet,
    pub now: Moment,
    pub theme: Theme,
    pub keymap: Keymap,
    pub window: Window,
    /// The way here; the last is shown. Never empty.
    pub places: Vec<Place>,
    /// The way that was left.
    pub last: Vec<Place>,
    pub sort: Sort,
    pub order: Order,
    /// Which stage's times are shown, as a place in the list of those with samples.
    pub stage: usize,
    pub entry: Entry,
    pub flow: Flow,
    pub mouse: Mouse,
    pub toast: Option<Toast>,
    /// What was drawn last of the fleet: keys act on what was seen.
    pub seen: Overview,
    pub detail: Option<HandlerDetail>,
    /// The lines of the log screen.
    pub logs: Logs,
    /// Rows that fit on the screen, as the last drawing found.
    pub page_rows: usize,
    /// Makes names of operations unique.
    pub session: String,
    pub counter: u64,
}

impl Model {
    /// A console that has heard nothing yet. `session` is a text that no other console has.
    #[must_use]
    pub fn new(theme: Theme, keymap: Keymap, window: Window, session: String) -> Self {
        Self {
            fleet: Fleet::default(),
            now: Moment::default(),
            theme,
            keymap,
            window,
            places: vec![Place::new(Screen::Overview)],
            last: Vec::new(),
            sort: Sort::default(),
            order: Order::default(),
            stage: 0,
            entry: Entry::default(),
            flow: Flow::default(),
            mouse: Mouse::default(),
            toast: None,
            seen: Overview::default(),
            detail: None,
            logs: Logs::default(),
            page_rows: 10,
            session,
            counter: 0,
        }
    }

    #[must_use]
    #[expect(clippy::expect_used, reason = "the way is never empty: going back stops at the first")]
    pub fn place(&self) -> &Place {
        self.places.last().expect("never empty")
    }

    #[expect(clippy::expect_used, reason = "the way is never empty: going back stops at the first")]
    pub fn place_mut(&mut self) -> &mut Place {
        self.places.last_mut().expect("never empty")
    }

    #[must_use]
    pub fn screen(&self) -> &Screen {
        &self.place().screen
    }

    #[must_use]
    pub fn is_frozen(&self) -> bool {
        self.flow != Flow::Live
    }

    /// Takes what the fleet says now, unless the screen is held still.
    pub fn look(&mut self) {
        if self.is_frozen() {
            return;
        }
        self.seen = self.fleet.overview(self.window);
        self.logs.look();
        self.detail = match self.screen() {
            Screen::Handler(name) => self.fleet.handler(name, self.window),
            _ => None,
        };
    }

    pub fn say(&mut self, text: impl Into<String>) {
        self.toast(text.into(), Tone::Good);
    }

    pub fn complain(&mut self, text: impl Into<String>) {
        self.toast(text.into(), Tone::Bad);
    }

    fn toast(&mut self, text: String, tone: Tone) {
        let until = self.now.plus(std::time::Duration::from_millis(TOAST_MS));
        self.toast = Some(Toast { text, tone, until });
    }
}
