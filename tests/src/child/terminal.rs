//! The real console in a pseudo-terminal: keys in, and a screen as a terminal would show it. Knows
//! nothing of what should be on it.

use std::io::{Read, Write};
use std::num::NonZeroU16;

use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::mpsc;

use crate::target;
use crate::wait::bounded;

/// Pieces of output that wait to be looked at.
const MAX_PIECES: usize = 1_024;

/// A terminal with `wonce top` in it. Dropping it ends the program with its terminal.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    output: mpsc::Receiver<Vec<u8>>,
    screen: vt100::Parser,
    /// Everything that was written.
    pub written: Vec<u8>,
    // The terminal itself: without it the program is hung up on.
    _master: Box<dyn portable_pty::MasterPty + Send>,
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terminal").field("screen", &self.text()).finish_non_exhaustive()
    }
}

impl Terminal {
    /// Starts `wonce top` with these words on a terminal of this size.
    ///
    /// # Panics
    /// When there is no pseudo-terminal or the program does not start.
    #[must_use]
    pub fn top(words: &[&str], rows: u16, cols: u16) -> Self {
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(target::program("wonce"));
        command.arg("top");
        command.args(words);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("WONCE_") {
                command.env_remove(name);
            }
        }
        command.env("LANG", "C.UTF-8");
        command.env("LC_ALL", "C.UTF-8");
        command.env("TERM", "xterm-256color");
        let child = pair.slave.spawn_command(command).expect("the console starts");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let (say, output) = mpsc::channel(MAX_PIECES);
        // It ends with the program, or with the terminal.
        std::thread::spawn(move || {
            let mut piece = [0; 4_096];
            while let Ok(n @ 1..) = reader.read(&mut piece) {
                if say.blocking_send(piece[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        let keys = pair.master.take_writer().expect("a writer");
        let [rows, cols] = [rows, cols].map(|n| NonZeroU16::new(n).expect("a size"));
        let screen = vt100::Parser::new(rows, cols, 0);
        Self { child, keys, output, screen, written: Vec::new(), _master: pair.master }
    }

    /// Types these bytes.
    ///
    /// # Panics
    /// When the terminal is gone.
    pub fn press(&mut self, keys: &str) {
        self.keys
            .write_all(keys.as_bytes())
            .and_then(|()| self.keys.flush())
            .expect("the terminal takes keys");
    }

    /// The screen as text.
    #[must_use]
    pub fn text(&self) -> String {
        self.screen.screen().contents()
    }

    /// Waits until the screen is as it should be.
    ///
    /// # Panics
    /// When it never is, or the program ends.
    pub async fn until(&mut self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let looking = async {
            while !holds(&self.text()) {
                let Some(piece) = self.output.recv().await else {
                    panic!("the console ended before {what}:\n{}", self.text());
                };
                self.take(&piece);
            }
        };
        bounded(what, looking).await;
        self.text()
    }

    fn take(&mut self, piece: &[u8]) {
        self.screen.process(piece);
        self.written.extend_from_slice(piece);
    }

    /// Sends the program a signal.
    ///
    /// # Panics
    /// When it has no pid any more.
    pub fn signal(&self, signal: Signal) {
        let id = self.child.process_id().and_then(|id| i32::try_from(id).ok());
        let pid = id.and_then(Pid::from_raw).expect("it runs");
        kill_process(pid, signal).expect("it is there");
    }

    /// Waits for the end of the program; its exit status.
    ///
    /// # Panics
    /// When it does not end.
    pub async fn end(&mut self) -> u32 {
        let last = async {
            while let Some(piece) = self.output.recv().await {
                self.take(&piece);
            }
        };
        bounded("the end of the console", last).await;
        self.child.wait().expect("it has ended").exit_code()
    }

    /// Whether the terminal was given back: the usual screen, a cursor, no mouse.
    #[must_use]
    pub fn is_given_back(&self) -> bool {
        let screen = self.screen.screen();
        !screen.alternate_screen()
            && !screen.hide_cursor()
            && !screen.bracketed_paste()
            && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
    }
}
