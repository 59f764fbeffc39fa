//! Texts from outside (names, keys, messages, payloads) made safe for a terminal and cut to a width,
//! and numbers made readable. Knows nothing of colours.

use std::time::Duration;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text on one line, with whatever could steer a terminal written out.
#[must_use]
pub fn visible(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut safe, c| {
        if steers(c) {
            safe.extend(c.escape_unicode());
        } else {
            safe.push(c);
        }
        safe
    })
}

/// The same, but line breaks and tabs stay.
#[must_use]
pub fn visible_lines(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut safe, c| {
        if steers(c) && c != '\n' && c != '\t' {
            safe.extend(c.escape_unicode());
        } else {
            safe.push(c);
        }
        safe
    })
}

/// Control characters, and those that reorder text.
fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// How many columns of a terminal the text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// [`visible`], in at most so many columns; what is cut off is shown as an ellipsis.
#[must_use]
pub fn cut(text: &str, limit: usize) -> String {
    let safe = visible(text);
    if safe.width() <= limit {
        return safe;
    }
    let mut short = head(&safe, limit.saturating_sub(1)).to_owned();
    if limit > 0 {
        short.push('…');
    }
    short
}

/// As much of the text as fits into so many columns.
fn head(text: &str, limit: usize) -> &str {
    let mut taken = 0;
    for (at, c) in text.char_indices() {
        taken += c.width().unwrap_or(0);
        if taken > limit {
            return &text[..at];
        }
    }
    text
}

/// [`cut`], filled up on the right.
#[must_use]
pub fn left(text: &str, width: usize) -> String {
    let mut cell = cut(text, width);
    cell.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width())));
    cell
}

/// [`cut`], filled up on the left.
#[must_use]
pub fn right(text: &str, width: usize) -> String {
    let cell = cut(text, width);
    format!("{}{cell}", " ".repeat(width.saturating_sub(cell.width())))
}

/// A text in lines of at most so many columns, broken at blanks where there are some.
#[must_use]
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    for word in visible(text).split(' ') {
        let mut word = word;
        let last = lines.last().map_or(0, |line| line.width());
        if last > 0 && last + 1 + word.width() > width {
            lines.push(String::new());
        } else if last > 0 {
            push(&mut lines, " ");
        }
        while word.width() > width {
            let part = head(word, width);
            // A character that is wider than the line has no place in it.
            if part.is_empty() {
                break;
            }
            push(&mut lines, part);
            lines.push(String::new());
            word = &word[part.len()..];
        }
        push(&mut lines, word);
    }
    lines
}

fn push(lines: &mut [String], text: &str) {
    if let Some(last) = lines.last_mut() {
        last.push_str(text);
    }
}

/// `0`, `1234`, `123k`, `12.3M`: exact below 100,000, else three digits.
#[must_use]
pub fn number(n: u64) -> String {
    match n {
        ..100_000 => n.to_string(),
        100_000..1_000_000 => format!("{}k", n / 1_000),
        1_000_000..10_000_000 => format!("{}.{:02}M", n / 1_000_000, n % 1_000_000 / 10_000),
        10_000_000..100_000_000 => format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000),
        100_000_000..1_000_000_000 => format!("{}M", n / 1_000_000),
        1_000_000_000.. => format!("{}.{}G", n / 1_000_000_000, n % 1_000_000_000 / 100_000_000),
    }
}

/// Per second: `0`, `0.2`, `12`, `4.2k`.
#[must_use]
pub fn rate(per_second: f64) -> String {
    match per_second.abs() {
        0.0 => "0".to_owned(),
        ..9.95 => format!("{per_second:.1}"),
        ..9_999.5 => format!("{per_second:.0}"),
        ..99_950.0 => format!("{:.1}k", per_second / 1_000.0),
        _ => format!("{:.0}k", per_second / 1_000.0),
    }
}

/// [`rate`] with its sign.
#[must_use]
pub fn slope(per_second: f64) -> String {
    let sign = if per_second > 0.0 { "+" } else { "" };
    format!("{sign}{}", rate(per_second))
}

/// A share of 0 to 1: `-`, `0`, `0.42`, `12`, in percent without the sign.
#[must_use]
pub fn percent(share: Option<f64>) -> String {
    match share.map(|share| share * 100.0) {
        None => "-".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(share) if share < 0.01 => "<0.01".to_owned(),
        Some(share) if share < 0.995 => format!("{share:.2}"),
        Some(share) if share < 9.95 => format!("{share:.1}"),
        Some(share) => format!("{share:.0}"),
    }
}

