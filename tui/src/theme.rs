//! How roles look on this terminal: colours in four tiers, glyphs in two. Colour is never the only
//! carrier of a meaning. Knows nothing of what is drawn.

use ratatui::style::{Color, Modifier, Style};

use crate::live::{Health, Severity};

/// What a piece of the screen is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    #[default]
    Text,
    /// Headings of tables, texts that are not needed.
    Muted,
    /// What a key does, what is chosen.
    Accent,
    Strong,
    Good,
    Warning,
    Bad,
}

/// How many colours the terminal has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Colours {
    None,
    #[default]
    Sixteen,
    /// 256.
    Indexed,
    /// 24 bits.
    True,
}

/// Which characters the terminal can draw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Glyphs {
    #[default]
    Unicode,
    Ascii,
}

/// What the console is told of its terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub no_color: Option<String>,
    pub colorterm: Option<String>,
    pub term: Option<String>,
    /// `LC_ALL`, else `LC_CTYPE`, else `LANG`.
    pub locale: Option<String>,
}

impl Surroundings {
    /// Those of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let of = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            no_color: of("NO_COLOR"),
            colorterm: of("COLORTERM"),
            term: of("TERM"),
            locale: of("LC_ALL").or_else(|| of("LC_CTYPE")).or_else(|| of("LANG")),
        }
    }
}

/// The looks of one terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Theme {
    pub colours: Colours,
    pub glyphs: Glyphs,
}

impl Theme {
    #[must_use]
    pub fn of(around: &Surroundings) -> Self {
        let term = around.term.as_deref().unwrap_or_default();
        let colours = match around.colorterm.as_deref() {
            _ if around.no_color.is_some() => Colours::None,
            Some("truecolor" | "24bit") => Colours::True,
            _ if term.contains("256color") => Colours::Indexed,
            _ => Colours::Sixteen,
        };
        let locale = around.locale.as_deref().unwrap_or_default().to_ascii_lowercase();
        let is_utf8 = locale.contains("utf-8") || locale.contains("utf8");
        Self { colours, glyphs: if is_utf8 { Glyphs::Unicode } else { Glyphs::Ascii } }
    }

    /// No background is ever painted: the terminal's own stays.
    #[must_use]
    pub fn style(self, role: Role) -> Style {
        let style = match role {
            Role::Strong => Style::new().add_modifier(Modifier::BOLD),
            Role::Muted if self.colours == Colours::None => Style::new().add_modifier(Modifier::DIM),
            Role::Bad | Role::Accent if self.colours == Colours::None => {
                Style::new().add_modifier(Modifier::BOLD)
            }
            Role::Text | Role::Muted | Role::Accent | Role::Good | Role::Warning | Role::Bad => Style::new(),
        };
        match self.colour(role) {
            Some(colour) => style.fg(colour),
            None => style,
        }
    }

    fn colour(self, role: Role) -> Option<Color> {
        let [named, indexed, true_colour] = match role {
            Role::Text | Role::Strong => return None,
            Role::Muted => [Color::DarkGray, Color::Indexed(244), Color::Rgb(128, 132, 142)],
            Role::Accent => [Color::Cyan, Color::Indexed(37), Color::Rgb(42, 161, 152)],
            Role::Good => [Color::Green, Color::Indexed(71), Color::Rgb(87, 166, 74)],
            Role::Warning => [Color::Yellow, Color::Indexed(172), Color::Rgb(203, 130, 20)],
            Role::Bad => [Color::Red, Color::Indexed(167), Color::Rgb(220, 80, 71)],
        };
        match self.colours {
            Colours::None => None,
            Colours::Sixteen => Some(named),
            Colours::Indexed => Some(indexed),
            Colours::True => Some(true_colour),
        }
    }

    /// The chosen row.
    #[must_use]
    pub fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    #[must_use]
    pub fn health(self, health: Health) -> (&'static str, Role) {
        let (unicode, ascii, role) = match health {
            Health::Fine => ("●", "o", Role::Good),
            Health::Warning => ("▲", "!", Role::Warning),
            Health::Bad => ("✗", "x", Role::Bad),
            Health::Paused => ("‖", "=", Role::Warning),
            Health::Unknown => ("◌", "?", Role::Muted),
        };
        (self.pick(unicode, ascii), role)
    }

