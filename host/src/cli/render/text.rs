//! Texts and numbers as the verbs print them: those of the console, and what only pages of text
//! need. Knows no document.

use std::fmt::Write;

pub use wonce_tui::text::{cut, digest, duration_us, span, time, visible, visible_lines};

/// `1 event`, `2 events`.
#[must_use]
pub fn count(number: i64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Aligned `name  value` lines; absent values are left out.
#[must_use]
pub fn facts(indent: usize, facts: &[(&str, Option<String>)]) -> String {
    let width = facts.iter().filter(|(_, v)| v.is_some()).map(|(n, _)| n.len()).max().unwrap_or(0);
    facts.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))).fold(
        String::new(),
        |mut text, (name, value)| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{:indent$}{name:width$}  {value}", "");
            text
        },
    )
}
