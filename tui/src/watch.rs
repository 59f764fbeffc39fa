//! A page of text that is painted anew every second until somebody interrupts it. It takes no keys:
//! the terminal stays as it is apart from its other screen. Knows nothing of what is on the page.

use std::io::{self, Write};
use std::time::Duration;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::terminal::{Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{execute, queue};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use crate::live::{Fleet, Overview, Window};
use crate::net::{Clock, Hosts, MAX_REPORTS, Report, follow};

/// The pace of pages.
const PAGE_EVERY: Duration = Duration::from_secs(1);
/// When the terminal does not say how large it is.
const USUAL_SIZE: (u16, u16) = (80, 24);

/// The other screen of the terminal, given back when this goes.
struct Screen;

impl Screen {
    fn enter() -> io::Result<Self> {
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(Self)
    }

    /// The lines that fit, in one write.
    fn paint(&self, page: &str) -> io::Result<()> {
        let (_, height) = crossterm::terminal::size().unwrap_or(USUAL_SIZE);
        let mut frame = Vec::new();
        queue!(frame, MoveTo(0, 0))?;
        let lines: Vec<&str> = page.lines().take(usize::from(height)).collect();
        for (index, line) in lines.iter().enumerate() {
            frame.extend_from_slice(line.as_bytes());
            queue!(frame, Clear(ClearType::UntilNewLine))?;
            if index + 1 < lines.len() {
                frame.extend_from_slice(b"\r\n");
            }
        }
        queue!(frame, Clear(ClearType::FromCursorDown))?;
        let mut out = io::stdout().lock();
        out.write_all(&frame)?;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The terminal may be gone.
        let _ = execute!(io::stdout(), Show, LeaveAlternateScreen);
    }
}

/// Shows pages until the program is interrupted. The last one stays when no host answers, and says so.
///
/// # Errors
/// When the terminal cannot be written to.
pub async fn watch(hosts: Hosts, window: Window, page: impl Fn(&Overview) -> String) -> io::Result<()> {
    let clock = Clock::new();
    let (out, mut reports) = mpsc::channel(MAX_REPORTS);
    // It ends with the receiver, at the end of this function.
    let follower = tokio::spawn(follow(hosts, clock, out));
    let screen = Screen::enter()?;
    let mut fleet = Fleet::default();
    let mut pace = tokio::time::interval(PAGE_EVERY);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            interrupted = tokio::signal::ctrl_c() => {
                follower.abort();
                return interrupted;
            }
            _ = pace.tick() => {
                fleet.tick(clock.now());
                screen.paint(&page(&fleet.overview(window)))?;
            }
            Some(report) = reports.recv() => take(&mut fleet, report),
        }
    }
}

fn take(fleet: &mut Fleet, report: Report) {
    match report {
        Report::Link(now, link) => fleet.link(now, link),
        Report::Message(now, message) => fleet.apply(now, *message),
        Report::Skipped(now) => fleet.skip(now),
    }
}
