//! How what is done to dead letters is said on the command line, and how long it takes: the same for
//! the verb that previews it and for the console's dialog. Knows nothing of either.

use wonce_api::dead_letter::Selection;

use crate::text::visible;

/// A verb on a selection as a shell takes it: `wonce dead replay --group f00d`, or
/// `wonce operation restore 7` for what an earlier operation did.
#[must_use]
pub fn bulk(verb: &str, selection: &Selection) -> String {
    let options = selection.options();
    let said: String = options.iter().map(|(name, value)| format!(" --{name} {}", quoted(value))).collect();
    match selection.operation {
        Some(id) => format!("wonce operation {verb} {id}{said}"),
        None if options.is_empty() => format!("wonce dead {verb} --all"),
        None => format!("wonce dead {verb}{said}"),
    }
}

/// As a shell takes it back.
#[must_use]
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:".contains(c);
    if text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", visible(text).replace('\'', r"'\''"))
}

/// How many seconds so many items take at a rate a second.
#[must_use]
pub fn seconds(items: i64, rate: f64) -> i64 {
    #[expect(clippy::cast_precision_loss, reason = "at most a million items")]
    let seconds = (items as f64 / rate).ceil();
    #[expect(clippy::cast_possible_truncation, reason = "a million items at the least rate fit")]
    let seconds = seconds as i64;
    seconds
}
