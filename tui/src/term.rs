//! The terminal: the only module that touches it. It takes the other screen and gives it back
//! whatever happens, writes each frame at once, reads keys on a thread of its own that can be held,
//! and hands texts to the clipboard. Knows nothing of the model.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crossterm::cursor::{Hide, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event, KeyCode,
    KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tokio::sync::mpsc::Sender;

use crate::keys::Key;
use crate::model::Mouse;

/// A clipboard is not filled with more; some terminals cut off earlier.
pub const MAX_CLIPBOARD_BYTES: usize = 50 * 1024;
/// When the terminal does not say how large it is.
const USUAL_SIZE: (u16, u16) = (80, 24);
/// Nobody reads more at once.
const MAX_SIZE: (u16, u16) = (400, 120);
/// How soon the reader notices that it is held.
const READER_PACE: Duration = Duration::from_millis(200);

/// What came from the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    Key(Key),
    Paste(String),
    Click {
        x: u16,
        y: u16,
    },
    WheelUp,
    WheelDown,
    /// The size has changed.
    Resized,
    /// The terminal cannot be read any more.
    Gone,
}

/// Keeps what is written until it is flushed, and then writes it at once, so that a frame is never
/// seen half drawn.
#[derive(Debug, Default)]
struct OneWrite(Vec<u8>);

impl Write for OneWrite {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            queue!(self.0, BeginSynchronizedUpdate)?;
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        queue!(self.0, EndSynchronizedUpdate)?;
        let frame = std::mem::take(&mut self.0);
        let mut out = io::stdout().lock();
        out.write_all(&frame)?;
        out.flush()
    }
}

/// The terminal while the console has it. It is never asked anything: one that does not answer, or
/// answers late, would hold up the keys.
pub struct Screen {
    backend: CrosstermBackend<OneWrite>,
    /// What is on it; nothing after somebody else wrote to it.
    shown: Buffer,
    mouse: Mouse,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").field("mouse", &self.mouse).finish_non_exhaustive()
    }
}

impl Screen {
    /// Takes the terminal. It is given back when this goes, and before a panic is reported.
    ///
    /// # Errors
    /// When it cannot be put into raw mode or written to.
    pub fn enter() -> io::Result<Self> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
        // The theme alone decides on colours.
        crossterm::style::force_color_output(true);
        take()?;
        let backend = CrosstermBackend::new(OneWrite::default());
        Ok(Self { backend, shown: Buffer::default(), mouse: Mouse::Left })
    }

    /// One frame in one write, as far as it differs from the last.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn draw<T>(&mut self, paint: impl FnOnce(&mut Buffer) -> T) -> io::Result<T> {
        let (width, height) = crossterm::terminal::size().unwrap_or(USUAL_SIZE);
        let area = Rect { x: 0, y: 0, width: width.min(MAX_SIZE.0), height: height.min(MAX_SIZE.1) };
        if self.shown.area != area {
            queue!(self.backend, Clear(ClearType::All))?;
            self.shown = Buffer::empty(area);
        }
        let mut next = Buffer::empty(area);
        let painted = paint(&mut next);
        self.backend.draw(self.shown.diff(&next).into_iter())?;
        Backend::flush(&mut self.backend)?;
        self.shown = next;
        Ok(painted)
    }

    /// The next frame is drawn whole.
    pub fn redraw(&mut self) {
        self.shown = Buffer::default();
    }

    /// Takes the mouse, or gives it back.
    ///
    /// # Errors
    /// As [`Screen::draw`].
    pub fn mouse(&mut self, mouse: Mouse) -> io::Result<()> {
        self.mouse = mouse;
        match mouse {
            Mouse::Taken => execute!(io::stdout(), EnableMouseCapture),
            Mouse::Left => execute!(io::stdout(), DisableMouseCapture),
        }
    }

    /// Hands a text to the terminal's clipboard (OSC 52). No terminal says whether it took it.
    ///
    /// # Errors
    /// As [`Screen::draw`].
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        let mut end = text.len().min(MAX_CLIPBOARD_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut out = io::stdout().lock();
        write!(out, "\u{1b}]52;c;{}\u{7}", base64(&text.as_bytes()[..end]))?;
        out.flush()
    }

    /// Goes to the background until the shell brings it back.
    ///
    /// # Errors
    /// As [`Screen::enter`].
    pub fn suspend(&mut self) -> io::Result<()> {
        Self::lend();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP)?;
        self.take_again()
    }

    /// Gives the terminal to somebody else for a while.
    pub fn lend() {
        give_back();
    }

    /// Takes it again.
    ///
    /// # Errors
    /// As [`Screen::enter`].
    pub fn take_again(&mut self) -> io::Result<()> {
        take()?;
        self.redraw();
        self.mouse(self.mouse)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide).inspect_err(|_| give_back())
}

/// As it was. The terminal may be gone; then nobody minds.
fn give_back() {
    let _ = execute!(io::stdout(), DisableMouseCapture, DisableBracketedPaste, Show, LeaveAlternateScreen);
    let _ = disable_raw_mode();
}