/// Microseconds in three digits: `850us`, `1.25ms`, `44.1ms`, `210ms`, `3.21s`, `2m 38s`.
#[must_use]
pub fn micros(micros: u64) -> String {
    match micros {
        ..1_000 => format!("{micros}us"),
        1_000..10_000 => format!("{}.{:02}ms", micros / 1_000, micros % 1_000 / 10),
        10_000..100_000 => format!("{}.{}ms", micros / 1_000, micros % 1_000 / 100),
        100_000..1_000_000 => format!("{}ms", micros / 1_000),
        1_000_000..10_000_000 => format!("{}.{:02}s", micros / 1_000_000, micros % 1_000_000 / 10_000),
        10_000_000..60_000_000 => format!("{}.{}s", micros / 1_000_000, micros % 1_000_000 / 100_000),
        60_000_000.. => span(i64::try_from(micros / 1_000_000).unwrap_or(i64::MAX)),
    }
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

/// How long something has lasted: `<1s`, else as [`span`].
#[must_use]
pub fn age(time: Duration) -> String {
    match time.as_secs() {
        0 => "<1s".to_owned(),
        seconds => span(i64::try_from(seconds).unwrap_or(i64::MAX)),
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

/// `03:04:05Z`: the time of day alone.
#[must_use]
pub fn time_of_day(rfc3339: &str) -> String {
    let whole = time(rfc3339);
    whole.split_once(' ').map_or_else(|| whole.clone(), |(_, day)| day.to_owned())
}

/// The first twelve digits of a digest, which people compare.
#[must_use]
pub fn digest(hex: &str) -> String {
    visible(hex.get(..12).unwrap_or(hex))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_steer_a_terminal_is_written_out() {
        assert_eq!(visible("a\u{1b}[2Jb\nc"), "a\\u{1b}[2Jb\\u{a}c");
        assert_eq!(visible_lines("a\n\tb\u{202e}"), "a\n\tb\\u{202e}");
    }

    #[test]
    fn cells_have_the_width_that_was_asked_for_whatever_is_in_them() {
        for text in ["", "a", "orders", "支付事件处理器", "e\u{301}te\u{301}", "a\u{200b}b"] {
            for columns in 0..12 {
                assert!(width(&cut(text, columns)) <= columns, "{text} in {columns}");
                assert_eq!(width(&left(text, columns)), columns, "{text} in {columns}");
                assert_eq!(width(&right(text, columns)), columns, "{text} in {columns}");
            }
        }
        assert_eq!(cut("payments", 5), "paym…");
        assert_eq!(right("7", 3), "  7");
    }

    #[test]
    fn a_wrapped_text_loses_nothing_but_blanks_at_its_breaks() {
        let text = "the quick brown fox-that-is-longer-than-a-line jumps";
        for columns in 1..30 {
            let lines = wrap(text, columns);
            assert!(lines.iter().all(|line| width(line) <= columns), "{lines:?}");
            let kept: String = lines.concat().split(' ').collect();
            assert_eq!(kept, text.replace(' ', ""));
        }
    }

    #[test]
    fn numbers_are_exact_while_they_are_small_and_short_when_they_are_not() {
        let shown = [0, 99_999, 100_000, 999_999, 1_234_567, 12_345_678, 123_456_789, 9_999_999_999];
        assert_eq!(
            shown.map(number),
            ["0", "99999", "100k", "999k", "1.23M", "12.3M", "123M", "9.9G"].map(str::to_owned)
        );
        let rates = [0.0, 0.04, 0.25, 9.94, 9.96, 1_234.4, 9_999.9, 123_456.0].map(rate);
        assert_eq!(rates, ["0", "0.0", "0.2", "9.9", "10", "1234", "10.0k", "123k"].map(str::to_owned));
        assert_eq!([slope(58.2), slope(-3.0), slope(0.0)], ["+58", "-3.0", "0"].map(str::to_owned));
        let shares = [None, Some(0.0), Some(0.000_01), Some(0.0042), Some(0.042), Some(0.5)].map(percent);
        assert_eq!(shares, ["-", "0", "<0.01", "0.42", "4.2", "50"].map(str::to_owned));
        let times = [850, 1_250, 44_100, 210_000, 3_210_000, 12_300_000, 158_000_000].map(micros);
        assert_eq!(
            times,
            ["850us", "1.25ms", "44.1ms", "210ms", "3.21s", "12.3s", "2m 38s"].map(str::to_owned)
        );
    }

    #[test]
    fn times_are_to_the_second() {
        assert_eq!(time("2026-01-02T03:04:05.678901Z"), "2026-01-02 03:04:05Z");
        assert_eq!(time_of_day("2026-01-02T03:04:05.678901Z"), "03:04:05Z");
        assert_eq!(time_of_day("nonsense"), "nonsense");
        assert_eq!(
            [age(Duration::ZERO), age(Duration::from_secs(161))],
            ["<1s", "2m 41s"].map(str::to_owned)
        );
    }
}
