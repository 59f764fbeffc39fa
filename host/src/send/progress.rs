//! How far a long send is, on a terminal's stderr; on anything else only refused lines are
//! written. Knows nothing of how events are sent.

use std::io::Write;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Summary;

const TICK: Duration = Duration::from_millis(120);
const TEMPLATE: &str = "{spinner} {elapsed_precise} {per_sec} {msg}";

pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(super) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Self { bar }
    }

    pub(super) fn show(&self, summary: &Summary) {
        self.bar.set_position(summary.total());
        if !self.bar.is_hidden() {
            self.bar.set_message(summary.to_string());
        }
    }

    /// Writes one line above the bar.
    pub(super) fn note(&self, line: &str) {
        self.bar.suspend(|| say(line));
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Writes one line to stderr. A closed one hears nothing; the summary counts all the same.
pub(super) fn say(line: &str) {
    let _closed = writeln!(std::io::stderr(), "{line}");
}
