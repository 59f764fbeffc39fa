//! `[console]`: how `wonce top` takes keys and the mouse when it is started beside this file. Knows
//! nothing of what they do.

use wonce_tui::keys::Keymap;

use super::reader::Reader;

/// What the console is told by the file; the command line says the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Console {
    /// Whether it takes the mouse at its start.
    pub mouse: bool,
    pub keymap: Keymap,
}

pub(crate) fn read(table: &mut Reader<'_, '_>) -> Console {
    let mouse = table.boolean("mouse", false);
    let keys = table.map("keys");
    let changes = keys.iter().map(|(name, key)| (name.as_str(), key.as_str()));
    let keymap = Keymap::with(changes).unwrap_or_else(|error| {
        table.complain(
            "keys",
            error.to_string(),
            "docs/console.md lists what keys can do and how they are written",
        );
        Keymap::default()
    });
    Console { mouse, keymap }
}