    #[must_use]
    pub fn severity(self, severity: Severity) -> (&'static str, Role) {
        self.health(match severity {
            Severity::Fine => Health::Fine,
            Severity::Unknown => Health::Unknown,
            Severity::Warning => Health::Warning,
            Severity::Bad => Health::Bad,
        })
    }

    /// A level of a sparkline: 0 is nothing, 8 the highest.
    #[must_use]
    pub fn bar(self, level: usize) -> &'static str {
        const UNICODE: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
        const ASCII: [&str; 9] = [" ", "_", "_", ".", ".", "-", "-", "=", "#"];
        self.pick(UNICODE[level.min(8)], ASCII[level.min(8)])
    }

    /// A shade of the heat map: 0 is nothing, 4 the fullest.
    #[must_use]
    pub fn shade(self, level: usize) -> &'static str {
        const UNICODE: [&str; 5] = [" ", "·", "░", "▒", "▓"];
        const ASCII: [&str; 5] = [" ", ".", ":", "+", "#"];
        self.pick(UNICODE[level.min(4)], ASCII[level.min(4)])
    }

    /// A column of time of which nothing was heard.
    #[must_use]
    pub fn gap(self) -> &'static str {
        self.pick("╎", "|")
    }

    /// The one that this terminal can draw.
    #[must_use]
    pub fn pick(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        match self.glyphs {
            Glyphs::Unicode => unicode,
            Glyphs::Ascii => ascii,
        }
    }

    /// A text as this terminal can draw it. Texts from outside hold any character.
    #[must_use]
    pub fn drawn(self, text: &str) -> String {
        match self.glyphs {
            Glyphs::Unicode => text.to_owned(),
            Glyphs::Ascii => text.chars().flat_map(ascii).collect(),
        }
    }
}

fn ascii(c: char) -> Vec<char> {
    match c {
        '…' => vec!['~'],
        '·' => vec!['.'],
        '→' => vec!['-', '>'],
        '≠' => vec!['!', '='],
        '✓' => vec!['o', 'k'],
        '✗' => vec!['x'],
        '↵' => "Enter".chars().collect(),
        '─' => vec!['-'],
        c if c.is_ascii() => vec![c],
        _ => vec!['?'],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(no_color: &str, colorterm: &str, term: &str, locale: &str) -> Surroundings {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Surroundings {
            no_color: some(no_color),
            colorterm: some(colorterm),
            term: some(term),
            locale: some(locale),
        }
    }

    #[test]
    fn the_tier_follows_what_the_terminal_says_and_no_color_wins() {
        let tier = |around: &Surroundings| Theme::of(around).colours;
        assert_eq!(tier(&around("", "truecolor", "xterm-256color", "")), Colours::True);
        assert_eq!(tier(&around("", "", "xterm-256color", "")), Colours::Indexed);
        assert_eq!(tier(&around("", "", "linux", "")), Colours::Sixteen);
        assert_eq!(tier(&around("1", "truecolor", "xterm-256color", "")), Colours::None);
    }

    #[test]
    fn without_colours_no_style_has_one_and_without_utf8_every_glyph_is_ascii() {
        let plain = Theme::of(&around("1", "", "xterm", "C"));
        let roles =
            [Role::Text, Role::Muted, Role::Accent, Role::Strong, Role::Good, Role::Warning, Role::Bad];
        assert!(roles.iter().all(|role| plain.style(*role).fg.is_none()));
        let healths = [Health::Fine, Health::Warning, Health::Bad, Health::Paused, Health::Unknown];
        let glyphs: Vec<&str> = healths.iter().map(|health| plain.health(*health).0).collect();
        assert!(glyphs.iter().all(|glyph| glyph.is_ascii()));
        assert!((0..9).all(|level| plain.bar(level).is_ascii() && plain.shade(level).is_ascii()));
        assert!(plain.drawn("a → b ✓ 支").is_ascii());
    }

    #[test]
    fn every_glyph_is_one_column_wide() {
        let theme = Theme::default();
        for health in [Health::Fine, Health::Warning, Health::Bad, Health::Paused, Health::Unknown] {
            assert_eq!(crate::text::width(theme.health(health).0), 1);
        }
        assert!((0..9).all(|level| crate::text::width(theme.bar(level)) == 1));
        assert!((0..5).all(|level| crate::text::width(theme.shade(level)) == 1));
    }
}
