//! What stands between quotes. Knows nothing of the tokens around it.

use super::{Scanner, Token, is_newline, is_space};
use crate::statement::Denied;

/// What a string makes of quotes and backslashes within.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// A doubled quote stands for one; a backslash is a character like any other.
    Plain,
    /// As plain, and a backslash takes the next character with it, a quote too.
    Escapes,
    /// Bits: the next quote ends it.
    Bits,
}

impl Scanner<'_> {
    /// `'...'`; the opening quote is next.
    pub(super) fn string(&mut self) -> Result<Token, Denied> {
        self.quoted_string(Mode::Plain)
    }

    /// `B'...'` or `X'...'`; the opening quote is next.
    pub(super) fn bit_string(&mut self) -> Result<Token, Denied> {
        self.quoted_string(Mode::Bits)
    }

    /// `E'...'`; the opening quote is next.
    pub(super) fn escape_string(&mut self) -> Result<Token, Denied> {
        self.quoted_string(Mode::Escapes)
    }

    fn quoted_string(&mut self, mode: Mode) -> Result<Token, Denied> {
        loop {
            self.at += 1;
            self.skip_segment(mode)?;
            if !self.continues_string() {
                return Ok(Token::Literal);
            }
        }
    }

    /// To behind the closing quote.
    fn skip_segment(&mut self, mode: Mode) -> Result<(), Denied> {
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b'\''), Some(b'\'')) if mode != Mode::Bits => self.at += 2,
                (Some(b'\''), _) => {
                    self.at += 1;
                    return Ok(());
                }
                (Some(b'\\'), Some(_)) if mode == Mode::Escapes => self.at += 2,
                (Some(_), _) => self.at += 1,
                (None, _) => return Err(Denied::Unterminated("a string")),
            }
        }
    }

    /// A string goes on, in the same mode, when only white space and `--` comments with at
    /// least one line end stand before another quote. Missing this for `E'...'` would let a
    /// backslash in the second part hide code.
    fn continues_string(&mut self) -> bool {
        let end = self.at;
        let mut lines = false;
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b), _) if is_space(b) => {
                    lines |= is_newline(b);
                    self.at += 1;
                }
                (Some(b'-'), Some(b'-')) => self.skip_line_comment(),
                (Some(b'\''), _) if lines => return true,
                _ => {
                    self.at = end;
                    return false;
                }
            }
        }
    }

    /// `"..."`; the opening quote is next.
    pub(super) fn quoted_identifier(&mut self) -> Result<Token, Denied> {
        self.at += 1;
        let start = self.at;
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b'"'), Some(b'"')) => self.at += 2,
                (Some(b'"'), _) => {
                    let name = self.text[start..self.at].replace("\"\"", "\"");
                    self.at += 1;
                    return Ok(Token::Quoted(name));
                }
                (Some(_), _) => self.at += 1,
                (None, _) => return Err(Denied::Unterminated("a quoted identifier")),
            }
        }
    }
}
