//! What people see: each function turns one document of the API into text. Pure: no IO but the
//! one look at the terminal in [`Paint::of_stdout`].

use std::io::IsTerminal;

mod alert;
pub mod bulk;
pub mod dead;
pub mod effect;
pub mod event;
pub mod group;
pub mod handler;
pub mod operation;
pub mod plugin;
pub mod status;
pub mod table;
pub mod text;
pub mod top;
pub mod verify;

#[cfg(test)]
mod tests;

/// Whether colours are used; they never carry a meaning that the words do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    Plain,
    Colour,
}

/// What a piece of text wants to be noticed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Usual,
    Heading,
    Good,
    Warning,
    Bad,
}

impl Paint {
    /// Colours only on a terminal, and not when `NO_COLOR` is set.
    #[must_use]
    pub fn of_stdout() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        if std::io::stdout().is_terminal() && !refused { Paint::Colour } else { Paint::Plain }
    }

    /// The text in its tone.
    #[must_use]
    pub fn tone(self, tone: Tone, text: &str) -> String {
        let code = match (self, tone) {
            (Paint::Plain, _) | (Paint::Colour, Tone::Usual) => return text.to_owned(),
            (Paint::Colour, Tone::Heading) => "1",
            (Paint::Colour, Tone::Good) => "32",
            (Paint::Colour, Tone::Warning) => "33",
            (Paint::Colour, Tone::Bad) => "31",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// A heading on a line of its own.
    #[must_use]
    pub fn heading(self, text: &str) -> String {
        format!("{}\n", self.tone(Tone::Heading, text))
    }
}
