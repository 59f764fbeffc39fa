//! Texts from outside (keys, messages, payloads) made safe for a terminal, and numbers made
//! readable.

use std::fmt::Write;

/// The text on one line, with whatever could steer a terminal written out.
#[must_use]
pub fn visible(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut safe, c| {
        if steers(c) {
            safe.extend(c.escape_unicode())
        } else {
            safe.push(c)
        }
        safe
    })
}

/// The same, but line breaks and tabs stay.
#[must_use]
pub fn visible_lines(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut safe, c| {
        if steers(c) && c != '\n' && c != '\t' {
            safe.extend(c.escape_unicode())
        } else {
            safe.push(c)
        }
        safe
    })
}

/// Control characters, and those that reorder text.
fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// [`visible`], and at most so many characters.
#[must_use]
pub fn cut(text: &str, limit: usize) -> String {
    let safe = visible(text);
    if safe.chars().count() <= limit {
        return safe;
    }
    let mut short: String = safe.chars().take(limit.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// `3s`, `2m 5s`, `4h 3m`, `2d 1h`.
#[must_use]
pub fn span(seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (days, hours, minutes) = (seconds / 86_400, seconds % 86_400 / 3_600, seconds % 3_600 / 60);
    if days > 0 {
        format!("{days}d {hours}h")
    } else if hours > 0 {
        format!("{hours}h {minutes}m")
    } else if minutes > 0 {
        format!("{minutes}m {}s", seconds % 60)
    } else {
        format!("{seconds}s")
    }
}

/// `850us`, `12.5ms`, `3.2s`.
#[must_use]
pub fn duration_us(micros: i64) -> String {
    match micros {
        ..1_000 => format!("{micros}us"),
        1_000..1_000_000 => format!("{}.{}ms", micros / 1_000, micros % 1_000 / 100),
        _ => format!("{}.{}s", micros / 1_000_000, micros % 1_000_000 / 100_000),
    }
}

/// `2026-01-02 03:04:05Z`: to the second, which people can read.
#[must_use]
pub fn time(rfc3339: &str) -> String {
    match rfc3339.get(..19).zip(rfc3339.get(10..11)) {
        Some((seconds, "T")) if rfc3339.ends_with('Z') => format!("{}Z", seconds.replace('T', " ")),
        _ => visible(rfc3339),
    }
}

/// The first twelve digits of a digest, which people compare.
#[must_use]
pub fn digest(hex: &str) -> String {
    visible(hex.get(..12).unwrap_or(hex))
}

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