/// The thread that reads keys. It ends with the receiver of its inputs, or when this goes.
#[derive(Debug)]
pub struct Reader(Arc<Gate>);

#[derive(Debug, Default)]
struct Gate {
    stance: Mutex<Stance>,
    moved: Condvar,
}

/// What the reader is to do, and whether it does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stance {
    #[default]
    Reads,
    /// It is asked to let the terminal alone.
    AskedToRest,
    Rests,
    Ends,
}

impl Reader {
    /// # Errors
    /// When no thread can be started.
    pub fn start(out: Sender<Input>) -> io::Result<Self> {
        let gate = Arc::new(Gate::default());
        let inside = Arc::clone(&gate);
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || inside.read(&out))?;
        Ok(Self(gate))
    }

    /// Returns when the thread reads no more: what follows has the keys for itself.
    pub fn rest(&self) {
        let mut stance = self.0.stance.lock().unwrap_or_else(PoisonError::into_inner);
        if *stance == Stance::Reads {
            *stance = Stance::AskedToRest;
        }
        while *stance == Stance::AskedToRest {
            stance = self.0.moved.wait(stance).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// It reads again.
    pub fn go_on(&self) {
        self.0.to(Stance::Reads);
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.to(Stance::Ends);
    }
}

impl Gate {
    fn to(&self, next: Stance) {
        let mut stance = self.stance.lock().unwrap_or_else(PoisonError::into_inner);
        if *stance != Stance::Ends {
            *stance = next;
        }
        self.moved.notify_all();
    }

    /// False when it is over.
    fn may_read(&self) -> bool {
        let mut stance = self.stance.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *stance {
                Stance::Reads => return true,
                Stance::Ends => return false,
                Stance::AskedToRest => {
                    *stance = Stance::Rests;
                    self.moved.notify_all();
                }
                Stance::Rests => stance = self.moved.wait(stance).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn read(&self, out: &Sender<Input>) {
        while self.may_read() {
            let input = match crossterm::event::poll(READER_PACE) {
                Ok(false) => continue,
                Ok(true) => crossterm::event::read().map_or(Some(Input::Gone), input),
                Err(_) => Some(Input::Gone),
            };
            let Some(input) = input else { continue };
            let is_last = input == Input::Gone;
            if out.blocking_send(input).is_err() || is_last {
                break;
            }
        }
        // Whoever waits for a rest has it now.
        self.to(Stance::Ends);
    }
}

/// What an event of the terminal means; nothing when it means nothing here.
fn input(event: Event) -> Option<Input> {
    match event {
        Event::Key(key) => self::key(key).map(Input::Key),
        Event::Paste(text) => Some(Input::Paste(text)),
        Event::Resize(..) => Some(Input::Resized),
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => Some(Input::Click { x: mouse.column, y: mouse.row }),
            MouseEventKind::ScrollUp => Some(Input::WheelUp),
            MouseEventKind::ScrollDown => Some(Input::WheelDown),
            _ => None,
        },
        Event::FocusGained | Event::FocusLost => None,
    }
}

fn key(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let with_control = event.modifiers.contains(KeyModifiers::CONTROL);
    Some(match event.code {
        KeyCode::Char(c) if with_control => Key::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(c) if !event.modifiers.contains(KeyModifiers::ALT) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}

/// As OSC 52 wants it.
fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart_and_a_release_is_none() {
        let plain = |code| KeyEvent::new(code, KeyModifiers::NONE);
        assert_eq!(key(plain(KeyCode::Char('G'))), Some(Key::Char('G')));
        assert_eq!(key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Some(Key::Ctrl('c')));
        assert_eq!(key(KeyEvent::new(KeyCode::Char('x'), KeyModifiers::ALT)), None);
        let released = KeyEvent::new_with_kind(KeyCode::Enter, KeyModifiers::NONE, KeyEventKind::Release);
        assert_eq!(key(released), None);
        assert_eq!(key(plain(KeyCode::F(1))), None);
    }

    #[test]
    fn a_frame_is_kept_until_it_is_whole() {
        let mut out = OneWrite::default();
        out.write_all(b"half").expect("it works");
        out.write_all(b" and half").expect("it works");
        let kept = String::from_utf8(out.0.clone()).expect("text");
        assert!(kept.starts_with("\u{1b}[?2026h") && kept.ends_with("half and half"), "{kept:?}");
    }

    #[test]
    fn a_reader_that_is_to_rest_says_when_it_does() {
        let gate = Arc::new(Gate::default());
        let reader = Reader(Arc::clone(&gate));
        let (say, said) = std::sync::mpsc::channel();
        let inside = Arc::clone(&gate);
        let thread = std::thread::spawn(move || {
            while inside.may_read() {
                say.send(()).expect("heard");
                std::thread::yield_now();
            }
        });
        said.recv().expect("it reads");
        reader.rest();
        assert_eq!(*gate.stance.lock().expect("not poisoned"), Stance::Rests);
        while said.try_recv().is_ok() {}
        assert!(said.try_recv().is_err());
        reader.go_on();
        said.recv().expect("it reads again");
        drop(reader);
        thread.join().expect("it ends");
    }
}
